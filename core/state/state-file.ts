import { isDeepStrictEqual } from 'node:util';
import { type KnownSet, mergeSpans } from '../model/index.ts';
import type { Random } from '../ports/index.ts';
import { sweepTemps, writeAtomically } from './atomic-write.ts';
import { type Disk, readPrivate } from './safe-open.ts';

/** What a headless watch remembers across a restart, with the key names of the file (Kijito contract d). */
export interface SavedWatcherState extends SavedPin {
  /** Null before the first healthy poll. */
  readonly cursor: number | null;
  /** The last edge that was delivered to the agent. */
  readonly state: 'UP' | 'DOWN';
  readonly consecutive_failures: number;
  /** What was delivered of a set. Never in a state file, because a headless watch has a log. */
  readonly known?: KnownSet;
  /** The wait of the agent that was delivered and whose end was not. Never in a state file: only the tray process knows waits. */
  readonly agent_wait?: { readonly reason: string; readonly since: number | null };
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
    return { is: 'corrupt', why: 'it does not hold a JSON object' };
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

/** What a state file holds beside the position. Each key is present only while it applies (Kijito contract d). */
export interface SavedPin {
  /** Id ranges above the cursor whose messages were delivered, `[from, to]`. */
  readonly delivered_above?: readonly (readonly [number, number])[];
  /** The cursor for which the gap alert was delivered. */
  readonly gap_alerted?: number;
  /** Until the cursor reaches this id, messages that are held back are not counted and skipped (`replay_capped`). */
  readonly pin_release_at?: number;
  /** Some of the record of what was delivered above the cursor was dropped, and the alert about that was delivered. */
  readonly pin_evidence_intact?: false;
  /** Why the position had to be given up; its event is not delivered yet. */
  readonly state_corrupt?: string;
  /** The alert that unread mail is not shown was delivered. */
  readonly unread_hidden?: true;
  /** The persona appeared during a run; its event is not delivered yet. */
  readonly persona_added?: true;
  /** A baseline skipped unread mail; its event is not delivered yet. */
  readonly baseline_skipped?: SavedBaseline;
  /**
   * Present when the ids of the inbox began again. `name` is the name of the current log; ids up to `read_to` in it count as old.
   */
  readonly log?: {
    readonly name: string;
    readonly read_to: number;
    /** The cursor in the log before and the newest id of the current one; the alert is not delivered yet. */
    readonly untold?: readonly [cursor: number, max: number];
  };
  /** An operator chose to begin above everything that was in the inbox. */
  readonly seeded_ahead?: true;
}

/** The fields of the event that will be delivered. */
export interface SavedBaseline {
  readonly armed_at: number;
  readonly skipped: number;
  readonly id_range: readonly [number, number];
  readonly unread_held: number | 'unknown';
  readonly reason: string;
}

type PinRead =
  | { readonly is: 'pin'; readonly pin: SavedPin }
  | { readonly is: 'odd'; readonly key: string; readonly value: JsonValue };

type StateFileKeys = Readonly<Record<string, JsonValue | undefined>>;

/** Up to this many ids are also written one by one, for the Python monitor. When there are more, none of them is. */
const MOST_IDS = 1000;
const UNSAID = 'the position was given up in an earlier run';

/**
 * Reads the keys of a pin, ours and those of the Python monitor. Types are strict: `1` is not `true`. Any odd key makes the whole
 * file unusable, since nobody knows any more what it protected (trap 31). null counts as absent.
 */
function readPin(keys: StateFileKeys, cursor: number | null): PinRead {
  const odd = findOddKey(keys);
  if (odd !== null) return { is: 'odd', key: odd, value: keys[odd] ?? null };
  const pin: { -readonly [K in keyof SavedPin]: SavedPin[K] } = { ...readLog(keys) };
  const spans = [...toPairs(keys.delivered_above), ...toIds(keys.emitted_above).map((id) => [id, id] as const)];
  if (spans.length > 0) {
    const mergedSpans = mergeSpans(spans.map(([from, to]) => ({ from, to })));
    pin.delivered_above = mergedSpans.map(({ from, to }) => [from, to] as const);
  }
  if (isInteger(keys.gap_alerted)) pin.gap_alerted = keys.gap_alerted;
  if (isInteger(keys.pin_release_at)) pin.pin_release_at = keys.pin_release_at;
  // A pin of the Python monitor without an end: nothing is skipped at the start, and the messages in the first poll result end
  // it.
  else if (keys.pin_forced === true && cursor !== null) pin.pin_release_at = cursor;
  if (keys.pin_evidence_intact === false) pin.pin_evidence_intact = false;
  if (keys.state_corrupt === true || (keys.pin_forced === true && cursor === null))
    pin.state_corrupt = typeof keys.state_corrupt_why === 'string' ? keys.state_corrupt_why : UNSAID;
  if (keys.unread_hidden === true) pin.unread_hidden = true;
  if (keys.persona_added === true) pin.persona_added = true;
  if (keys.seeded_ahead === true) pin.seeded_ahead = true;
  if (isBaseline(keys.baseline_skipped)) pin.baseline_skipped = keys.baseline_skipped;
  return { is: 'pin', pin };
}

/** The keys to write: those of the Python monitor, and ours where that has none. */
function toPinKeys(pin: SavedPin): StateFileKeys {
  const { delivered_above: spans, pin_release_at: release, state_corrupt: why } = pin;
  const ids = spans === undefined ? null : toFewIds(spans);
  return {
    ...(spans === undefined ? {} : { delivered_above: spans }),
    ...(ids === null ? {} : { emitted_above: ids }),
    ...(pin.gap_alerted === undefined ? {} : { gap_alerted: pin.gap_alerted }),
    ...(release === undefined ? {} : { pin_forced: true, pin_release_at: release }),
    ...(pin.pin_evidence_intact === undefined ? {} : { pin_evidence_intact: false }),
    ...(why === undefined ? {} : { state_corrupt: true, state_corrupt_why: why }),
    ...(pin.unread_hidden === undefined ? {} : { unread_hidden: true }),
    ...(pin.persona_added === undefined ? {} : { persona_added: true }),
    ...(pin.baseline_skipped === undefined ? {} : { baseline_skipped: { ...pin.baseline_skipped } }),
    ...toLogKeys(pin),
    ...(pin.seeded_ahead === undefined ? {} : { seeded_ahead: true }),
  };
}

function readLog(keys: StateFileKeys): Pick<SavedPin, 'log'> {
  return isLog(keys.log) ? { log: keys.log } : {};
}

function toLogKeys({ log }: SavedPin): StateFileKeys {
  return log === undefined ? {} : { log: { ...log } };
}

function toFewIds(spans: readonly (readonly [number, number])[]): readonly number[] | null {
  let many = 0;
  for (const [from, to] of spans) many += to - from + 1;
  if (many > MOST_IDS) return null;
  return spans.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, n) => from + n));
}

