import { type Io, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import {
  type Addressee,
  type Items,
  type NewItem,
  type PushResult,
  parsePriority,
  parseTtl,
  parseType,
} from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { type Database, findOwnDirs } from '../../core/state/index.ts';
import { handOverEnded, toNamedSessions } from '../hook/index.ts';
import { openSessionStore, type Session } from '../open/index.ts';
import type { InboxValues } from './inbox-schema.ts';
import { runWithItems } from './open-local-hive.ts';
import { findOwnPersona, findPersonaOfSession } from './persona-lookup.ts';
import { findRunnerLife } from './session-surroundings.node.ts';

/** Exit code with `--json` when the item was already there. */
const WAS_THERE = 3;

type PushFlags = Omit<InboxValues<'push'>, 'words'>;

/** Stores one item, and prints its id. */
export async function push({ words, ...flags }: InboxValues<'push'>, io: Io): Promise<number> {
  const target = parseTarget(flags);
  const item = toNewItem(flags, io);
  const content = words.length > 0 ? words.join(' ') : (await io.input()).replace(/\r?\n$/, '');
  if (content === '') throw toUsageFault(new Error('there is no text: give it as an argument or on stdin'));
  const done = await runWithItems(io, 'changes', (items, db) => {
    const to = findAddressee(target, db, findOwnDirs({ ...io.env }).config);
    const [pushed] = to === null ? [] : items.push([{ ...item, to, content }]);
    if (to === null || pushed === undefined) return null;
    const { session } = item;
    const state = to.is === 'persona' && session !== null ? findSessionState(items, db, to.name, session, io) : 'live';
    return { to, pushed, state };
  });
  if (done === null) {
    const session = displayName(item.session ?? '');
    io.err(`hivebar inbox: no persona is known for session ${session}: give --to too, or see hivebar session list\n`);
    return 1;
  }
  const { pushed, to, state } = done;
  if (state === 'unknown') {
    const whose = to.is === 'persona' ? displayName(to.name) : 'everyone';
    io.err(
      `hivebar inbox: nobody announced session ${displayName(item.session ?? '')}: the item waits for it, and goes to any session of ${whose} after a day\n`,
    );
  }
  if (flags.json) {
    const { id, dedupKey, isNew } = pushed;
    const result = { id, persona: to.is === 'persona' ? to.name : null, session: item.session, dedupKey, new: isNew };
    io.out(`${displayJson(JSON.stringify(result))}\n`);
    return isNew ? 0 : WAS_THERE;
  }
  const isOver = state === 'over' ? ', which is over: the next session is shown it' : '';
  io.out(`${formatAnswer(pushed, to, item.session)}${isOver}\n`);
  return 0;
}

/**
 * Returns the state of the session that an item was just pushed for. When the session is over, its waiting items go to its
 * persona.
 */
function findSessionState(
  items: Items,
  db: Database,
  persona: string,
  session: string,
  io: Io,
): 'live' | 'over' | 'unknown' {
  const sessions = openSessionStore(db);
  const { config } = findOwnDirs({ ...io.env });
  const named = toNamedSessions(sessions.listAll(), config).filter(
    (entry) => entry.id === session && entry.persona === persona,
  );
  if (named.length === 0) return 'unknown';
  const isGone = (entry: Session): boolean => findRunnerLife(entry.runner) === 'gone';
  if (!named.every((entry) => entry.endedAt !== null || isGone(entry))) return 'live';
  handOverEnded({ items, sessions: () => sessions, config, now: realClock.now(), isGone });
  return 'over';
}

function formatAnswer({ id, isNew, dedupKey }: PushResult, to: Addressee, session: string | null): string {
  const whom = to.is === 'everyone' ? 'everyone' : displayName(to.name);
  if (!isNew) return `${id} for ${whom} was there already (${displayName(dedupKey)})`;
  return `pushed ${id} to ${whom}${session === null ? '' : `, session ${displayName(session)}`}`;
}

/** A target that is only a session needs a look-up of its persona. */
type PushTarget = Addressee | { readonly is: 'session'; readonly id: string };

function parseTarget({ to, bead, session, broadcast }: PushFlags): PushTarget {
  const names = [to, bead].filter((name) => name !== undefined);
  const [name] = names;
  if (names.length > 1) throw toUsageFault(new Error('give only one of --to and --bead'));
  if (broadcast) {
    if (name !== undefined || session !== undefined)
      throw toUsageFault(new Error('--broadcast is for all: leave the others out'));
    return { is: 'everyone' };
  }
  if (name === '' || session === '')
    throw toUsageFault(new Error('who gets it? --to, --bead and --session need a value'));
  if (name !== undefined) return { is: 'persona', name };
  if (session !== undefined) return { is: 'session', id: session };
  throw toUsageFault(new Error('who gets it? Give --to PERSONA, --session ID or --broadcast'));
}

/** Null: nobody announced that session. */
function findAddressee(target: PushTarget, db: Database, config: string): Addressee | null {
  if (target.is !== 'session') return target;
  const name = findPersonaOfSession(db, target.id, config);
  return name === null ? null : { is: 'persona', name };
}

function toNewItem(flags: PushFlags, io: Io): Omit<NewItem, 'to' | 'content'> {
  const created = Math.floor(realClock.now());
  return {
    type: parseType('--type', flags.type ?? 'agent'),
    source: flags.source ?? findOwnPersona(io) ?? 'cli',
    priority: parsePriority('--priority', flags.priority ?? '2'),
    session: flags.session ?? null,
    created,
    expires: flags.ttl === undefined ? null : created + parseTtl('--ttl', flags.ttl),
    dedupKey: flags['dedup-key'] ?? null,
  };
}
