import { findSpan, type Span } from '../../../model/index.ts';
import type { YieldTurn } from './turns.ts';

/** What lies above a cursor and is done: the part of a walk that tells where it has to ask. */
export interface WalkRange {
  readonly after: number;
  /** Spans above `after` whose rows need not be fetched again, as `merged` gives them. */
  readonly done: readonly Span[];
}

/**
 * Where a walk asks when it has every row from `before` on: below whatever is done there. Null when nothing is left above
 * the cursor. `skips`: rows that are done lie between.
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
 * Bodies of older pages, asked for one after the other, at most `most` of them. A body says at its end how the walk goes
 * on; that is taken as a hint and asked for at once, so that the server works while the body is read. Who reads it says
 * where the walk really goes on: a hint that was wrong, of a page that contradicts itself, costs one request.
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
    body.catch(() => {}); // told to whoever asks for it, if anybody does
    return { before, body };
  };
  return async (before) => {
    const body = await (coming?.before === before ? coming : begin(before)).body;
    const hint = parseContinuation(body);
    const next = hint === null || hint >= before || requestCount >= most ? null : askBelow(hint, range);
    coming = next === null ? null : begin(next.before);
    await turn(); // the request leaves with the next turn of the event loop, and others have one while much is read
    return body;
  };
}

/** Enough for the fields after the rows. */
const END_BYTES = 256;
const CONTINUATION = /"next_before_id"\s*:\s*([1-9]\d{0,14})\s*[,}]/;

function parseContinuation(body: Uint8Array): number | null {
  const end = body.subarray(-END_BYTES);
  const match = CONTINUATION.exec(Buffer.from(end.buffer, end.byteOffset, end.byteLength).toString('latin1'));
  return match === null ? null : Number(match[1]);
}