const FORMS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  delivered_above: (value) => Array.isArray(value) && value.every(isPair),
  emitted_above: (value) => Array.isArray(value) && value.every(isInteger),
  gap_alerted: isInteger,
  pin_forced: isBoolean,
  pin_release_at: isInteger,
  pin_evidence_intact: isBoolean,
  state_corrupt: isBoolean,
  state_corrupt_why: (value) => typeof value === 'string',
  unread_hidden: isBoolean,
  persona_added: isBoolean,
  baseline_skipped: isBaseline,
  log: isLog,
  seeded_ahead: isBoolean,
};

function findOddKey(keys: StateFileKeys): string | null {
  for (const [key, fits] of Object.entries(FORMS)) {
    const value = keys[key] ?? null;
    if (value !== null && !fits(value)) return key;
  }
  return null;
}

function toPairs(value: JsonValue | undefined): readonly (readonly [number, number])[] {
  return Array.isArray(value) ? value.filter(isPair) : [];
}

function toIds(value: JsonValue | undefined): readonly number[] {
  return Array.isArray(value) ? value.filter(isInteger) : [];
}

function isPair(value: JsonValue): value is readonly [number, number] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [from, to] = value as readonly JsonValue[];
  return isInteger(from) && isInteger(to) && from <= to;
}

function isBaseline(value: JsonValue | undefined): value is JsonValue & SavedBaseline {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { armed_at, skipped, id_range, unread_held, reason } = value as { readonly [key: string]: JsonValue };
  const isUnread = unread_held === 'unknown' || isInteger(unread_held);
  return (
    isInteger(armed_at) && isInteger(skipped) && isPair(id_range ?? null) && isUnread && typeof reason === 'string'
  );
}

function isLog(value: JsonValue | undefined): value is JsonValue & NonNullable<SavedPin['log']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { name, read_to, untold = null } = value as { readonly [key: string]: JsonValue };
  const isUntoldValid = untold === null || (Array.isArray(untold) && untold.length === 2 && untold.every(isInteger));
  return typeof name === 'string' && name !== '' && isInteger(read_to) && isUntoldValid;
}

function isInteger(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function isBoolean(value: JsonValue): boolean {
  return typeof value === 'boolean';
}

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
