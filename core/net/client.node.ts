import { lookup as resolveByHost } from 'node:dns/promises';
import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import type BuildConnector from 'undici/lib/core/connect.js';
import type UndiciPool from 'undici/lib/dispatcher/pool.js';
import { Fault, type Scope } from '../model/index.ts';
import { startTimer } from '../ports/index.ts';
import { type Credentials, createFixedCredentials, type Header } from './credentials.ts';
import { HttpExchange, type HttpResponse } from './exchange.ts';
import { formatUrl } from './format-url.ts';
import {
  type AddressPolicy,
  type Admission,
  admit,
  type HttpTarget,
  LOCAL_ADDRESSES,
  parseProxy,
  parseTarget,
} from './policy.ts';
import { createTunnels } from './tunnel.node.ts';

/** All addresses of a host name, in the order they should be tried. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface HttpOptions {
  /** Any URL of the target; its scheme, host and port are where every request goes. */
  readonly url: string;
  readonly policy: AddressPolicy;
  /** What a failure is about. */
  readonly scope: Scope;
  /** A named agent: the hosted service refuses library defaults (Kijito contract a). */
  readonly userAgent: string;
  /** Sent with every request; null for none. One that may change is asked for another when it is refused. */
  readonly credential: Header | Credentials | null;
  /** Every request goes through this one, and its name, not the target's, is resolved here. Default: none, whatever the environment says. */
  readonly proxy?: string;
  /** For one whole request, from name look-up to the last byte. Default 5000. */
  readonly deadlineMs?: number;
  /** Default 16 MiB. */
  readonly maxBytes?: number;
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve;
}

/** GET requests to one target. Closing it ends its connections, and requests under way, at once. */
export interface HttpClient extends AsyncDisposable {
  /**
   * @param path path and query of the target
   * @throws Fault for everything that is not a whole 2xx answer, and for credentials that are not there; `signal.reason`
   *   as soon as the signal aborts
   */
  get(path: string, signal: AbortSignal, options?: { readonly deadlineMs?: number }): Promise<HttpResponse>;
  /**
   * Drops every connection and look-up; requests under way fail with `broken`, later ones connect anew. For when the
   * machine slept: a connection may be dead without anybody having said so.
   */
  reset(): void;
}

const require = createRequire(import.meta.url);

/** Loaded with the first client: a process that watches only its own hive does not carry these 10 MiB. */
function loadUndici(): { readonly Pool: typeof UndiciPool; readonly buildConnector: typeof BuildConnector } {
  return {
    Pool: require('undici/lib/dispatcher/pool.js'),
    buildConnector: require('undici/lib/core/connect.js'),
  };
}

const DEADLINE_MS = 5000;
const MAX_BYTES = 16 * 1024 * 1024;
/** How long one of several addresses may take before the next is tried. */
const ATTEMPT_MS = 1000;

/**
 * A client of one target. Each connection goes to addresses checked in the same breath, so nothing can change between
 * check and use; redirects are never followed, and proxy variables of the environment are not read (Kijito contract f,
 * D7, D11, D24). A connection that is lost is made anew from a new look-up.
 * @throws Fault `bad-url`, `blocked` or `usage` for what is known to be wrong without asking anybody
 */
