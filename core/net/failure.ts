import { Fault, type FaultCode, type Scope } from '../model/index.ts';
import { formatUrl } from './format-url.ts';

/** The target of a request, for the messages of its faults. */
export interface RequestContext {
  readonly url: URL;
  readonly scope: Scope;
}

/** The error codes of node and undici, with the fault that each becomes. */
const CODES: readonly (readonly [pattern: RegExp, code: FaultCode, what: string])[] = [
  [/^ECONNREFUSED$/, 'refused', 'connection refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/, 'refused', 'host not reachable'],
  [/^(ENOTFOUND|EAI_.*|EDESTRUCTION|ENODATA|ESERVFAIL)$/, 'dns', 'the host name did not resolve'],
  [/^(ETIMEDOUT|UND_ERR_.*_TIMEOUT)$/, 'timeout', 'no connection in time'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/, 'broken', 'the connection broke off'],
  [/^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/, 'broken', 'the answer broke off'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'broken', 'the header of the answer is too long'],
  [/^(HPE_.*|HTTPParserError)$/, 'broken', 'the answer is not HTTP'],
  [/^UND_ERR_(DESTROYED|CLOSED)$/, 'broken', 'the client was closed'],
  [
    /^(ERR_TLS_.*|ERR_SSL_.*|CERT_.*|UNABLE_TO_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|EPROTO|HOSTNAME_MISMATCH)$/,
    'tls',
    'no trusted connection',
  ],
];

/** Converts any failure below HTTP to a Fault, because a watcher never ends over one (Kijito contract D1). */
export function toNetworkFault(error: unknown, about: RequestContext): Fault {
  if (error instanceof Fault) return error;
  const failure = findCodes(error).flatMap((code) => {
    const row = CODES.find(([pattern]) => pattern.test(code));
    return row === undefined ? [] : [{ code, fault: row[1], what: row[2] }];
  })[0];
  const url = formatUrl(about.url);
  if (failure !== undefined) {
    return new Fault(failure.fault, `${url}: ${failure.what} (${failure.code})`, about.scope, { cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new Fault('broken', `${url}: ${text}`, about.scope, { cause: error });
}

/** Returns the codes (or names) of an error: its own first, then those of its combined attempts and of its cause. */
function findCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const attempts = error instanceof AggregateError ? error.errors.flatMap(findCodes) : [];
  return [own, ...attempts, ...findCodes(error.cause)];
}

/** Returns null for a 2xx answer with a body, else the fault for the status (Kijito contract a, health rule). */
export function toStatusFault(status: number, location: string | null, about: RequestContext): Fault | null {
  const url = formatUrl(about.url);
  const createFault = (code: FaultCode, problem: string): Fault => new Fault(code, `${url}: ${problem}`, about.scope);
  if (status === 204 || status === 205) return createFault('status', `answered ${status}, which has no content`);
  if (status >= 200 && status < 300) return null;
  if (status === 304) return createFault('status', 'answered 304 (not modified) to a request without a condition');
  if (status >= 300 && status < 400)
    return createFault('redirect', `redirects (${status})${formatLocation(location, about.url)}`);
  if (status === 401) return createFault('unauthorized', 'answered 401 (unauthorized)');
  if (status === 403) return createFault('unauthorized', 'answered 403 (forbidden)');
  if (status === 404) return createFault('not-found', 'answered 404 (not found)');
  return createFault('status', `answered ${status}`);
}

function formatLocation(location: string | null, from: URL): string {
  const to = location === null ? null : URL.parse(location, from.href);
  return to === null ? '' : ` to ${formatUrl(to).slice(0, 200)}`;
}
