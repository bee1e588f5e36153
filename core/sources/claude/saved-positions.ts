import { Fault } from '../../model/index.ts';
import type { Log } from '../../ports/index.ts';
import type { PositionStore } from '../module.ts';

/**
 * How far transcripts were read, by path, and which texts were seen in inbox files and not in transcripts yet, by `PATH HASH`. It is
 * saved when Hivebar ends and used once: after a crash nobody knows what was delivered since, and mail must not be delivered twice.
 */
export interface SavedPositions {
  readonly offsets: Readonly<Record<string, number>>;
  readonly unmatched: Readonly<Record<string, number>>;
}

/** No persona has it as its id. */
const KEY = 'claude:transcripts';

/** What the run before saved; null when there is nothing, or it was used before. */
export function takePositions(positions: PositionStore, log: Log): SavedPositions | null {
  try {
    const value = positions.read(KEY) as { readonly offsets?: unknown; readonly unmatched?: unknown } | null;
    if (value === null || value.offsets === undefined) return null;
    void savePositions(positions, {}, log);
    return { offsets: toNumbers(value.offsets), unmatched: toNumbers(value.unmatched) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    log.warn(`mail that came while Hivebar did not run is not looked for: ${error.explain()}`);
    return null;
  }
}

export async function savePositions(positions: PositionStore, value: SavedPositions | object, log: Log): Promise<void> {
  try {
    await positions.save(KEY, value);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    log.warn(`how far transcripts were read is not saved: ${error.explain()}`);
  }
}

function toNumbers(value: unknown): Readonly<Record<string, number>> {
  const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(pairs.filter(([, count]) => Number.isSafeInteger(count) && count >= 0));
}
