import { Fault } from '../model/index.ts';
import { type About, faultOfFailure, faultOfStatus } from './failure.ts';
import { shownUrl } from './shown-url.ts';

/** Names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A whole 2xx answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** What undici hears of an exchange that was settled already; nobody else does. */
const CUT = new Error('the exchange is settled');

/** What undici hands to a handler, as far as it is used here. */
interface Controller {
  abort(reason: Error): void;
}

/**
 * One request from dispatch to its whole answer: an undici dispatch handler that settles exactly once. Whoever settles
 * it first (answer, failure, deadline, abort) wins; a connection that is still busy with it is then cut.
 */
export class Exchange {
  readonly answer: Promise<Answer>;
  readonly #about: About;
  readonly #maxBytes: number;
  readonly #settle: { resolve(answer: Answer): void; reject(why: unknown): void };
  readonly #settled: () => void;
  readonly #answered: () => void;
  #isSettled = false;
  #controller: Controller | null = null;
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #size = 0;

  /** `settled` is called once, just before the answer is there or refused; `answered` only for a whole answer. */
  constructor(about: About, maxBytes: number, settled: () => void, answered: () => void) {
    this.#about = about;
    this.#maxBytes = maxBytes;
    this.#settled = settled;
    this.#answered = answered;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
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

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(CUT);
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const fault = faultOfStatus(status, one(headers.location), this.#about) ?? this.#faultOfCoding(headers);
    if (fault !== null) this.cut(fault);
    else if (Number(headers['content-length'] ?? 0) > this.#maxBytes) this.cut(this.#tooLarge());
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
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

  onResponseError(_controller: Controller | null, error: Error): void {
    if (!this.#begin()) return;
    this.#settle.reject(faultOfFailure(error, this.#about));
  }

  /** True for the one who settles it. */
  #begin(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#settled();
    return true;
  }

  #faultOfCoding(headers: Headers): Fault | null {
    const coding = one(headers['content-encoding']) ?? 'identity';
    if (coding === 'identity') return null;
    const what = `answered in ${JSON.stringify(coding.slice(0, 40))}, though only identity was asked for`;
    return new Fault('not-json', `${shownUrl(this.#about.url)}: ${what}`, this.#about.scope);
  }

  #tooLarge(): Fault {
    const what = `the answer is larger than ${this.#maxBytes} bytes`;
    return new Fault('too-large', `${shownUrl(this.#about.url)}: ${what}`, this.#about.scope);
  }
}

function one(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}
