import { join } from 'node:path';
import { type Command, type Io, parseCommandLine, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import { type DrainLease, type DrainText, drain, lend, MAX_TEXT } from '../../core/inbox/drain/index.ts';
import {
  type Addressee,
  findAddressee,
  type Items,
  openItems,
  openLocalHive,
  type PushResult,
  parsePush,
  toItemJson,
  toPushedJson,
} from '../../core/inbox/index.ts';
import { toFault } from '../../core/model/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { findPersonaOfSession, handOverEnded, refuseMisspelled, toNamedSessions } from '../hook/index.ts';
import { openSessionStore, type Session } from '../open/index.ts';
import { findOwnPersona } from './caller-persona.ts';
import { explain } from './help.ts';
import { listItems, listMail, parseListFilter, readMail, showMail } from './inbox-list.ts';
import { INBOX_SCHEMA, type InboxValues } from './inbox-schema.ts';
import { searchMail } from './inbox-search.ts';
import { createLineOutput } from './nonblocking-io.node.ts';
import { DATABASE, runWithItems, tellTray } from './open-local-hive.ts';
import { createStderrLog } from './process.node.ts';
import { createTakeOver } from './queue-takeover.ts';
import { CREATE } from './send.ts';
import { findRunnerLife } from './session-surroundings.node.ts';

const LIMIT = 20;

export const command: Command = {
  schema: INBOX_SCHEMA,
  async run(args, io) {
    const parse = (): InboxValues => parseCommandLine(INBOX_SCHEMA, args);
    if (args.find((arg) => !arg.startsWith('-')) === 'drain') return await runSafely(parse, io);
    return await run(parse(), io);
  },
};

/** Hooks run `drain`: neither an error of ours nor a wrong command line may stop the agent. */
async function runSafely(parse: () => InboxValues, io: Io): Promise<number> {
  try {
    const values = parse();
    if (values.verb === 'drain') await runDrain(values, io);
  } catch (error) {
    const fault = toFault(error, { is: 'machine', key: 'inbox' });
    io.err(
      fault.code === 'internal'
        ? `hivebar inbox drain: ${displayName(fault.explain())}\n`
        : explain('inbox', fault).text,
    );
  }
  return 0;
}

async function run(values: InboxValues, io: Io): Promise<number> {
  switch (values.verb) {
    case 'push':
      return await push(values, io);
    case 'drain':
      return await runSafely(() => values, io);
    case 'show':
      return await showMail(io, values.persona, values.ids, values.json);
    case 'read':
      return await readMail(io, values.persona, values.ids, values.json);
    case 'search':
      return await searchMail(io, values.words.join(' '), values.limit ?? LIMIT, values.json);
    case 'list': {
      const { limit = LIMIT, json } = values;
      const persona = values.persona ?? findOwnPersona(io);
      if (persona === null || persona === '')
        throw toUsageFault(new Error('inbox list: PERSONA is missing: use the name of a persona'));
      const filter = parseListFilter(values);
      return await (filter === null ? listMail(io, persona, limit, json) : listItems(io, persona, filter, limit, json));
    }
  }
}

/**
 * A session waits for a drain, so all of it must end within a second. Items that are not written in time are released, and come
 * with the next drain.
 */
const LEASE_WAIT_MS = 400;
const WRITE_UNTIL_MS = 700;
const COMMIT_WAIT_MS = 200;
const TRAY_WAIT_MS = 100;

/**
 * Prints the pending items of a persona, and marks them as delivered once they were written (inbox and gates, contract 3). It
 * prints nothing when there is nothing pending, or no persona is known.
 * @throws Fault; the caller exits with 0 all the same
 */
async function runDrain(values: InboxValues<'drain'>, io: Io): Promise<void> {
  const until = realClock.monotonic() + WRITE_UNTIL_MS;
  const log = createStderrLog(io, 'hivebar inbox drain');
  const session = values.session || null;
  const { state, config } = findOwnDirs({ ...io.env });
  using db = openStore(join(state, DATABASE), { log });
  setBusyTimeout(db, LEASE_WAIT_MS);
  const persona =
    values.persona ??
    (session === null ? findOwnPersona(io) : findPersonaOfSession(openSessionStore(db), session, config));
  if (persona === null || persona === '') {
    if (session !== null) log.warn(`session ${session} has no persona: see hivebar session list`);
    return;
  }
  const items = openItems({ db, clock: realClock });
  handOverEnded({ items, sessions: () => openSessionStore(db), config, now: realClock.now(), isGone: () => false });
  const needs = { items, takeOver: createTakeOver(db, { state, config }, items, log), clock: realClock, log };
  const request = { persona, session, upTo: 4, room: MAX_TEXT } as const;
  const output = values.json ? toJsonOutput(lend(needs, request)) : toTextOutput(drain(needs, request));
  if (output === null) return;
  const failure = await writeOutput(output.text, until);
  setBusyTimeout(db, COMMIT_WAIT_MS);
  if (failure !== null) {
    output.release();
    log.warn(`nothing was marked as delivered: ${failure}`);
    return;
  }
  output.commit();
  await tellTray(io, TRAY_WAIT_MS);
}

interface DrainOutput {
  readonly text: string;
  commit(): void;
  release(): void;
}

function toTextOutput(drained: DrainText | null): DrainOutput | null {
  return drained === null ? null : { ...drained, text: `${drained.text}\n` };
}

/** Formats whole items, however long they are: scripts have no limit of characters. */
function toJsonOutput(lent: DrainLease | null): DrainOutput {
  const json = JSON.stringify({ items: lent?.items.map(toItemJson) ?? [], left: lent?.left ?? 0 });
  return {
    text: `${displayJson(json)}\n`,
    commit: () => lent?.commit(lent.items),
    release: () => lent?.release(),
  };
}

/** Writes the text. Returns why that failed; null when all of it was written. */
async function writeOutput(text: string, until: number): Promise<string | null> {
  const late = new AbortController();
  using _ = realClock.after(Math.max(0, until - realClock.monotonic()), () => late.abort());
  try {
    const became = await createLineOutput().write(text, late.signal);
    if (became === 'written') return null;
    return became === 'stopped' ? 'the reader of stdout does not read' : 'the reader of stdout is gone';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Sets how long a statement may wait for another process's transaction. */
function setBusyTimeout(db: Database, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`);
}

/** Exit code with `--json` when the item was already there. */
const WAS_THERE = 3;

type PushFlags = Omit<InboxValues<'push'>, 'words' | 'create'>;

/** Stores one item, and prints its id. */
async function push({ words, create, ...flags }: InboxValues<'push'>, io: Io): Promise<number> {
  const { target, item } = parsePushFlags(flags, io);
  const content = words.length > 0 ? words.join(' ') : (await io.input()).replace(/\r?\n$/, '');
  if (content === '') throw toUsageFault(new Error('the text is missing: give it as an argument or on stdin'));
  const done = await runWithItems(io, 'changes', (items, db) => {
    const { config } = findOwnDirs({ ...io.env });
    const to = findAddressee(target, (session) => findPersonaOfSession(openSessionStore(db), session, config));
    if (to?.is === 'persona' && target.is === 'persona' && !create) {
      using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
      refuseMisspelled(to.name, { hive, sessions: openSessionStore(db), config }, CREATE);
    }
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
    io.out(`${displayJson(JSON.stringify(toPushedJson(pushed, to, item.session)))}\n`);
    return pushed.isNew ? 0 : WAS_THERE;
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
  if (!isNew) return `${id} for ${whom} exists already (${displayName(dedupKey)})`;
  return `pushed ${id} to ${whom}${session === null ? '' : `, session ${displayName(session)}`}`;
}

/** @throws Fault `usage` */
function parsePushFlags({ to, bead, 'dedup-key': dedupKey, ...flags }: PushFlags, io: Io) {
  if (to !== undefined && bead !== undefined) throw toUsageFault(new Error('use only one of --to and --bead'));
  const source = flags.source ?? findOwnPersona(io) ?? 'cli';
  const fields = { ...flags, to: to ?? bead, dedup_key: dedupKey, source };
  return parsePush(fields, (field) => `--${field.replace('_', '-')}`, Math.floor(realClock.now()));
}
