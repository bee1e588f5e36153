import { lookup as resolveByHost } from 'node:dns/promises';
import type { ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { isIPv6, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector, Pool as UndiciPool } from 'undici';
import { Fault, type Scope } from '../model/index.ts';
import { startTimer } from '../ports/index.ts';
import { type Credentials, createFixedCredentials, type Header } from './credentials.node.ts';
import { formatUrl, HttpExchange, type HttpResponse, toNetworkFault } from './exchange.ts';
import {
  type AddressPolicy,
  type Admission,
  admit,
  type HttpTarget,
  LOCAL_ADDRESSES,
  parseProxy,
  parseTarget,
} from './policy.ts';

/** Returns all addresses of a host name, in the order to try them. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface HttpOptions {
  /** Any URL of the target. Every request goes to its scheme, host and port. */
  readonly url: string;
  readonly policy: AddressPolicy;
  /** The scope of every fault. */
  readonly scope: Scope;
  /** The `User-Agent` header. It must name a program, because the hosted service refuses library defaults (Kijito contract a). */
  readonly userAgent: string;
  /** Sent with every request; null: none. When credentials that may change are refused, they are asked for a new header. */
  readonly credential: Header | Credentials | null;
  /**
   * The proxy of every request. Then its name is resolved here, not that of the target. Default: none; the environment
   * is ignored.
   */
  readonly proxy?: string;
  /** The limit for one whole request, from the name look-up to the last byte, in milliseconds. Default 5000. */
  readonly deadlineMs?: number;
  /** The limit for the body, in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Default: the resolver of the system. */
  readonly resolve?: Resolve;
  /** Statuses that are an answer beside those of 2xx, and no fault. Default: none. */
  readonly accepts?: readonly number[];
}

/** Makes requests to one target. Closing the client ends its connections and requests at once. */
export interface HttpClient extends AsyncDisposable {
  /**
   * @param path path and query of the target
   * @throws Fault for everything but a whole 2xx or accepted answer, and for missing credentials; `signal.reason` as soon as the
   * signal aborts
   */
  get(path: string, signal: AbortSignal, options?: { readonly deadlineMs?: number }): Promise<HttpResponse>;
  /**
   * Posts JSON once. It is never sent again, not even with a new token.
   * @throws as `get` does. After `timeout` and `broken` nobody knows whether it arrived
   */
  post(
    path: string,
    body: object,
    signal: AbortSignal,
    options?: { readonly headers?: PostedHeaders },
  ): Promise<HttpResponse>;
  /**
   * Drops every connection and look-up. Requests under way fail with `broken`; later ones connect again. Use it after
   * the machine slept, when a connection may be dead without notice.
   */
  reset(): void;
}

type PostedHeaders = Readonly<Record<string, string>>;

interface PostedBody {
  readonly headers: PostedHeaders;
  readonly body: string;
}

const require = createRequire(import.meta.url);

/** Loaded with the first client, so that a process with only the local hive does not carry these 10 MiB. */
function loadUndici(): { readonly Pool: typeof UndiciPool; readonly buildConnector: typeof buildConnector } {
  return require('./undici-pool.cjs');
}

const DEADLINE_MS = 5000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Milliseconds that one of several addresses may take before the next is tried. */
const ATTEMPT_MS = 1000;

/**
 * Creates a client of one target. Each connection uses the addresses that were just checked, so nothing can change
 * between check and use. Redirects are never followed, and proxy variables of the environment are not read (Kijito
 * contract f, D7, D11, D24). A lost connection is made again after a new look-up.
 * @throws Fault `bad-url`, `blocked` or `usage` for anything that is known to be wrong without a request
 */
