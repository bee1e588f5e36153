import { join } from 'node:path';
import { Fault, parseJson } from '../../model/index.ts';
import { ensurePrivateDir, readPrivate, writeAtomically } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import type { SavedPositions } from './directory.ts';
import { CLAUDE } from './settings.ts';

/**
 * Keeps from one run to the next how far transcripts were read, so that mail that came and went meanwhile is delivered. It is written
 * when Hivebar ends and used once: after a crash nobody knows what was delivered since, and mail must not be delivered twice.
 */
export interface PositionStore {
  /** What the last run wrote; null when there is nothing, or it was used before. */
  take(): SavedPositions | null;
  save(positions: SavedPositions): void;
}

const MOST_BYTES = 4 * 1024 * 1024;
const USED = '{}\n';

/** @param state the state directory; the file is `claude/positions.json` in it */
export function openPositionStore(
  state: string,
  { disk, random, log }: Pick<SourceHost, 'disk' | 'random' | 'log'>,
): PositionStore {
  const directory = join(state, CLAUDE);
  const path = join(directory, 'positions.json');

  function write(text: string): void {
    try {
      ensurePrivateDir(disk, directory);
      writeAtomically(disk, random, path, text);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`how far transcripts were read is not saved: ${error.explain()}`);
    }
  }

  return {
    take() {
      try {
        const bytes = readPrivate(disk, path, MOST_BYTES);
        if (bytes === null) return null;
        const text = new TextDecoder().decode(bytes);
        if (text === USED) return null;
        const positions = parsePositions(parseJson(text));
        write(USED);
        return positions;
      } catch (error) {
        if (error instanceof SyntaxError) return null; // half a file that another program wrote: the same as none
        if (!(error instanceof Fault)) throw error;
        log.warn(`mail that came while Hivebar did not run is not looked for: ${error.explain()}`);
        return null;
      }
    },
    save: (positions) => write(`${JSON.stringify(positions)}\n`),
  };
}

function parsePositions(value: unknown): SavedPositions {
  const { offsets, unmatched } = value as { readonly offsets?: unknown; readonly unmatched?: unknown };
  return { offsets: toNumbers(offsets), unmatched: toNumbers(unmatched) };
}

function toNumbers(value: unknown): Readonly<Record<string, number>> {
  const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(pairs.filter(([, count]) => Number.isSafeInteger(count) && count >= 0));
}
