import { Fault, type FaultCode, type Scope } from '../model/index.ts';

/** Header names are in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole answer of 2xx, or of a status that the client accepts. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** The reason given to undici when an exchange has already ended. No other code sees it. */
const CUT = new Error('the exchange has ended');

/** The part of undici's controller that is used here. */
interface UndiciController {
  abort(reason: Error): void;
}

/**
 * One request, from dispatch to its whole answer, as an undici dispatch handler that settles exactly once. The first of
 * answer, failure, deadline and abort wins. A connection that is still busy with the request is then closed.
 */
export class HttpExchange {
  readonly answer: Promise<HttpResponse>;
  readonly #about: RequestContext;
  readonly #maxBytes: number;
  readonly #outcome: { resolve(answer: HttpResponse): void; reject(why: unknown): void };
  readonly #onEnd: () => void;
  readonly #answered: () => void;
  #hasEnded = false;
  #controller: UndiciController | null = null;
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #size = 0;

  /** `onEnd` is called once, just before the answer resolves or rejects; `onAnswered` only for a whole answer. */
  constructor(about: RequestContext, maxBytes: number, onEnd: () => void, onAnswered: () => void) {
    this.#about = about;
    this.#maxBytes = maxBytes;
    this.#onEnd = onEnd;
    this.#answered = onAnswered;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.answer = promise;
    this.#outcome = { resolve, reject };
  }

  /** Rejects the answer with `why` and closes the connection, even one that is not open yet. */
  cut(why: unknown): void {
    if (!this.#begin()) return;
    this.#chunks = [];
    this.#outcome.reject(why);
    this.#controller?.abort(CUT);
  }

  onRequestStart(controller: UndiciController): void {
    this.#controller = controller;
    if (this.#hasEnded) controller.abort(CUT);
  }

  onResponseStart(_controller: UndiciController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const isAccepted = this.#about.accepts?.includes(status) === true;
    const statusFault = isAccepted ? null : toStatusFault(status, getFirstValue(headers.location), this.#about);
    const fault = statusFault ?? this.#faultOfCoding(headers);
    if (fault !== null) this.cut(fault);
    else if (Number(headers['content-length'] ?? 0) > this.#maxBytes) this.cut(this.#tooLarge());
  }

  onResponseData(_controller: UndiciController, chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.cut(this.#tooLarge());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#begin()) return;
    this.#answered();
    const body =
      this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#outcome.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: UndiciController | null, error: Error): void {
    if (!this.#begin()) return;
    this.#outcome.reject(toNetworkFault(error, this.#about));
  }

  /** Returns true for the first caller only, which settles the exchange. */
  #begin(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#onEnd();
    return true;
  }

  #faultOfCoding(headers: Headers): Fault | null {
    const coding = getFirstValue(headers['content-encoding']) ?? 'identity';
    if (coding === 'identity') return null;
    const problem = `answered in ${JSON.stringify(coding.slice(0, 40))}, though only identity was asked for`;
    return new Fault('not-json', `${formatUrl(this.#about.url)}: ${problem}`, this.#about.scope);
  }

  #tooLarge(): Fault {
    const problem = `the answer is larger than ${this.#maxBytes} bytes`;
    return new Fault('too-large', `${formatUrl(this.#about.url)}: ${problem}`, this.#about.scope);
  }
}

function getFirstValue(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** The target of a request, for the messages of its faults. */
interface RequestContext {
  readonly url: URL;
  readonly scope: Scope;
  readonly accepts?: readonly number[];
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
function toStatusFault(status: number, location: string | null, about: RequestContext): Fault | null {
  const createFault = (code: FaultCode, problem: string): Fault =>
    new Fault(code, `${formatUrl(about.url)}: ${problem}`, about.scope);
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

/** The query keys of the contracts, whose values are no secrets. */
const PLAIN: ReadonlySet<string> = new Set([
  'persona',
  'mark_read',
  'before_id',
  'limit',
  'wait',
  'cursor',
  'include_projects',
]);

/** Formats a URL for messages: without user name and fragment, and with the values of unknown query keys hidden. */
export function formatUrl(url: URL): string {
  const query = [...url.searchParams].map(
    ([key, value]) => `${encodeURIComponent(key)}=${PLAIN.has(key) ? encodeURIComponent(value) : '***'}`,
  );
  return `${url.origin}${url.pathname}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}
