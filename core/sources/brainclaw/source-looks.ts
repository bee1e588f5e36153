import { type Count, exactly, type Known, UNKNOWN, VITAL_NOT_REPORTED, type Vital } from '../../model/index.ts';
import type { SetItem } from '../set.ts';
import type { Mark } from '../source.ts';
import { type AgentInbox, isActionable, remarksOn, type Seed, type View } from './read/index.ts';
import { asKnown, messageIdOf, messageItem } from './source-items.ts';
import type { Seen } from './source-store.ts';

/** What one persona of a project has of it. While it is the same object there is nothing new for that persona. */
export interface Share {
  /** Null: not known, since the journal is off. */
  readonly work: readonly SetItem[] | null;
  /** Null: it has none, or mail is not known. */
  readonly inbox: AgentInbox | null;
  /** Whether its mail is known. */
  readonly hasMail: boolean;
  /** Of the board; that of an agent is of its inbox. */
  readonly unread: Count;
  readonly vital: Vital;
}

/** What is said to a watch of it. */
export interface Said {
  readonly epoch: string;
  readonly items: readonly SetItem[];
  readonly unread: Count;
  readonly vital: Vital;
  /** The set is another one than the watch knows: what it holds is adopted without a word, so mail waits for the next look. */
  readonly isOther: boolean;
  /** Some of it is as it was, since it could not be seen: known things that are not there now. */
  readonly isKept: boolean;
  /** A file that was not listed is there all the same. */
  readonly isMissed: boolean;
}

const NO_JOURNAL = 'none';
const PARTIAL = ':partial';

/**
 * Names what a watch is told of: the journal, and whether it is known to hold everything. What was not in it then and is
 * now, or the other way, is no news (brainclaw contract 4). While the journal is off it is the one of before.
 */
function epochOf({ view, journal: { identity, isTold } }: Seen, from: Mark): string {
  const told = from.is === 'known' ? from.epoch : NO_JOURNAL;
  if (view === null || identity === null) return told;
  const base = isTold && told !== NO_JOURNAL ? told.replace(PARTIAL, '') : identity;
  return isWhole(view) ? base : `${base}${PARTIAL}`;
}

const isWhole = ({ isComplete, replay }: View): boolean => isComplete && replay.projection.registryAuthoritative;

export function boardShare({ view, work }: Seen, seed: Seed | null): Share {
  const [remark] = remarksOn(view);
  const isSeeded = view === null && (seed?.actions ?? null) !== null;
  const vital: Vital = remark === undefined ? VITAL_NOT_REPORTED : { is: 'unknown', why: isSeeded ? 'seeded' : remark };
  return { work: work?.board ?? null, inbox: null, hasMail: false, unread: boardUnread(view, work, seed), vital };
}

/** Before the registry is in the journal its numbers are too low (brainclaw contract 4). */
function boardUnread(view: View | null, work: Seen['work'], seed: Seed | null): Count {
  const asked = seed?.actions ?? null;
  if (view === null || work === null) return asked === null ? UNKNOWN : exactly(asked);
  const n = work.board.length;
  if (view.replay.projection.registryAuthoritative) return exactly(n);
  return { is: 'atLeast', n: Math.max(n, asked ?? 0) };
}

export function agentShare({ work, mail }: Seen, agent: string): Share {
  const inbox = mail?.get(agent) ?? null;
  const bad = inbox?.bad.length ?? 0;
  const vital: Vital = bad === 0 ? VITAL_NOT_REPORTED : { is: 'unknown', why: `skipped=${bad}` };
  return {
    work: work === null ? null : (work.agents.get(agent) ?? []),
    ...{ inbox, hasMail: mail !== null, unread: UNKNOWN, vital },
  };
}

export function sameShare(a: Share, b: Share): boolean {
  return (
    sameItems(a.work, b.work) &&
    a.inbox === b.inbox &&
    a.hasMail === b.hasMail &&
    a.unread.is === b.unread.is &&
    (a.unread.is === 'unknown' || (b.unread.is !== 'unknown' && a.unread.n === b.unread.n)) &&
    a.vital.is === b.vital.is &&
    a.vital.why === b.vital.why
  );
}

/** One that is the same is the same object. */
function sameItems(a: Share['work'], b: Share['work']): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

export function boardSaid(seen: Seen, { work, unread, vital }: Share, from: Mark): Said {
  const epoch = epochOf(seen, from);
  const keys = keysOf(from);
  const isKept = work === null || seen.journal.identity === null;
  const items = isKept ? keys.map(asKnown) : work;
  return {
    epoch,
    items,
    unread,
    vital,
    isOther: isOther(from, epoch),
    isKept: isKept && keys.length > 0,
    isMissed: false,
  };
}

export interface AgentRules {
  /** False: the mail of agents is not to be read. */
  readonly mail: boolean;
  readonly withContent: boolean;
  /** Whether the file of a message is there, though no listing has it. */
  readonly isThere: (id: string) => boolean;
}

export function agentSaid(seen: Seen, share: Share, from: Mark, rules: AgentRules): Said {
  const epoch = epochOf(seen, from);
  const isNew = isOther(from, epoch);
  const keys = keysOf(from);
  const ofMail = keys.filter((known) => messageIdOf(known) !== null);
  const ofWork = keys.filter((known) => messageIdOf(known) === null);
  const isWorkKept = share.work === null || seen.journal.identity === null;
  const work = isWorkKept ? ofWork.map(asKnown) : (share.work ?? []);
  const mail = share.hasMail ? mailSaid(share.inbox, ofMail, rules) : { items: ofMail.map(asKnown), missed: [] };
  const pending = (share.inbox?.pending ?? 0) + mail.missed.filter(({ mark }) => mark === 'pending').length;
  const isUnknown = !share.hasMail && (!rules.mail || ofMail.length > 0);
  return {
    epoch,
    items: [...(isNew ? ofMail.map(asKnown) : mail.items), ...work],
    unread: isUnknown ? UNKNOWN : exactly(pending),
    vital: share.vital,
    isOther: isNew,
    isKept: (isWorkKept && ofWork.length > 0) || (!share.hasMail && ofMail.length > 0),
    isMissed: mail.missed.length > 0,
  };
}

/**
 * The messages of an inbox. One that was told is not gone while its file is there, unreadable as it may be while it is
 * written, or listed under neither name while it is renamed.
 */
function mailSaid(inbox: AgentInbox | null, known: readonly Known[], { withContent, isThere }: AgentRules) {
  const items = (inbox?.messages ?? []).map((message) => messageItem(message, isActionable(message), withContent));
  const listed = new Set(items.map(({ key }) => key));
  const bad = new Set(inbox?.bad.map(({ name }) => name));
  const missed: Known[] = [];
  for (const one of known) {
    if (listed.has(one.key)) continue;
    const id = messageIdOf(one) ?? '';
    if (!bad.has(`${id}.json`)) {
      if (!isThere(id)) continue;
      missed.push(one);
    }
    items.push(asKnown(one));
  }
  return { items, missed };
}

function keysOf(from: Mark): readonly Known[] {
  return from.is === 'known' ? from.keys : [];
}

function isOther(from: Mark, epoch: string): boolean {
  return from.is === 'known' && from.epoch !== epoch;
}
