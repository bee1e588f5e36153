import type { ChangeName, Extra, Instant, MailName } from '../../model/index.ts';
import type { Checkpoint, SetItem } from '../source.ts';

/** A message, a question or a wait, from when it is first seen until its end is delivered. */
export interface MailEntry {
  readonly key: string;
  readonly appeared: MailName;
  /** Unread, and then how it ended. */
  state: 'unread' | EndState;
  readonly from: string | null;
  readonly created: string | null;
  readonly content: string | null;
  readonly extra: Extra;
  readonly isUrgent: boolean;
  /** Not before this time, on the monotonic clock, it is delivered while it is unread. */
  readonly quietUntil: number;
  /** When it began to wait: on the monotonic clock, and by the clock on the wall. */
  readonly since: number;
  readonly sinceAt: Instant;
}

/** `read`: it was taken. `gone`: its inbox went away. `cleared`: the session waits no more. */
export type EndState = 'read' | 'gone' | 'cleared';

const ENDS: ReadonlySet<string> = new Set<EndState>(['read', 'gone', 'cleared']);
/** Its persona is another one now, where it is as before. Nobody is told. */
const MOVED = 'moved';
const NO_KEYS: ReadonlySet<string> = new Set();

/** What became of a known thing that is no longer among the entries. */
export type Fate = EndState | typeof MOVED;

/**
 * The things of one place in the order in which they came. A thing that ended stays until its end was delivered, so that what came
 * and went between two polls is delivered too.
 */
export interface MailLog {
  readonly entries: ReadonlyMap<string, MailEntry>;
  add(entry: MailEntry): void;
  /** Ends what is unread, if `ends` says so. @returns whether anything ended */
  end(state: EndState, ends: (entry: MailEntry) => boolean): boolean;
  /** Remembers what a persona has delivered, so that no other persona delivers it again. */
  noteKnown(address: string, known: ReadonlySet<string>): void;
  /** Whether another persona has delivered this thing. */
  isDeliveredElsewhere(address: string, key: string): boolean;
  drop(key: string): void;
  /** Drops what ended, where nobody delivers it. */
  dropEnded(): void;
}

/** More things of one place that wait for their delivery are not remembered. The oldest are dropped first. */
const MOST_ENTRIES = 5000;

export function createMailLog(): MailLog {
  const entries = new Map<string, MailEntry>();
  const knownBy = new Map<string, ReadonlySet<string>>();
  return {
    entries,
    add(entry) {
      entries.set(entry.key, entry);
      if (entries.size <= MOST_ENTRIES) return;
      for (const [key, { state }] of entries) {
        if (state === 'unread') continue;
        entries.delete(key);
        return;
      }
    },
    end(state, ends) {
      let hasEnded = false;
      for (const entry of entries.values()) {
        if (entry.state !== 'unread' || !ends(entry)) continue;
        entry.state = state;
        hasEnded = true;
      }
      return hasEnded;
    },
    noteKnown(address, known) {
      const mine = new Set([...entries.keys()].filter((key) => known.has(key)));
      if (mine.size === 0) knownBy.delete(address);
      else knownBy.set(address, mine);
    },
    isDeliveredElsewhere: (address, key) => [...knownBy].some(([other, keys]) => other !== address && keys.has(key)),
    drop: (key) => void entries.delete(key),
    dropEnded() {
      for (const [key, { state }] of entries) if (state !== 'unread') entries.delete(key);
    },
  };
}

/** What a poll of a persona says of its things. */
export interface LogReading {
  readonly items: readonly SetItem[];
  readonly unread: number;
  readonly urgent: number;
  /** Things ended that the checkpoint does not know yet: after this poll another one says so. */
  readonly hasMore: boolean;
  /** When to poll again, on the monotonic clock, because a thing is still held back; null: nothing is. */
  readonly againAt: number | null;
}

/**
 * Compares the things of a persona with what it has delivered. A thing that came and went meanwhile is unread here, and its end follows in
 * the next poll. What is known and not among the entries gets the fate that `findFate` says.
 */
export function readLogs(
  address: string,
  logs: readonly MailLog[],
  from: Checkpoint,
  now: number,
  findFate: (key: string, extra: Extra) => Fate,
): LogReading {
  const known = new Map(from.is === 'known' ? from.keys.map((item) => [item.key, item]) : []);
  const goneKeys = from.is === 'known' && from.gone !== undefined ? new Set(from.gone.map(({ key }) => key)) : NO_KEYS;
  const items: SetItem[] = [];
  let [unread, urgent, hasMore] = [0, 0, false];
  let againAt: number | null = null;
  for (const log of logs) {
    const knownKeys = new Set([...known.keys(), ...goneKeys]);
    log.noteKnown(address, knownKeys);
    for (const entry of log.entries.values()) {
      const { key, state } = entry;
      const delivered = known.get(key);
      known.delete(key);
      if (state === 'unread') {
        unread += 1;
        if (entry.isUrgent && entry.quietUntil <= now) urgent += 1;
      }
      if (delivered === undefined && state === 'unread' && now < entry.quietUntil) {
        againAt = Math.min(againAt ?? entry.quietUntil, entry.quietUntil);
        continue;
      }
      if (state === 'unread') {
        items.push(toItem(entry, 'unread', log.isDeliveredElsewhere(address, key)));
        continue;
      }
      if (delivered === undefined ? goneKeys.has(key) : ENDS.has(delivered.fingerprint)) {
        log.drop(key); // its end was delivered
        continue;
      }
      if (delivered === undefined) {
        const over = entry.appeared === 'question' ? ({ ...entry, appeared: 'new' } as const) : entry;
        items.push(toItem(over, 'unread', log.isDeliveredElsewhere(address, key)));
        hasMore = true;
      } else items.push(toItem(entry, state, false));
    }
  }
  for (const { key, fingerprint, extra } of known.values()) {
    const fate = findFate(key, extra);
    if (ENDS.has(fingerprint) || fingerprint === fate) continue;
    items.push(toLostItem(key, fate, extra));
  }
  return { items, unread, urgent, hasMore, againAt };
}

function toItem(
  { key, appeared, from, created, content, extra }: MailEntry,
  fingerprint: 'unread' | EndState,
  isQuiet: boolean,
): SetItem {
  const changed: ChangeName | null = fingerprint === 'unread' ? null : fingerprint;
  return {
    key,
    fingerprint,
    appeared: isQuiet ? 'quiet' : appeared,
    changed,
    vanished: null,
    from,
    created,
    content,
    extra,
  };
}

function toLostItem(key: string, fate: Fate, extra: Extra): SetItem {
  const changed = fate === MOVED ? null : fate;
  const base = { key, fingerprint: fate, appeared: 'quiet', changed, vanished: null } as const;
  return { ...base, from: null, created: null, content: null, extra };
}