export function createHttpClient(options: HttpOptions): HttpClient {
  const target = parseTarget(options.url, options.policy, options.scope);
  const { deadlineMs = DEADLINE_MS, maxBytes = MAX_BYTES, scope, userAgent, credential } = options;
  const credentials = toCredentials(credential);
  const common = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'identity' };
  // Not limited in number: who asks limits how much it asks at once, and a request that waits for a connection behind
  // hanging ones would fail with them.
  const { Pool, buildConnector } = loadUndici();
  const proxy = options.proxy === undefined ? null : parseProxy(options.proxy, target, scope);
  const names = createGuardedLookup(proxy ?? target, scope, options.resolve ?? resolveBySystem);
  const direct = buildConnector({
    lookup: names.lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    timeout: deadlineMs,
    allowH2: false,
  });
  const through =
    proxy === null
      ? null
      : createTunnels({
          ...{ target, proxy, scope, userAgent, lookup: names.lookup },
          ...{ secure: direct, timeoutMs: deadlineMs, attemptMs: ATTEMPT_MS },
        });
  const open = () =>
    new Pool(target.url.origin, {
      connect: through?.connect ?? direct,
      headersTimeout: 0, // the deadline of the exchange covers both, and more
      bodyTimeout: 0,
      allowH2: false,
    });
  let pool = open();
  /** Until their connections are closed. */
  const dropped = new Set<Promise<void>>();
  const close = (): Promise<void> => {
    const closing = pool.destroy();
    through?.drop();
    return closing;
  };

  function ask(path: string, header: Header | null, withinMs: number, signal: AbortSignal): Promise<HttpResponse> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const url = new URL(path, target.url.origin);
    const cleanUp = (): void => {
      late[Symbol.dispose]();
      signal.removeEventListener('abort', stop);
    };
    const exchange = new HttpExchange({ url, scope }, maxBytes, cleanUp, names.answered);
    const stop = (): void => exchange.cut(signal.reason);
    const late = startTimer(withinMs, () =>
      exchange.cut(new Fault('timeout', `${formatUrl(url)}: no whole answer within ${withinMs} ms`, scope)),
    );
    signal.addEventListener('abort', stop, { once: true });
    const headers = header === null ? common : { ...common, [header.name]: header.value };
    try {
      pool.dispatch({ path: url.pathname + url.search, method: 'GET', headers }, exchange);
    } catch (error) {
      exchange.cut(error);
    }
    return exchange.answer;
  }

  return {
    async get(path, signal, own = {}) {
      const within = own.deadlineMs ?? deadlineMs;
      const start = performance.now();
      const header = credentials.header();
      try {
        return await ask(path, header, within, signal);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (!credentials.refresh(header)) throw withToken(error, credentials);
      }
      try {
        return await ask(path, credentials.header(), Math.max(1, within - (performance.now() - start)), signal);
      } catch (error) {
        throw isRefusal(error) ? withToken(error, credentials) : error;
      }
    },
    reset() {
      const closing = close().finally(() => dropped.delete(closing));
      dropped.add(closing);
      names.forget();
      pool = open();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([close(), ...dropped]);
    },
  };
}

function toCredentials(credential: Header | Credentials | null): Credentials {
  return credential !== null && 'header' in credential ? credential : createFixedCredentials(credential);
}

function isRefusal(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'unauthorized';
}

/** With the token that was refused, so that a person knows which file to look at. */
function withToken(fault: Fault, { about }: Credentials): Fault {
  return new Fault(fault.code, `${fault.message} to ${about}`, fault.scope, { cause: fault });
}

interface GuardedLookup {
  readonly lookup: LookupFunction;
  /** A whole answer came: from now on the target is held to the class it came from. */
  answered(): void;
  /** Nobody further waits for the resolution under way. What answered once stays the class. */
  forget(): void;
}

/**
 * The look-up of every connection that is made by name: resolve, check all addresses, connect to no other. Requests that
 * ask at the same moment share one resolution. (A literal never comes here: `parseTarget` has checked it.) A class holds
 * only when somebody answered from there: the network of a hotel says an address of its own for every name until one has
 * logged in, and would shut out the real one for as long as the process lives.
 */
function createGuardedLookup(target: HttpTarget, scope: Scope, resolve: Resolve): GuardedLookup {
  let admission: Admission = target.admission;
  let admitted: Admission = admission;
  let underWay: Promise<readonly string[]> | null = null;
  const resolveAddresses = async (name: string): Promise<readonly string[]> => {
    const addresses = target.host.is === 'local' ? LOCAL_ADDRESSES : await resolve(name);
    admitted = admit(admission, name, addresses, scope);
    return addresses;
  };
  return {
    lookup(name, _options, done) {
      if (underWay === null) {
        const resolution = resolveAddresses(name).finally(() => {
          if (underWay === resolution) underWay = null;
        });
        underWay = resolution;
      }
      underWay.then(
        (addresses) =>
          done(
            null,
            addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
          ),
        (error) => done(error, []),
      );
    },
    answered() {
      admission = admitted;
    },
    forget() {
      underWay = null;
    },
  };
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const addresses = await resolveByHost(name, { all: true, order: 'verbatim' });
  return addresses.map(({ address }) => address);
}
