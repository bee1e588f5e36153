import { join } from 'node:path';
import {
  type Event,
  type EventFollower,
  type FollowedLine,
  isMail,
  openFollower,
  readMailExtras,
} from '../../../core/events/index.ts';
import type { Item } from '../../../core/inbox/index.ts';
import { type Instant, parseIso } from '../../../core/model/index.ts';
import { type Log, realFiles } from '../../../core/ports/index.ts';
import { type Disk, toStem } from '../../../core/state/index.ts';
import { isWaking } from '../../follow/index.ts';
import { openCursor, type TailCursor } from '../tail-cursor.ts';
import { readChangedAt } from './system.node.ts';

/** Events of a persona's event file that its session was not shown yet. */
export interface WaitingEvents {
  /** As items of priority 2, in the order of the file. */
  readonly items: readonly Item[];
  /**
   * Marks the first `count` events as shown; they do not come again in this session. @throws Fault `unwritable` or `no-space`
   */
  acknowledge(count: number): void;
}

/** How many events a persona gets at first, when none of its sessions was shown any. */
const FIRST = 20;
/** How many lines that wake nobody are skipped in one call. */
const AHEAD = 5000;
const LONGEST = 1000;
const ENDING = '.events.json';

/**
 * Reads the waiting events of a persona of another source, from the position that is stored for the session
 * (docs/contract/hooks.md). A new session begins at the persona's newest position.
 * @throws Fault `unreadable`, or the file system's error
 */
export function readWaitingEvents(
  disk: Disk,
  state: string,
  folder: string,
  reader: { readonly persona: string; readonly session: string },
  most: number,
  now: Instant,
): WaitingEvents {
  const path = join(state, 'events', `events.${toStem(reader.persona)}.ndjson`);
  const at = join(folder, `${toStem(reader.session)}${ENDING}`);
  const own = openHookCursor(disk, at, reader.persona);
  const newest = own.isStored ? null : findNewest(disk, folder);
  const from = newest === null ? own : openHookCursor(disk, newest, reader.persona);
  const { follower, lostAfter } = begin(path, from);
  using _ = follower;
  const gap = lostAfter === null ? [] : [{ item: createGapItem(reader.persona, lostAfter, now), upTo: null }];
  const entries: { item: Item; upTo: FollowedLine | null }[] = [...gap];
  let passed: FollowedLine | null = null;
  for (let read = 0; entries.length < most && read < AHEAD; ) {
    const next = follower.next();
    if (next.is === 'end') break;
    if (next.is === 'gap') {
      entries.push({ item: createGapItem(reader.persona, next.after, now), upTo: null });
      continue;
    }
    read += next.lines.length + next.foreign;
    for (const line of next.lines) {
      const last = entries.at(-1);
      if (isWaking(line.event, { diagnostics: true })) {
        if (entries.length >= most) break;
        entries.push({ item: toItem(line.event, reader.persona, now), upTo: line });
      } else if (last === undefined) passed = line;
      else last.upTo = line;
    }
  }
  return {
    items: entries.map(({ item }) => item),
    acknowledge(count) {
      const upTo = entries.slice(0, count).findLast((entry) => entry.upTo !== null)?.upTo ?? passed;
      if (upTo !== null) own.save(upTo);
    },
  };
}

function openHookCursor(disk: Disk, path: string, persona: string): TailCursor {
  return openCursor(disk, path, persona, 'hivebar hook');
}

/** Finds the position that a session of this persona moved last. */
function findNewest({ files }: Disk, folder: string): string | null {
  if (files.lstat(folder)?.kind !== 'directory') return null;
  const names = files.readdir(folder).filter((name) => name.endsWith(ENDING));
  const aged = names.map((name) => join(folder, name)).map((path) => ({ path, at: readChangedAt(path) }));
  return aged.toSorted((a, b) => b.at - a.at)[0]?.path ?? null;
}

function begin(
  path: string,
  { position }: TailCursor,
): { readonly follower: EventFollower; readonly lostAfter: string | null } {
  const from = position === null ? ({ is: 'last', events: FIRST } as const) : ({ is: 'after', ...position } as const);
  const opened = openFollower(realFiles, path, from);
  if (opened.is === 'open') return { follower: opened.follower, lostAfter: null };
  const oldest = openFollower(realFiles, path, { is: 'oldest' });
  if (oldest.is !== 'open') throw new Error(`cannot find the first event of ${path}`);
  return { follower: oldest.follower, lostAfter: position?.eventId ?? null };
}

const COVERED_FIELDS: ReadonlySet<string> = new Set([
  ...['event', 'source', 'ts', 'id', 'from', 'created', 'persona', 'content', 'event_id', 'wake_class', 'self'],
  ...['nonce', 'emitted', 'origin', 'subject'],
]);

/** Converts an event to an item for the frame. A time that cannot be parsed is not guessed. */
function toItem(event: Event, persona: string, now: Instant): Item {
  const createdAt = parseIso(isMail(event) ? String(event.created) : event.ts) ?? parseIso(event.ts);
  const base = createBlank(persona, createdAt ?? now);
  const otherFields = Object.fromEntries(Object.entries(event).filter(([key]) => !COVERED_FIELDS.has(key)));
  if (isMail(event)) {
    const { subject } = readMailExtras(event);
    const body = event.content ?? 'new mail; its text is in the inbox of its own system';
    const text = subject === '' ? body : `${subject}: ${body}`;
    const content = event.event === 'new' ? text : `${event.event} ${JSON.stringify(otherFields)}: ${text}`; // names the work
    return {
      ...base,
      id: event.id,
      type: 'mail',
      source: event.from === null ? 'unknown' : String(event.from),
      content: clipText(content),
    };
  }
  return {
    ...base,
    type: 'alert',
    source: event.source,
    content: clipText(`${event.event}: ${JSON.stringify(otherFields)}`),
  };
}

function createGapItem(persona: string, after: string | null, now: Instant): Item {
  const content = `events${after === null ? '' : ` after ${after}`} may be missing: their file was rotated away unread`;
  return { ...createBlank(persona, now), type: 'alert', source: 'hivebar', content: clipText(content) };
}

function createBlank(persona: string, created: Instant): Omit<Item, 'type' | 'source' | 'content'> {
  return {
    ...{ id: 0, persona, priority: 2, session: null, created, expires: null, dedupKey: '', isBroadcast: false },
    ...{ origin: null, read: null, delivered: null },
  };
}

/** Cuts in whole code points. */
function clipText(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${[...text.slice(0, LONGEST)].slice(0, -1).join('')} [cut: the whole text is in the inbox of its own system]`;
}

/** Returns the events; on an error none. Nothing is lost, because the position stays. */
export function readOrNone(read: () => WaitingEvents, log: Log): WaitingEvents {
  try {
    return read();
  } catch (error) {
    log.warn(
      `cannot read the event file, the next hook tries again: ${error instanceof Error ? error.message : String(error)}`,
    );
    return { items: [], acknowledge: () => {} };
  }
}
