import { findSpan, type Span } from '../../../model/index.ts';
import type { YieldTurn } from './turns.ts';

/** The part of a walk that decides where to ask next. */
export interface WalkRange {
  readonly after: number;
  /** Id ranges above `after` that need not be fetched again, as `mergeSpans` returns them. */
  readonly done: readonly Span[];
}

/**
 * Where a walk asks next when it has every message from `before` on: below the adjacent range that is done. Null when nothing is
 * left above the cursor. `skips`: done messages lie in between.
 */
export function askBelow(
  before: number,
  { after, done }: WalkRange,
): { readonly before: number; skips: boolean } | null {
  const known = findSpan(done, before - 1);
  const from = known?.from ?? before;
  return from <= after + 1 ? null : { before: from, skips: known !== null };
}

/**
 * Returns a function that fetches bodies of older pages one after the other, at most `most` of them. The end of a body says where
 * the walk continues. That value is used as a hint and requested at once, so that the server works while the body is read.
 * The reader decides where the walk really continues. A wrong hint, from a page that contradicts itself, costs one request.
 */
export function readAhead(
  ask: (before: number) => Promise<Uint8Array>,
  range: WalkRange,
  most: number,
  turn: YieldTurn,
): (before: number) => Promise<Uint8Array> {
  let requestCount = 0;
  let coming: { readonly before: number; readonly body: Promise<Uint8Array> } | null = null;
  const begin = (before: number) => {
    requestCount += 1;
    const body = ask(before);
    body.catch(() => {}); // whoever awaits the body gets the error, if anybody does
    return { before, body };
  };
  return async (before) => {
    const body = await (coming?.before === before ? coming : begin(before)).body;
    const hint = parseContinuation(body);
    const next = hint === null || hint >= before || requestCount >= most ? null : askBelow(hint, range);
    coming = next === null ? null : begin(next.before);
    await turn(); // the request leaves with the next turn of the event loop, and other work runs before a long body is read
    return body;
  };
}

/** Enough bytes for the fields after the messages. */
const END_BYTES = 256;
const CONTINUATION = /"next_before_id"\s*:\s*([1-9]\d{0,14})\s*[,}]/;

function parseContinuation(body: Uint8Array): number | null {
  const end = body.subarray(-END_BYTES);
  const match = CONTINUATION.exec(Buffer.from(end.buffer, end.byteOffset, end.byteLength).toString('latin1'));
  return match === null ? null : Number(match[1]);
}
