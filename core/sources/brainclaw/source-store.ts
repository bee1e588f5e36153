import { join } from 'node:path';
import { faultOf } from '../../model/index.ts';
import type { Files, Log } from '../../ports/index.ts';
import { refusal } from '../../state/index.ts';
import type { StoreDefect } from '../defect-log.ts';
import { cleaned, cut } from '../text.ts';
import {
  type AgentInbox,
  basesIn,
  type Cursor,
  keepAgentMail,
  keepJournal,
  readConfig,
  type View,
} from './read/index.ts';
import { itemMaker, type Work } from './source-items.ts';

export interface StoreOptions {
  /** `.brainclaw` itself. */
  readonly store: string;
  /** Nothing of it is called but what reads. */
  readonly files: Files;
  readonly log: Log;
  readonly contentChars: number | null;
  readonly mail: boolean;
  readonly cursor: { load(): Cursor | null };
}

/** A store as it was read last. What is the same as before is the same object. */
export interface Seen {
  /** Null: the journal is off. */
  readonly view: View | null;
  /** Likewise. */
  readonly work: Work | null;
  /** Null: mail is switched off, or there is no directory for it. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
  readonly journal: JournalName;
}

/** Which journal it is. */
export interface JournalName {
  /** Of the first record there was when it was read for the first time here; null: it has none yet. */
  readonly identity: string | null;
  /** It is the one that an earlier run read, whatever that called it. */
  readonly isTold: boolean;
}

/** Reads a store, and then what changes in it. */
export interface Store {
  /**
   * @param of inboxes that are looked into; of others it knows what was seen last. Undefined: all
   * @throws Fault `unreadable` when there is neither a journal nor mail, or the disk does not let it
   */
  refresh(of?: ReadonlySet<string>): Seen;
  readonly last: Seen | null;
  /** What is wrong with files of it. */
  readonly defects: readonly StoreDefect[];
}

const NO_NAME: JournalName = { identity: null, isTold: false };

export function keepStore({ store, files, log, contentChars, mail: isMailWanted, cursor }: StoreOptions): Store {
  const events = join(store, 'events');
  const bases = (first: number) =>
    basesIn(files, join(events, 'checkpoints'), readConfig(files, join(store, 'config.yaml')).projectId, first);
  const journal = keepJournal(files, events, { saved: savedIn(cursor, log), bases });
  const shorten = (text: string): string => cut(cleaned(text), contentChars ?? 0);
  const mail = isMailWanted ? keepAgentMail(files, join(store, 'coordination', 'inbox'), shorten) : null;
  const { workOf } = itemMaker(contentChars);
  let last: Seen | null = null;
  /** Null before it was ever read. */
  let name: JournalName | null = null;

  /** A journal that is read from its start again keeps its name while it is the same (brainclaw contract 9). */
  function named(view: View, isReplayed: boolean): JournalName {
    const { identity } = view.replay;
    const isSame = !isReplayed || view.continuity === 'same';
    if (name !== null && isSame) return name.identity === null ? { ...name, identity } : name;
    return { identity, isTold: isSame };
  }

  return {
    refresh(of) {
      const done = journal.refresh();
      const inboxes = mail?.look(of) ?? null;
      const { view } = journal;
      if (view === null && inboxes === null) {
        const what = mail === null ? 'no journal, and mail is not to be read' : 'neither a journal nor an inbox';
        throw refusal(store, `has ${what}`, 'unreadable');
      }
      const before = last;
      const isSame = before !== null && (done.is === 'same' || (done.is === 'off' && before.view === null));
      if (isSame && sameInboxes(before.mail, inboxes)) return before;
      if (isSame) last = { ...before, mail: inboxes };
      else if (view === null) last = { view, work: null, mail: inboxes, journal: name ?? NO_NAME };
      else {
        name = named(view, done.is === 'replayed');
        last = { view, work: workOf(view.replay.projection), mail: inboxes, journal: name };
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
function sameInboxes(a: Seen['mail'], b: Seen['mail']): boolean {
  if (a === null || b === null) return a === b;
  if (a.size !== b.size) return false;
  for (const [agent, inbox] of b) if (a.get(agent) !== inbox) return false;
  return true;
}

/** Without a cursor it can only be said less surely which journal it is: no reason not to read it. */
function savedIn(cursor: StoreOptions['cursor'], log: Log): Cursor | null {
  try {
    return cursor.load();
  } catch (error) {
    log.warn(`brainclaw: ${faultOf(error, { is: 'source', key: 'brainclaw' }).explain()}`);
    return null;
  }
}
