import { isDeepStrictEqual } from 'node:util';
import type { KnownSet } from '../model/index.ts';
import type { Random } from '../ports/index.ts';
import { sweepTemps, writeAtomically } from './atomic-write.ts';
import type { Disk } from './disk.ts';
import type { JsonValue } from './json-value.ts';
import { isInteger, readLog, readPin, type SavedPin, toLogKeys, toPinKeys } from './pin-keys.ts';
import { readPrivate } from './read-private.ts';

/** What a headless watch remembers across a restart, with the key names of the file (Kijito contract d). */
export interface SavedWatcherState extends SavedPin {
  /** Null before the first healthy poll. */
  readonly cursor: number | null;
  /** The last edge that was delivered to the agent. */
  readonly state: 'UP' | 'DOWN';
  readonly consecutive_failures: number;
  /** What was delivered of a set. Never in a state file, because a headless watch has a log. */
  readonly known?: KnownSet;
}

export type StateRead =
  | { readonly is: 'absent' }
  | { readonly is: 'valid'; readonly saved: SavedWatcherState }
  /** The file belongs to another inbox, whose cursor would hide mail from this watcher. */
  | { readonly is: 'mismatch'; readonly found: JsonValue; readonly expected: JsonValue }
  /** The inbox's address differs only in the case of a query value: the persona as it was spelled before (trap 34). */
  | {
      readonly is: 'respelled';
      readonly saved: SavedWatcherState;
      readonly found: JsonValue;
      readonly expected: JsonValue;
    }
  | { readonly is: 'corrupt'; readonly why: string };

export interface StateFile {
  readonly path: string;
  /** @throws Fault `unreadable` when something is there that cannot be read: a directory, a symlink, no permission. */
  read(): StateRead;
  /** The state is durable when this returns. @throws Fault `no-space` or `unwritable`; the old file is intact then. */
  save(saved: SavedWatcherState): void;
}

export interface StateFileOptions {
  readonly disk: Disk;
  readonly random: Random;
  readonly path: string;
  /** Which inbox the file is for. Any JSON value; it is compared as it is after a JSON round trip. */
  readonly identity: JsonValue;
  /**
   * `rev-6`: the keys of a pin are neither read, like those of any other writer, nor written. The exception is `log`, which names
   * the log of the cursor's ids, because event ids need it.
   */
  readonly keys: 'rev-6' | 'all';
}

// A state file of the Python monitor with 5,000 remembered ids has about 100 KB.
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The saved position of one headless watch (Kijito spec 7.3). The caller holds the lock of `path` (see `lockFile`), so this
 * removes temporary files that a killed writer of the file left.
 */
export function openStateFile({ disk, random, path, identity, keys }: StateFileOptions): StateFile {
  const expected = JSON.parse(JSON.stringify(identity)) as JsonValue;
  sweepTemps(disk, path);
  return {
    path,
    read() {
      const bytes = readPrivate(disk, path, MOST_BYTES);
      return bytes === null ? { is: 'absent' } : judge(bytes, expected, keys);
    },
    save({ cursor, state, consecutive_failures, ...pin }) {
      const extraKeys = keys === 'all' ? toPinKeys(pin) : toLogKeys(pin);
      const text = JSON.stringify({ identity: expected, cursor, state, consecutive_failures, ...extraKeys });
      writeAtomically(disk, random, path, `${text}\n`);
    },
  };
}

function judge(bytes: Uint8Array, expected: JsonValue, keys: StateFileOptions['keys']): StateRead {
  if (bytes.length === 0) return { is: 'corrupt', why: 'the file is empty' };
  if (bytes.length > MOST_BYTES) return { is: 'corrupt', why: `the file is over ${MOST_BYTES} bytes long` };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { is: 'corrupt', why: error instanceof Error ? error.message : String(error) };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return { is: 'corrupt', why: 'it holds no JSON object' };
  }
  const record = value as Record<string, JsonValue | undefined>;
  // Types are strict: `true` is no number and 2.5 is no id (D15, trap 23). Keys of other writers are ignored.
  const { identity, cursor, state, consecutive_failures: failures } = record;
  if (identity === undefined) return { is: 'corrupt', why: 'identity is missing' };
  if (cursor !== null && !isInteger(cursor)) return createCorruptRead('cursor', cursor);
  if (state !== 'UP' && state !== 'DOWN') return createCorruptRead('state', state);
  if (!isInteger(failures) || failures < 0) return createCorruptRead('consecutive_failures', failures);
  const isOurs = isDeepStrictEqual(identity, expected);
  if (!isOurs && !isRespelled(identity, expected)) return { is: 'mismatch', found: identity, expected };
  // The Python monitor can write -1 for an inbox that was empty (D23); no id is below 1, so 0 says the same.
  const from = cursor === null ? null : Math.max(cursor, 0);
  const read = keys === 'all' ? readPin(record, from) : { is: 'pin' as const, pin: readLog(record) };
  if (read.is === 'odd') return createCorruptRead(read.key, read.value);
  const saved: SavedWatcherState = { cursor: from, state, consecutive_failures: failures, ...read.pin };
  return isOurs ? { is: 'valid', saved } : { is: 'respelled', saved, found: identity, expected };
}

/** Whether two identities `[scheme, host, port, path, [[key, value], ...]]` differ only in the case of a query value. */
function isRespelled(found: JsonValue, expected: JsonValue): boolean {
  const fold = (identity: JsonValue): JsonValue => {
    if (!Array.isArray(identity) || identity.length !== 5 || !Array.isArray(identity[4])) return identity;
    const query = (identity[4] as readonly JsonValue[]).map((pair) => {
      if (!Array.isArray(pair) || pair.length !== 2) return pair;
      const [key, value] = pair as readonly JsonValue[];
      return [key ?? null, typeof value === 'string' ? value.toLowerCase() : (value ?? null)];
    });
    return [...(identity as readonly JsonValue[]).slice(0, 4), query];
  };
  return isDeepStrictEqual(fold(found), fold(expected));
}

function createCorruptRead(key: string, value: JsonValue | undefined): StateRead {
  return { is: 'corrupt', why: `${key} is ${value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80)}` };
}
