import { join } from 'node:path';
import { type Drained, drain, type Lent, lend, MAX_TEXT } from '../../core/inbox/drain/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { type Database, openStore, ownDirs } from '../../core/state/index.ts';
import { handOverEnded } from '../hook/index.ts';
import { keptSessions } from '../open/index.ts';
import { printableJson } from '../printable.ts';
import type { Io } from './command.ts';
import type { InboxArgs } from './inbox-args.ts';
import { wireOf } from './inbox-list.ts';
import { findOwnPersona, personaOfSession } from './inbox-who.ts';
import { lineOutput } from './line-output.node.ts';
import { usage } from './outcome.ts';
import { queuesOf } from './queues-of.ts';
import { stderrLog } from './stderr-log.ts';
import { DATABASE, tellTray } from './with-hive.ts';

/** All of it within a second: a session waits. What is not done by then is released, and comes with the next drain. */
const LEASE_WAIT_MS = 400;
const WRITE_UNTIL_MS = 700;
const MARK_WAIT_MS = 200;
const TRAY_WAIT_MS = 100;

/**
 * Prints what is pending for a persona and marks it as delivered once it was written (inbox and gates, contract 3). Prints
 * nothing when there is nothing, or nobody to drain for.
 * @throws Fault; the caller ends with 0 all the same
 */
export async function drainCommand({ words, flags }: InboxArgs, io: Io): Promise<void> {
  const until = realClock.monotonic() + WRITE_UNTIL_MS;
  const [name, ...rest] = words;
  if (rest.length > 0) throw usage(new Error(`inbox drain: ${rest.join(' ')} is too much`));
  const log = stderrLog(io, 'hivebar inbox drain');
  const session = flags.session === undefined || flags.session === '' ? null : flags.session;
  const { state, config } = ownDirs({ ...io.env });
  using db = openStore(join(state, DATABASE), { log });
  waitAtMost(db, LEASE_WAIT_MS);
  const persona = name ?? (session === null ? findOwnPersona(io) : personaOfSession(db, session, config));
  if (persona === null || persona === '') {
    if (session !== null) log.warn(`nobody is known to work in session ${session}: see hivebar session list`);
    return;
  }
  const items = openItems({ db, clock: realClock });
  handOverEnded({ items, sessions: () => keptSessions(db), config, now: realClock.now(), isGone: () => false });
  const needs = { items, takeOver: queuesOf(db, { state, config }, items, log), clock: realClock, log };
  const request = { persona, session, upTo: 4, room: MAX_TEXT } as const;
  const shown = flags.json === true ? asJson(lend(needs, request)) : asText(drain(needs, request));
  if (shown === null) return;
  const failure = await failureOf(shown.text, until);
  waitAtMost(db, MARK_WAIT_MS);
  if (failure !== null) {
    shown.release();
    log.warn(`nothing is marked as delivered: ${failure}`);
    return;
  }
  shown.commit();
  await tellTray(io, TRAY_WAIT_MS);
}

interface Shown {
  readonly text: string;
  commit(): void;
  release(): void;
}

function asText(drained: Drained | null): Shown | null {
  return drained === null ? null : { ...drained, text: `${drained.text}\n` };
}

/** Whole items, however long they are: a script has no limit of characters. */
function asJson(lent: Lent | null): Shown {
  const json = JSON.stringify({ items: lent?.items.map(wireOf) ?? [], left: lent?.left ?? 0 });
  return {
    text: `${printableJson(json)}\n`,
    commit: () => lent?.commit(lent.items),
    release: () => lent?.release(),
  };
}

/** What kept it from being written; null when all of it was. */
async function failureOf(text: string, until: number): Promise<string | null> {
  const late = new AbortController();
  using _ = realClock.after(Math.max(0, until - realClock.monotonic()), () => late.abort());
  try {
    const became = await lineOutput().write(text, late.signal);
    if (became === 'written') return null;
    return became === 'stopped' ? 'the reader of stdout takes nothing' : 'the reader of stdout is gone';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** How long a statement may wait for another process's transaction. */
function waitAtMost(db: Database, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`);
}
