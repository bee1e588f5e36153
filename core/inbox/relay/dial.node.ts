import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { Fault } from '../../model/index.ts';
import { type Admission, admit, LOCAL_ADDRESSES, type NatsTarget } from '../../net/index.ts';
import { RELAY, toRelayFault } from './faults.ts';

export interface DialOptions {
  readonly server: NatsTarget;
  /** Called for each connection, so that a new token counts at once; null: the server needs none. @throws Fault */
  readonly token: () => string | null;
  /** Limit for a name lookup, a connection, and each request, in milliseconds. Default 5000. */
  readonly deadlineMs?: number;
  /** Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

/** Connects to one server, each time only to addresses that were just checked. */
export interface Dialer {
  readonly display: string;
  readonly deadlineMs: number;
  /** The addresses of the name now. @throws Fault `dns`, `blocked`, `timeout` */
  addresses(): Promise<readonly string[]>;
  /** @throws Fault */
  connect(): Promise<NatsConnection>;
}

const DEADLINE_MS = 5000;
/** More often than the server's own ping. With `maxPingOut`, a connection without answers ends after three intervals. */
const PING_MS = 10_000;

export function createDialer({
  server,
  token,
  deadlineMs = DEADLINE_MS,
  resolve = resolveBySystem,
}: DialOptions): Dialer {
  const { target, port, tls, display } = server;
  /** Which addresses a name may resolve to: as with a hive, the class of its first answer. */
  let admission: Admission = target.admission;
  let admitted: Admission = admission;

  async function addresses(): Promise<readonly string[]> {
    const { host, url } = target;
    try {
      const resolved =
        host.is === 'literal'
          ? [host.address]
          : host.is === 'local'
            ? LOCAL_ADDRESSES
            : await limitTime(resolve(host.name), deadlineMs);
      admitted = admit(admission, url.hostname, resolved, RELAY);
      return resolved;
    } catch (error) {
      throw toRelayFault(error, display, 'its name');
    }
  }

  async function connectTo(address: string, secret: string | null): Promise<NatsConnection> {
    // Loaded with the first connection, so that the client is not loaded without a server in the settings.
    const { connect } = await import('@nats-io/transport-node');
    const options: ConnectionOptions = {
      servers: [isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`],
      name: 'hivebar',
      timeout: deadlineMs,
      pingInterval: PING_MS,
      maxPingOut: 2,
      // The relay's own loop reconnects: with the current token and addresses, through the same checks.
      reconnect: false,
      resolve: false,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
      tls: tls ? toTlsOptions(target.url.hostname) : null,
      ...(secret === null ? {} : { token: secret }),
    };
    return await connect(options);
  }

  return {
    display,
    deadlineMs,
    addresses,
    async connect() {
      const resolved = await addresses();
      const secret = token();
      let first: unknown;
      for (const address of resolved.slice(0, 4)) {
        try {
          const connection = await connectTo(address, secret);
          admission = admitted;
          return connection;
        } catch (error) {
          first ??= error;
        }
      }
      throw toRelayFault(first, display, 'connecting');
    },
  };
}

/** The certificate must be for the host as written, because we look up the address ourselves. */
function toTlsOptions(servername: string): NonNullable<ConnectionOptions['tls']> {
  return { servername } as NonNullable<ConnectionOptions['tls']>;
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const records = await lookup(name, { all: true, order: 'verbatim' });
  return records.map(({ address }) => address);
}

function limitTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Fault('timeout', `no address within ${ms} ms`, RELAY)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
