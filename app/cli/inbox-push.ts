import {
  type Addressee,
  type Items,
  type NewItem,
  type Pushed,
  parsePriority,
  parseTtl,
  parseType,
} from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { type Database, ownDirs } from '../../core/state/index.ts';
import { handOverEnded, namedSessions } from '../hook/index.ts';
import { keptSessions, type Session } from '../open/index.ts';
import { printable, printableJson } from '../printable.ts';
import type { Io } from './command.ts';
import type { InboxArgs, InboxFlags } from './inbox-args.ts';
import { findOwnPersona, personaOfSession } from './inbox-who.ts';
import { usage } from './outcome.ts';
import { lifeHere } from './session-surroundings.node.ts';
import { withItems } from './with-items.ts';

/** With `--json`, of what was there already. */
const WAS_THERE = 3;

/** Stores one item, and says which id it has. */
export async function push({ words, flags }: InboxArgs, io: Io): Promise<number> {
  const target = targetOf(flags);
  const item = itemOf(flags, io);
  const content = words.length > 0 ? words.join(' ') : (await io.input()).replace(/\r?\n$/, '');
  if (content === '') throw usage(new Error('there is no text: give it as an argument or on stdin'));
  const done = await withItems(io, 'changes', (items, db) => {
    const to = addresseeOf(target, db, ownDirs({ ...io.env }).config);
    const [pushed] = to === null ? [] : items.push([{ ...item, to, content }]);
    if (to === null || pushed === undefined) return null;
    const { session } = item;
    const state = to.is === 'persona' && session !== null ? stateOf(items, db, to.name, session, io) : 'live';
    return { to, pushed, state };
  });
  if (done === null) {
    const session = printable(item.session ?? '');
    io.err(
      `hivebar inbox: nobody is known to work in session ${session}: give --to too, or see hivebar session list\n`,
    );
    return 1;
  }
  const { pushed, to, state } = done;
  if (state === 'unknown') {
    const whose = to.is === 'persona' ? printable(to.name) : 'everyone';
    io.err(
      `hivebar inbox: nobody announced session ${printable(item.session ?? '')}: the item waits for it, and goes to any session of ${whose} after a day\n`,
    );
  }
  if (flags.json === true) {
    const { id, dedupKey, isNew } = pushed;
    const told = { id, persona: to.is === 'persona' ? to.name : null, session: item.session, dedupKey, new: isNew };
    io.out(`${printableJson(JSON.stringify(told))}\n`);
    return isNew ? 0 : WAS_THERE;
  }
  const isOver = state === 'over' ? ', which is over: the next session is shown it' : '';
  io.out(`${answerOf(pushed, to, item.session)}${isOver}\n`);
  return 0;
}

/** What became of the session that an item was just pushed for. What waits for one that is over goes to its persona. */
function stateOf(items: Items, db: Database, persona: string, session: string, io: Io): 'live' | 'over' | 'unknown' {
  const sessions = keptSessions(db);
  const { config } = ownDirs({ ...io.env });
  const named = namedSessions(sessions.all(), config).filter((one) => one.id === session && one.persona === persona);
  if (named.length === 0) return 'unknown';
  const isGone = (one: Session): boolean => lifeHere(one.runner) === 'gone';
  if (!named.every((one) => one.endedAt !== null || isGone(one))) return 'live';
  handOverEnded({ items, sessions: () => sessions, config, now: realClock.now(), isGone });
  return 'over';
}

function answerOf({ id, isNew, dedupKey }: Pushed, to: Addressee, session: string | null): string {
  const whom = to.is === 'everyone' ? 'everyone' : printable(to.name);
  if (!isNew) return `${id} for ${whom} was there already (${printable(dedupKey)})`;
  return `pushed ${id} to ${whom}${session === null ? '' : `, session ${printable(session)}`}`;
}

/** A session by itself is one whose persona is still to be found. */
type Target = Addressee | { readonly is: 'session'; readonly id: string };

function targetOf({ to, bead, session, broadcast }: InboxFlags): Target {
  const names = [to, bead].filter((name) => name !== undefined);
  const [name] = names;
  if (names.length > 1) throw usage(new Error('give only one of --to and --bead'));
  if (broadcast === true) {
    if (name !== undefined || session !== undefined)
      throw usage(new Error('--broadcast is for all: leave the others out'));
    return { is: 'everyone' };
  }
  if (name === '' || session === '') throw usage(new Error('who gets it? --to, --bead and --session need a value'));
  if (name !== undefined) return { is: 'persona', name };
  if (session !== undefined) return { is: 'session', id: session };
  throw usage(new Error('who gets it? Give --to PERSONA, --session ID or --broadcast'));
}

/** Null: nobody announced that session. */
function addresseeOf(target: Target, db: Database, config: string): Addressee | null {
  if (target.is !== 'session') return target;
  const name = personaOfSession(db, target.id, config);
  return name === null ? null : { is: 'persona', name };
}

function itemOf(flags: InboxFlags, io: Io): Omit<NewItem, 'to' | 'content'> {
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
