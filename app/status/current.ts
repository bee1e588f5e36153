import type { Board, Snapshot } from '../../core/board/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { toWire } from './to-wire.ts';
import type { StatusWire } from './wire.ts';

/** The current status, computed once for all readers: `/status.json`, page and stream. */
export interface CurrentStatus {
  readonly wire: StatusWire;
  /** `wire` as JSON. */
  readonly body: string;
  /** The same in UTF-8, encoded once so that repeated requests do not pay for it. */
  readonly bytes: Buffer;
  /** Changes whenever the content changes, the time of writing excluded. It differs between two runs. */
  readonly etag: string;
}

/** A body older than this is written again even if nothing happened, so that `generatedAt` is the time of the answer. */
const MAX_AGE_MS = 1000;

/** Writes the status at most once per board change, however many readers ask. `run` makes the ETags of different runs differ. */
export function createCurrentStatus(options: {
  readonly board: Board;
  readonly clock: Clock;
  readonly version: string;
  readonly port: () => number;
  readonly run: string;
}): () => CurrentStatus {
  let cached: { snapshot: Snapshot; at: number; content: string; n: number; current: CurrentStatus } | null = null;
  return () => {
    const snapshot = options.board.snapshot();
    const at = options.clock.monotonic();
    if (cached !== null && cached.snapshot === snapshot && at - cached.at < MAX_AGE_MS) return cached.current;
    const wire = toWire(snapshot, { now: options.clock.now(), version: options.version, port: options.port() });
    const body = JSON.stringify(wire);
    const content = body.replace(wire.generatedAt, ''); // the first match is the value of `generatedAt`
    const n = cached === null ? 0 : cached.content === content ? cached.n : cached.n + 1;
    cached = {
      snapshot,
      at,
      content,
      n,
      current: { wire, body, bytes: Buffer.from(body), etag: `"${options.run}.${n}"` },
    };
    return cached.current;
  };
}

/** Returns whether an `If-None-Match` header names this tag, weak or strong (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}
