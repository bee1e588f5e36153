import type { Board, Snapshot } from '../../core/board/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { toWire } from './to-wire.ts';
import type { StatusWire } from './wire.ts';

/** The status as it is now, once for every reader: `/status.json`, page and stream. */
export interface Current {
  readonly wire: StatusWire;
  /** `wire` as JSON. */
  readonly body: string;
  /** The same in UTF-8, made once: who asks again and again would pay for it each time. */
  readonly bytes: Buffer;
  /** Changes with anything but the time of writing; not the same in two runs. */
  readonly etag: string;
}

/** A body this old is written anew although nothing happened, so that `generatedAt` is the time of the answer. */
const KEEP_MS = 1000;

/** Writes the status at most once a board change, however many readers ask. `run` tells runs apart in the ETag. */
export function currentStatus(of: {
  readonly board: Board;
  readonly clock: Clock;
  readonly version: string;
  readonly port: () => number;
  readonly run: string;
}): () => Current {
  let made: { snapshot: Snapshot; at: number; content: string; n: number; current: Current } | null = null;
  return () => {
    const snapshot = of.board.snapshot();
    const at = of.clock.monotonic();
    if (made !== null && made.snapshot === snapshot && at - made.at < KEEP_MS) return made.current;
    const wire = toWire(snapshot, { now: of.clock.now(), version: of.version, port: of.port() });
    const body = JSON.stringify(wire);
    const content = body.replace(wire.generatedAt, ''); // the first one is the key of that name
    const n = made === null ? 0 : made.content === content ? made.n : made.n + 1;
    made = { snapshot, at, content, n, current: { wire, body, bytes: Buffer.from(body), etag: `"${of.run}.${n}"` } };
    return made.current;
  };
}

/** Whether an `If-None-Match` header names this tag, weakly or not (RFC 9110, 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
