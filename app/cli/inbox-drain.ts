import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { displayJson } from '../../core/format/index.ts';
import { type DrainLease, type DrainText, drain, lend, MAX_TEXT } from '../../core/inbox/drain/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { handOverEnded } from '../hook/index.ts';
import { openSessionStore } from '../open/index.ts';
import { toItemWire } from './inbox-list.ts';
import type { InboxValues } from './inbox-schema.ts';
import { createLineOutput } from './line-output.node.ts';
import { DATABASE, tellTray } from './open-local-hive.ts';
import { findOwnPersona, findPersonaOfSession } from './persona-lookup.ts';
import { createTakeOver } from './queue-takeover.ts';
import { createStderrLog } from './stderr-log.ts';

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
export async function runDrain(values: InboxValues<'drain'>, io: Io): Promise<void> {
  const until = realClock.monotonic() + WRITE_UNTIL_MS;
  const log = createStderrLog(io, 'hivebar inbox drain');
  const session = values.session || null;
  const { state, config } = findOwnDirs({ ...io.env });
  using db = openStore(join(state, DATABASE), { log });
  setBusyTimeout(db, LEASE_WAIT_MS);
  const persona = values.persona ?? (session === null ? findOwnPersona(io) : findPersonaOfSession(db, session, config));
  if (persona === null || persona === '') {
    if (session !== null) log.warn(`no persona is known for session ${session}: see hivebar session list`);
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
    log.warn(`nothing is marked as delivered: ${failure}`);
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
  const json = JSON.stringify({ items: lent?.items.map(toItemWire) ?? [], left: lent?.left ?? 0 });
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
    return became === 'stopped' ? 'the reader of stdout takes nothing' : 'the reader of stdout is gone';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Sets how long a statement may wait for another process's transaction. */
function setBusyTimeout(db: Database, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`);
}
