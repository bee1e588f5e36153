import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import { Fault } from '../../model/index.ts';
import { type Admission, admit, LOCAL_ADDRESSES, type NatsTarget } from '../../net/index.ts';
import { RELAY, toRelayFault } from './faults.ts';

export interface DialOptions {
  readonly server: NatsTarget;
  /** Read with each connection, so that a new one counts at once; null: the server asks for none. @throws Fault */
  readonly token: () => string | null;
  /** For a name look-up, a connection, and each question. Default 5000. */
  readonly deadlineMs?: number;
  /** Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

/** Makes connections to one server, each to addresses that were checked in the same breath. */
export interface Dialer {
  readonly display: string;
  readonly deadlineMs: number;
  /** Where the name leads now. @throws Fault `dns`, `blocked`, `timeout` */
  addresses(): Promise<readonly string[]>;
  /** @throws Fault */
  connect(): Promise<NatsConnection>;
}

const DEADLINE_MS = 5000;
/** Sooner than the server would miss us: a connection nobody answers on is over after three of these. */
const PING_MS = 10_000;

export function createDialer({
  server,
  token,
  deadlineMs = DEADLINE_MS,
  resolve = resolveBySystem,
}: DialOptions): Dialer {
  const { target, port, tls, display } = server;
  /** What a name may resolve to: as with a hive, the class it first answered from. */
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
    // Loaded with the first connection: without a server in the settings nobody carries the client.
    const { connect } = await import('@nats-io/transport-node');
    const options: ConnectionOptions = {
      servers: [isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`],
      name: 'hivebar',
      timeout: deadlineMs,
      pingInterval: PING_MS,
      maxPingOut: 2,
      // The loop of the relay connects anew: with the token and the addresses of then, through the same checks.
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

/** The certificate must be for the host as written: the address behind it is ours to look up. */
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
