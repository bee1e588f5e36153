import { Fault } from '../model/index.ts';
import { type RequestContext, toNetworkFault, toStatusFault } from './failure.ts';
import { formatUrl } from './format-url.ts';

/** Names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole 2xx answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** What undici hears of an exchange that was settled already; nobody else does. */
const CUT = new Error('the exchange is settled');

/** What undici hands to a handler, as far as it is used here. */
interface UndiciController {
  abort(reason: Error): void;
}

/**
 * One request from dispatch to its whole answer: an undici dispatch handler that settles exactly once. Whoever settles
 * it first (answer, failure, deadline, abort) wins; a connection that is still busy with it is then cut.
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

  /** `settled` is called once, just before the answer is there or refused; `answered` only for a whole answer. */
  constructor(about: RequestContext, maxBytes: number, onSettled: () => void, onAnswered: () => void) {
    this.#about = about;
    this.#maxBytes = maxBytes;
    this.#settled = onSettled;
    this.#answered = onAnswered;
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.answer = promise;
    this.#settle = { resolve, reject };
  }

  /** Rejects the answer with `why` and cuts the connection, also one that is yet to be made. */
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

  /** True for the one who settles it. */
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
