import { Fault, type Scope } from '../model/index.ts';
import { AS_WRITTEN, type HttpTarget, parseTarget } from './policy.ts';

/** A checked address of a NATS server. It is limited to the address class as written, like a hive. */
export interface NatsTarget {
  readonly target: HttpTarget;
  readonly port: number;
  /** True: only with a trusted certificate for the host. */
  readonly tls: boolean;
  /** The address as messages may show it. */
  readonly display: string;
}

const PORT = 4222;

/**
 * Checks `nats://HOST[:PORT]` or, with TLS, `tls://HOST[:PORT]`, without a look-up.
 * @throws Fault `bad-nats-url` for anything else, including a user name or token; `blocked` for an address no server
 * has
 */
export function parseNatsTarget(text: string, scope: Scope): NatsTarget {
  const match = /^(nats|tls):\/\/([^/?#\s]+)\/?$/.exec(text);
  if (match === null)
    throw new Fault('bad-nats-url', `${formatQuoted(text)} is not nats://HOST:PORT or tls://HOST:PORT`, scope);
  const [, scheme = '', place = ''] = match;
  if (place.includes('@')) {
    throw new Fault(
      'bad-nats-url',
      'the URL of a NATS server contains a user name or token: put it into a file',
      scope,
    );
  }
  const tls = scheme === 'tls';
  const portText = /:(\d{1,5})$/.exec(place)?.[1];
  // Always with a port, because the URL parser drops the default port of its scheme.
  const target = parseHost(`http://${portText === undefined ? `${place}:${PORT}` : place}`, text, scope);
  const port = portText === undefined ? PORT : Number(portText);
  return { target, port, tls, display: `${scheme}://${target.url.hostname}:${port}` };
}

/** Applies the host rules of a hive. Only the fault names this kind of URL. */
function parseHost(url: string, text: string, scope: Scope): NatsTarget['target'] {
  try {
    return parseTarget(url, AS_WRITTEN, scope);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'bad-url') throw error;
    throw new Fault('bad-nats-url', `${formatQuoted(text)} is not nats://HOST:PORT or tls://HOST:PORT`, scope, {
      cause: error,
    });
  }
}

function formatQuoted(text: string): string {
  // The text before an @ may be a secret.
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//***@').slice(0, 200));
}
