import { Fault, type FaultCode, type Scope } from '../model/index.ts';
import { shownUrl } from './shown-url.ts';

/** Where a request was going, for the messages of its faults. */
export interface About {
  readonly url: URL;
  readonly scope: Scope;
}

/** Codes of node and undici, by what they mean to a watcher. */
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

/** Any failure below HTTP as a Fault: a watcher never ends over one (Kijito contract D1). */
export function faultOfFailure(error: unknown, about: About): Fault {
  if (error instanceof Fault) return error;
  const found = causes(error).flatMap((code) => {
    const row = CODES.find(([pattern]) => pattern.test(code));
    return row === undefined ? [] : [{ code, fault: row[1], what: row[2] }];
  })[0];
  const url = shownUrl(about.url);
  if (found !== undefined) {
    return new Fault(found.fault, `${url}: ${found.what} (${found.code})`, about.scope, { cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new Fault('broken', `${url}: ${text}`, about.scope, { cause: error });
}

/** The codes (else names) an error carries, its own first, then those of the attempts it sums up and of its cause. */
function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const attempts = error instanceof AggregateError ? error.errors.flatMap(causes) : [];
  return [own, ...attempts, ...causes(error.cause)];
}

/** Null for a 2xx answer with a body; else what the status means (Kijito contract a, health rule). */
export function faultOfStatus(status: number, location: string | null, about: About): Fault | null {
  const url = shownUrl(about.url);
  const fault = (code: FaultCode, what: string): Fault => new Fault(code, `${url}: ${what}`, about.scope);
  if (status === 204 || status === 205) return fault('status', `answered ${status}, which has no content`);
  if (status >= 200 && status < 300) return null;
  if (status === 304) return fault('status', 'answered 304 (not modified) to a request without a condition');
  if (status >= 300 && status < 400) return fault('redirect', `redirects (${status})${placeOf(location, about.url)}`);
  if (status === 401) return fault('unauthorized', 'answered 401 (unauthorized)');
  if (status === 403) return fault('unauthorized', 'answered 403 (forbidden)');
  if (status === 404) return fault('not-found', 'answered 404 (not found)');
  return fault('status', `answered ${status}`);
}

function placeOf(location: string | null, from: URL): string {
  const to = location === null ? null : URL.parse(location, from.href);
  return to === null ? '' : ` to ${shownUrl(to).slice(0, 200)}`;
}
