import { join } from 'node:path';
import { toFault } from '../../model/index.ts';
import type { Files, Log } from '../../ports/index.ts';
import { createRefusal } from '../../state/index.ts';
import type { StoreDefect } from '../defect-log.ts';
import { cut, sanitizeText } from '../text.ts';
import {
  type AgentInbox,
  type Cursor,
  createAgentMailReader,
  createJournalReader,
  type JournalView,
  readBases,
  readConfig,
} from './read/index.ts';
import { createItemMaker, type Work } from './source-items.ts';

export interface StoreReaderOptions {
  /** The `.brainclaw` directory itself. */
  readonly store: string;
  /** Only the operations that read are called. */
  readonly files: Files;
  readonly log: Log;
  readonly contentChars: number | null;
  readonly mail: boolean;
  readonly cursor: { load(): Cursor | null };
}

/** A store as it was read last. Unchanged parts are the same objects as before. */
export interface StoreSnapshot {
  /** Null: the journal is off. */
  readonly view: JournalView | null;
  /** Null in the same case. */
  readonly work: Work | null;
  /** Null when mail is switched off, or its directory does not exist. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
  readonly journal: JournalName;
}

/** Identifies a journal. */
export interface JournalName {
  /** The identity of the first record at the first read in this process; null while the journal has no record. */
  readonly identity: string | null;
  /** The journal is the one that an earlier run read, whatever name that run gave it. */
  readonly isContinued: boolean;
}

/** Reads a store, and then what changes in it. */
export interface StoreReader {
  /**
   * @param agents only their inboxes are read again; the others are as they were read last. Undefined: all
   * @throws Fault `unreadable` when there is neither a journal nor mail, or the disk fails
   */
  refresh(agents?: ReadonlySet<string>): StoreSnapshot;
  readonly last: StoreSnapshot | null;
  /** Problems with files of the store. */
  readonly defects: readonly StoreDefect[];
}

const NO_NAME: JournalName = { identity: null, isContinued: false };

export function createStoreReader({
  store,
  files,
  log,
  contentChars,
  mail: isMailEnabled,
  cursor,
}: StoreReaderOptions): StoreReader {
  const events = join(store, 'events');
  const findBases = (first: number) =>
    readBases(files, join(events, 'checkpoints'), readConfig(files, join(store, 'config.yaml')).projectId, first);
  const journal = createJournalReader(files, events, { saved: loadCursor(cursor, log), bases: findBases });
  const shorten = (text: string): string => cut(sanitizeText(text), contentChars ?? 0);
  const mail = isMailEnabled ? createAgentMailReader(files, join(store, 'coordination', 'inbox'), shorten) : null;
  const { toWork } = createItemMaker(contentChars);
  let last: StoreSnapshot | null = null;
  /** Null before the journal was ever read. */
  let name: JournalName | null = null;

  /** A journal that is read from its start again keeps its name while it is the same journal (brainclaw contract 9). */
  function toJournalName(view: JournalView, isReplayed: boolean): JournalName {
    const { identity } = view.replay;
    const isSame = !isReplayed || view.continuity === 'same';
    if (name !== null && isSame) return name.identity === null ? { ...name, identity } : name;
    return { identity, isContinued: isSame };
  }

  return {
    refresh(agents) {
      const done = journal.refresh();
      const inboxes = mail?.read(agents) ?? null;
      const { view } = journal;
      if (view === null && inboxes === null) {
        const missing = mail === null ? 'no journal, and mail is not to be read' : 'neither a journal nor an inbox';
        throw createRefusal(store, `has ${missing}`, 'unreadable');
      }
      const before = last;
      const isSame = before !== null && (done.is === 'same' || (done.is === 'off' && before.view === null));
      if (isSame && areSameInboxes(before.mail, inboxes)) return before;
      if (isSame) last = { ...before, mail: inboxes };
      else if (view === null) last = { view, work: null, mail: inboxes, journal: name ?? NO_NAME };
      else {
        name = toJournalName(view, done.is === 'replayed');
        last = { view, work: toWork(view.replay.projection), mail: inboxes, journal: name };
      }
      return last;
    },
    get last() {
      return last;
    },
    get defects() {
      const { view = null, mail: inboxes = null } = last ?? {};
      return [
        ...(view?.segments ?? []).flatMap(({ name, unreadable }) =>
          unreadable === null ? [] : [{ filename: `events/${name}`, message: unreadable }],
        ),
        ...(view?.refusedBases ?? []).map(({ name, why }) => ({
          filename: `events/checkpoints/${name}`,
          message: why,
        })),
        ...[...(inboxes?.values() ?? [])].flatMap(({ agent, bad }) =>
          bad.map(({ name, why }) => ({ filename: `coordination/inbox/${agent}/${name}`, message: why })),
        ),
      ];
    },
  };
}

/** An inbox in which nothing changed is the same object. */
function areSameInboxes(a: StoreSnapshot['mail'], b: StoreSnapshot['mail']): boolean {
  if (a === null || b === null) return a === b;
  if (a.size !== b.size) return false;
  for (const [agent, inbox] of b) if (a.get(agent) !== inbox) return false;
  return true;
}

/** Without a cursor it is less certain which journal this is, but that is no reason not to read it. */
function loadCursor(cursor: StoreReaderOptions['cursor'], log: Log): Cursor | null {
  try {
    return cursor.load();
  } catch (error) {
    log.warn(`brainclaw: ${toFault(error, { is: 'source', key: 'brainclaw' }).explain()}`);
    return null;
  }
}
