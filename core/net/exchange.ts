import { Fault } from '../model/index.ts';
import { type RequestContext, toNetworkFault, toStatusFault } from './failure.ts';
import { formatUrl } from './format-url.ts';

/** Header names are in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole 2xx answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** The reason given to undici when an exchange is already settled. No other code sees it. */
const CUT = new Error('the exchange is settled');

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
  readonly #settle: { resolve(answer: HttpResponse): void; reject(why: unknown): void };
  readonly #settled: () => void;
  readonly #answered: () => void;
  #isSettled = false;
  #controller: UndiciController | null = null;
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #size = 0;

  /** `onSettled` is called once, just before the answer resolves or rejects; `onAnswered` only for a whole answer. */
  constructor(about: RequestContext, maxBytes: number, onSettled: () => void, onAnswered: () => void) {
    this.#about = about;
    this.#maxBytes = maxBytes;
    this.#settled = onSettled;
    this.#answered = onAnswered;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.answer = promise;
    this.#settle = { resolve, reject };
  }

  /** Rejects the answer with `why` and closes the connection, even one that is not open yet. */
  cut(why: unknown): void {
    if (!this.#begin()) return;
    this.#chunks = [];
    this.#settle.reject(why);
    this.#controller?.abort(CUT);
  }

  onRequestStart(controller: UndiciController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(CUT);
  }

  onResponseStart(_controller: UndiciController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const fault = toStatusFault(status, getFirstValue(headers.location), this.#about) ?? this.#faultOfCoding(headers);
    if (fault !== null) this.cut(fault);
    else if (Number(headers['content-length'] ?? 0) > this.#maxBytes) this.cut(this.#tooLarge());
  }

  onResponseData(_controller: UndiciController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.cut(this.#tooLarge());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#begin()) return;
    this.#answered();
    const body =
      this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#settle.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: UndiciController | null, error: Error): void {
    if (!this.#begin()) return;
    this.#settle.reject(toNetworkFault(error, this.#about));
  }

  /** Returns true for the first caller only, which settles the exchange. */
  #begin(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#settled();
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
