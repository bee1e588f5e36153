import { join } from 'node:path';
import { Fault } from '../../model/index.ts';
import { createTroubleLog, type TroubleLog } from '../../services/index.ts';
import { ensurePrivateDir, readPrivate, sweepTemps, toStem, writeAtomically } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import { type Cursor, parseCursor } from './read/index.ts';
import { BRAINCLAW } from './settings.ts';

/**
 * Stores how far each project was read, and which store had which id. This is derived state, so losing it costs nothing
 * (brainclaw contract 9).
 */
export interface CursorStore extends Disposable {
  /** Returns the store that last had this id, or null when no store is known. */
  findHolder(source: string): string | null;
  /** Opens the cursor of one store under this id. */
  open(source: string, store: string): { load(): Cursor | null; save(cursor: Cursor): void };
}

const MOST_BYTES = 64 * 1024;
/** Changes within this time are saved in one write. */
const WRITE_AFTER_MS = 1000;

/** @param state the state directory; the file is `brainclaw/STEM.cursor.json` in it */
export function openCursorStore(
  state: string,
  machine: Pick<SourceHost, 'disk' | 'random' | 'clock' | 'log'>,
): CursorStore {
  const { disk, random, clock, log } = machine;
  const directory = join(state, BRAINCLAW);
  const due = new Map<string, { readonly text: string; readonly timer: Disposable }>();
  const troubles = new Map<string, TroubleLog>();
  const getPath = (source: string): string => join(directory, `${toStem(source)}.cursor.json`);

  const read = (source: string): { readonly store: unknown; readonly cursor: unknown } | null => {
    try {
      const bytes = readPrivate(disk, getPath(source), MOST_BYTES);
      const value: unknown = bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
      return typeof value === 'object' && value !== null && 'store' in value && 'cursor' in value ? value : null;
    } catch (error) {
      if (error instanceof SyntaxError) return null; // half a file that another program wrote: the same as none
      if (!(error instanceof Fault)) throw error;
      log.warn(`a project is read as if it were new: ${error.explain()}`);
      return null;
    }
  };
  const write = (source: string, text: string): void => {
    due.delete(source);
    try {
      ensurePrivateDir(disk, directory);
      writeAtomically(disk, random, getPath(source), text);
      troubles.get(source)?.clear(`the read position of ${source} is saved again`);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const trouble = troubles.get(source) ?? createTroubleLog(log);
      troubles.set(source, trouble);
      trouble.raise(`the read position of a project is not saved: ${error.explain()}`);
    }
  };
  const save = (source: string, store: string, cursor: Cursor | null): void => {
    const text = `${JSON.stringify({ store, cursor })}\n`;
    due.get(source)?.timer[Symbol.dispose]();
    due.set(source, { text, timer: clock.after(WRITE_AFTER_MS, () => write(source, text)) });
  };

  return {
    findHolder: (source) => {
      const store = read(source)?.store;
      return typeof store === 'string' ? store : null;
    },
    open: (source, store) => {
      sweepTemps(disk, getPath(source)); // left by a process that was killed while it wrote
      const stored = read(source);
      const cursor = stored?.store === store ? parseCursor(stored.cursor) : null;
      if (stored?.store !== store) save(source, store, null); // from now on the id belongs to this store
      return { load: () => cursor, save: (next) => save(source, store, next) };
    },
    [Symbol.dispose]: () => {
      for (const [source, { text, timer }] of [...due]) {
        timer[Symbol.dispose]();
        write(source, text);
      }
    },
  };
}
