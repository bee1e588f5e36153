import { Fault, type FaultCode, type Scope } from '../../model/index.ts';

/** The scope of every failure of the server: one cause on the board, one banner. */
export const RELAY = { is: 'source', key: 'nats' } as const satisfies Scope;

/** Uses the name of the error, because its package is loaded late. */
const BY_NAME: Readonly<Record<string, readonly [FaultCode, string]>> = {
  AuthorizationError: ['relay-token', 'the server refused the token'],
  UserAuthenticationExpiredError: ['relay-token', 'the token has expired'],
  PermissionViolationError: ['relay-token', 'the token does not allow it'],
  TimeoutError: ['timeout', 'no answer in time'],
  JetStreamNotEnabled: ['relay-server', 'JetStream is not enabled there'],
  NoRespondersError: ['relay-stream', 'no stream takes it'],
  StreamNotFoundError: ['relay-stream', 'the stream is gone'],
  ConsumerNotFoundError: ['broken', 'the consumer is gone'],
  ClosedConnectionError: ['broken', 'the connection was closed'],
  DrainingConnectionError: ['broken', 'the connection was closed'],
};

const BY_CODE: readonly (readonly [pattern: RegExp, code: FaultCode, what: string])[] = [
  [/^ECONNREFUSED$/, 'refused', 'connection refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/, 'refused', 'host not reachable'],
  [/^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/, 'dns', 'the host name did not resolve'],
  [/^ETIMEDOUT$/, 'timeout', 'no connection in time'],
  [
    /^(ERR_TLS_.*|ERR_SSL_.*|CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|EPROTO)$/,
    'tls',
    'no trusted connection',
  ],
];

/** Turns whatever the client threw into a Fault that names the server and the attempted action. */
export function toRelayFault(error: unknown, display: string, doing: string): Fault {
  if (error instanceof Fault) return error;
  const fault = (code: FaultCode, problem: string): Fault =>
    new Fault(code, `${display}: ${doing}: ${problem}`, RELAY, { cause: error });
  const chain = listCauses(error);
  for (const { name, message } of chain) {
    const row = BY_NAME[name];
    if (row !== undefined) return fault(row[0], name === 'PermissionViolationError' ? message : row[1]);
  }
  for (const { code } of chain) {
    const row = BY_CODE.find(([pattern]) => pattern.test(code));
    if (row !== undefined) return fault(row[1], `${row[2]} (${code})`);
  }
  const text = error instanceof Error ? error.message : error === undefined ? 'it ended' : String(error);
  // The second text is what the current client says if a server requires TLS and the URL does not.
  if (/'tls'|'certFile'/.test(text))
    return fault('tls', 'the server and the URL do not agree on TLS: tls:// with it, nats:// without');
  if (chain.some(({ name }) => name === 'JetStreamApiError')) return fault('relay-stream', text);
  return fault('broken', text.slice(0, 200));
}

function listCauses(error: unknown): readonly { name: string; message: string; code: string }[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error ? String(error.code) : '';
  return [{ name: error.name, message: error.message, code }, ...listCauses(error.cause)];
}