export function createHttpClient(options: HttpOptions): HttpClient {
  const target = parseTarget(options.url, options.policy, options.scope);
  const { deadlineMs = DEADLINE_MS, maxBytes = MAX_BYTES, scope, userAgent, credential, accepts = [] } = options;
  const credentials = toCredentials(credential);
  const common = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'identity' };
  // The number of connections is not limited, because callers limit their requests. A request that waits behind hanging
  // connections would fail with them.
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
  /** Pools that are still closing their connections. */
  const dropped = new Set<Promise<void>>();
  const close = (): Promise<void> => {
    const closing = pool.destroy();
    through?.drop();
    return closing;
  };

  function ask(
    path: string,
    header: Header | null,
    withinMs: number,
    signal: AbortSignal,
    posted: PostedBody | null = null,
  ): Promise<HttpResponse> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const url = new URL(path, target.url.origin);
    const cleanUp = (): void => {
      late[Symbol.dispose]();
      signal.removeEventListener('abort', stop);
    };
    const exchange = new HttpExchange({ url, scope, accepts }, maxBytes, cleanUp, names.answered);
    const stop = (): void => exchange.cut(signal.reason);
    const late = startTimer(withinMs, () =>
      exchange.cut(new Fault('timeout', `${formatUrl(url)}: no complete answer within ${withinMs} ms`, scope)),
    );
    signal.addEventListener('abort', stop, { once: true });
    const own = header === null ? common : { ...common, [header.name]: header.value };
    const request =
      posted === null
        ? ({ method: 'GET', headers: own } as const)
        : ({ method: 'POST', headers: { ...own, ...posted.headers }, body: posted.body } as const);
    try {
      pool.dispatch({ path: url.pathname + url.search, ...request }, exchange);
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
    async post(path, body, signal, { headers = {} } = {}) {
      const posted = { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
      try {
        return await ask(path, credentials.header(), deadlineMs, signal, posted);
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

/** Names the refused token, so that a person knows which file to check. */
function withToken(fault: Fault, { about }: Credentials): Fault {
  return new Fault(fault.code, `${fault.message} to ${about}`, fault.scope, { cause: fault });
}

interface GuardedLookup {
  readonly lookup: LookupFunction;
  /** A whole answer arrived, so from now on the target is limited to the address class that answered. */
  answered(): void;
  /** New requests do not wait for the resolution under way. An address class that has answered stays. */
  forget(): void;
}

/**
 * The look-up of every connection by name: it resolves the name, checks all addresses and allows no other. Requests at
 * the same moment share one resolution. (`parseTarget` has already checked literals.) An address class is fixed only
 * after it has answered. A hotel network returns its own address for every name until the login, and would otherwise
 * block the real one for the life of the process.
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

interface TunnelOptions {
  /** The final target of the requests. Plain http is tunnelled too, so that no proxy gets a request and its token. */
  readonly target: HttpTarget;
  readonly proxy: HttpTarget;
  readonly scope: Scope;
  readonly userAgent: string;
  /** The look-up of the proxy's own name. */
  readonly lookup: LookupFunction;
  /** Starts TLS in an open tunnel. */
  readonly secure: buildConnector.connector;
  /** The limit for connecting and CONNECT together, in milliseconds. */
  readonly timeoutMs: number;
  readonly attemptMs: number;
}

/** Connections through a proxy: a connector for undici, and a way to drop connections that are being opened. */
interface Tunnels {
  readonly connect: buildConnector.connector;
  drop(): void;
}

/**
 * Opens each connection with CONNECT. undici's own ProxyAgent is not used: it sends plain http to the proxy as a
 * request with the token, does not limit the answer to CONNECT, and loads two more dispatchers and a SOCKS client.
 */
function createTunnels(options: TunnelOptions): Tunnels {
  const { target, proxy, scope, secure, timeoutMs } = options;
  const { url } = target;
  const authority = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const through = `the proxy ${formatUrl(proxy.url)}`;
  const underWay = new Set<ClientRequest>();

  function open(done: (socket: Socket | Fault) => void): void {
    // Loaded only when there is a proxy, because most users have none.
    const { request: ask } = process.getBuiltinModule(proxy.url.protocol === 'https:' ? 'node:https' : 'node:http');
    const requestOptions = {
      method: 'CONNECT',
      host: proxy.url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: proxy.url.port || (proxy.url.protocol === 'https:' ? 443 : 80),
      path: authority,
      headers: { host: authority, 'user-agent': options.userAgent },
      agent: false, // the global agent may read proxy variables
      lookup: options.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: options.attemptMs,
    } as const;
    const request = ask(requestOptions);
    const late = startTimer(timeoutMs, () => {
      request.destroy(
        new Fault('timeout', `${through} opened no tunnel to ${authority} within ${timeoutMs} ms`, scope),
      );
    });
    const finish = (socket: Socket | Fault): void => {
      if (!underWay.delete(request)) return;
      late[Symbol.dispose]();
      done(socket);
    };
    underWay.add(request);
    request.on('error', (error) => finish(toProxyFault(error)));
    request.on('connect', ({ statusCode = 0 }, socket, head) => {
      const isOpen = statusCode >= 200 && statusCode < 300;
      if (!isOpen || !underWay.has(request))
        socket.on('error', () => {}).destroy(); // nobody waits for it
      else if (head.length > 0) socket.unshift(head);
      finish(isOpen ? (socket as Socket) : toRefusedFault(statusCode));
    });
    request.end();
  }

  function toProxyFault(error: Error): Fault {
    if (error instanceof Fault) return error;
    const { code, message } = toNetworkFault(error, { url: proxy.url, scope });
    return new Fault(code, `proxy ${message}`, scope, { cause: error });
  }

  function toRefusedFault(status: number): Fault {
    const why = status === 407 ? ' (it asks for a password, which cannot be given here)' : '';
    return new Fault('status', `${through} answered ${status}${why} to CONNECT ${authority}`, scope);
  }

  return {
    connect(connectOptions, callback) {
      open((socket) => {
        if (socket instanceof Fault) callback(socket, null);
        else if (connectOptions.protocol === 'https:') secure({ ...connectOptions, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    },
    drop() {
      for (const request of underWay) request.destroy(new Fault('broken', `${through}: the client was closed`, scope));
    },
  };
}
