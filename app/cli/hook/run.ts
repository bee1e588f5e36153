import { join } from 'node:path';
import { beginsTurn, type Moment, moveAt, pacedAt, type Turn } from '../../../core/hooks/index.ts';
import { askedIn } from '../../../core/inbox/decisions/index.ts';
import { type Gates, openGates, realGit } from '../../../core/inbox/gates/index.ts';
import { openItems } from '../../../core/inbox/index.ts';
import { queueDirectories } from '../../../core/inbox/queue/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { type Log, plainRandom, realClock, realRandom } from '../../../core/ports/index.ts';
import { type Database, openStore, ownDirs, realDisk } from '../../../core/state/index.ts';
import { followPrompts, handOverEnded, inboxesOf, noteActivity, stamper } from '../../hook/index.ts';
import { keptSessions } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { lineOutput } from '../line-output.node.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { DATABASE } from '../with-hive.ts';
import { isThere } from './age.node.ts';
import type { HookArgs } from './args.ts';
import { budgetOf } from './budget.ts';
import type { Call, Progress } from './call.ts';
import type { Bell } from './doorbell.ts';
import type { Waiting } from './events.ts';
import { type AskGates, beside, mayHoldUndecided, OPEN_WAY, undecidedText } from './gates.ts';
import { hurried } from './hurried.ts';
import { folderOf, keptOf, sweep } from './kept.ts';
import { mailFor, type Told } from './mail.ts';
import { say } from './say.ts';
import { stdinText } from './stdin.node.ts';
import { bell } from './texts.ts';
import { answerOf, pacedAfter, verdictAt } from './verdict.ts';
import { formatAmbiguous, personaKept, personaSaid } from './whose.ts';

/** Of the second that a hook has so much may be waited; the rest is for what it does. */
const WAITS_MS = 850;
/** What each wait may take of it; what is not done in time is left for the next call. */
const STDIN_MS = 400;
const BUSY_MS = 250;
const GIT_MS = 250;
/** A log of 1 MiB, which whoever opens the database next reads in a millisecond or two. */
const CHECKPOINT_PAGES = 250;
/** Events of another source that go into one frame. */
const MOST_EVENTS = 20;
const SAYS_PROMPTS: ReadonlySet<Turn['event']> = new Set(['PermissionRequest', 'Notification', 'SubagentStop']);
const NOTHING_WAITS: Waiting = { items: [], told: () => {} };

/**
 * One call of a hook: what is said and held at this moment (inbox and gates, contract 3 and 5). Items are marked only once
 * their bytes were written.
 * @throws whatever goes wrong on our side; the caller says it and ends with 0
 */
export async function runHook(asked: HookArgs, given: Io, log: Log): Promise<void> {
  const budget = budgetOf(realClock, WAITS_MS);
  const { harness, notification } = asked;
  let io = given;
  if (harness.name === 'codex') {
    const { ownEnv } = await import('./codex.ts');
    io = { ...given, env: ownEnv(given.env) };
  }
  if (notification !== null) {
    const { notified } = await import('./notified.ts');
    return await notified(notification, asked.persona, io.env, { log, budget });
  }
  const stdin = await stdinText(budget.part(STDIN_MS));
  const turn = harness.turn(stdin, asked.event ?? '');
  if (turn instanceof Fault) throw turn;
  const dirs = ownDirs({ ...io.env });
  const progress: Progress = { isDecided: false };
  try {
    await answerTurn({ asked, io, log, turn, ...dirs, budget, progress });
  } catch (error) {
    if (!progress.isDecided) await holdUndecided({ asked, io, turn, state: dirs.state, budget }, error);
    throw error;
  }
}

async function answerTurn(given: Omit<Call, 'persona' | 'db'>): Promise<void> {
  const { asked, io, log, turn, budget, state, run, config } = given;
  const dirs = { state, run, config };
  // Not closed: whoever closes it as the last moves its log into it, with two flushes for which nobody should wait here.
  const db = openStore(join(dirs.state, DATABASE), { busyMs: budget.part(BUSY_MS).left(), compiles: 'when used', log });
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const isCodex = asked.harness.name === 'codex';
  const [said, flag] = isCodex ? [null, asked.persona] : [asked.persona, null];
  const persona = personaSaid(turn, io.env, said) ?? personaOf(turn, db, dirs.config, flag, log);
  if (persona === null) return;
  followPrompts(dirs.run, persona, turn);
  if (SAYS_PROMPTS.has(turn.event)) return; // of helpers and of one that rests too: no moment of the agent
  noteActivity(dirs.run, persona, turn.event);
  const call: Call = { ...given, persona, db: hurried(db, budget) };
  if (turn.event === 'SessionEnd') return ended(call);
  if (turn.event === 'StopFailure' || turn.isSubagent) return;
  const daemons = isThere(join(dirs.state, 'daemons')) ? await import('./daemons.ts') : null;
  await boundary(call, daemons);
  stamp({ ...call, db }, daemons); // which waits for nobody
}

/** What is broken here may hide a gate: a persona that can have one is held once, and told why. */
async function holdUndecided(
  { asked, io, turn, state, budget }: Pick<Call, 'asked' | 'io' | 'turn' | 'state' | 'budget'>,
  error: unknown,
): Promise<void> {
  const persona = personaSaid(turn, io.env, asked.harness.name === 'codex' ? null : asked.persona);
  if (persona === null || !mayHoldUndecided(turn) || !asked.harness.carries(turn).block) return;
  // Where neither is, nothing was ever asked or registered.
  if (!isThere(join(state, DATABASE)) && !isThere(join(state, 'gates'))) return;
  const why = error instanceof Error ? error.message : String(error);
  const { stdout } = asked.harness.reply(turn, { is: 'block', reason: beside(undecidedText(why)) });
  await lineOutput().write(stdout, {
    get aborted() {
      return budget.left() === 0;
    },
  });
}

/** Null: no daemon was ever installed here. */
type Daemons = typeof import('./daemons.ts') | null;

/** What the next hooks need not ask about. A failure costs them the question. */
function stamp({ persona, db, state, run, config, log }: Call, daemons: Daemons): void {
  const dirs = { state, run, config };
  const disk = realDisk(log);
  const isElsewhere = daemons?.listensElsewhere(disk, state) ?? (() => false);
  try {
    stamper({ db, dirs, disk, clock: realClock, random: plainRandom, isElsewhere })(persona);
  } catch (error) {
    log.warn(`every hook asks for now: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function personaOf(turn: Turn, db: Database, config: string, flag: string | null, log: Log): string | null {
  const known = personaKept(turn, keptSessions(db), config, flag);
  switch (known.is) {
    case 'known':
      return known.persona;
    case 'nobody':
      return null;
    case 'ambiguous':
      log.warn(formatAmbiguous(turn, known.personas));
      return null;
  }
}

function gatesOf({ db, log, state, budget }: Call): Gates {
  const items = () => openItems({ db, clock: realClock });
  const disk = realDisk(log);
  const asked = (persona: string) => askedIn(db, realClock)(persona);
  return openGates({
    disk,
    random: realRandom,
    clock: realClock,
    state,
    items,
    git: (place) => realGit(budget.part(GIT_MS).left())(place),
    asked,
  });
}

function ended(call: Call): void {
  const { turn, persona, db, config } = call;
  if (turn.session === null) return;
  gatesOf(call).endSession(inboxesOf(persona, config).name, turn.session);
  keptSessions(db).end(persona, turn.session, realClock.now());
  openItems({ db, clock: realClock }).endSession(inboxesOf(persona, config).name, turn.session);
}

async function boundary(call: Call, daemons: Daemons): Promise<void> {
  const { asked, io, log, turn, persona, db, state, config, budget } = call;
  const { event, session, cwd } = turn;
  const { name, isFollowed } = inboxesOf(persona, config);
  const disk = realDisk(log);
  const folder = folderOf(state, persona);
  const kept = keptOf(disk, folder, session ?? '');
  if (event === 'SessionStart') {
    const { announce } = await import('./announce.ts');
    announce(keptSessions(db), { persona, harness: asked.harness.name }, turn, io.env, realClock.now());
    sweep(disk, folder);
  }
  const gates = gatesOf(call);
  if (beginsTurn(kept.pacing, turn) && session !== null) gates.beginTurn(name, session);
  const pacing = pacedAt(kept.pacing, turn);
  const items = openItems({ db, clock: realClock });
  const sessions = () => keptSessions(db);
  handOverEnded({ items, sessions, config, now: realClock.now(), isGone: () => false });
  const takeOver = async (): Promise<void> => {
    const places = queueDirectories(state, keptSessions(db).all());
    if (!places.some(isThere)) return;
    const { LOCK_WAIT_MS, queuesOf } = await import('./queues.ts');
    try {
      queuesOf(db, { state, config }, items, log, budget.part(LOCK_WAIT_MS).left())(name, session);
    } catch (error) {
      if (error instanceof Fault && error.code === 'database') throw error; // nothing else will go either
      log.warn(`queued items wait for the next time: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const followed = async (): Promise<Waiting> => {
    const { orNone, waitingEvents } = await import('./events.ts');
    const who = { persona, session: session ?? '' };
    return orNone(() => waitingEvents(disk, state, folder, who, MOST_EVENTS, realClock.now()), log);
  };
  const doorbell = daemons === null ? null : await doorbellOf(call, name, daemons);
  if (daemons !== null && doorbell !== null) {
    const isBoundary = daemons.boundaryAt(turn) !== null;
    if (isBoundary) await takeOver();
    const waits = isBoundary && isFollowed ? await followed() : NOTHING_WAITS;
    return await daemons.rungBoundary(call, { kept, pacing, gates, name, items, waiting: waits }, doorbell);
  }

  const carries = asked.harness.carries(turn);
  let pending: Moment['pending'] = [0, 0, 0, 0, 0];
  let waiting = NOTHING_WAITS;
  if (carries.text) {
    await takeOver();
    pending = items.pending(name, session);
    if (isFollowed && event !== 'PostToolUse') waiting = await followed();
  }
  const all: Moment['pending'] = [pending[0], pending[1], pending[2] + waiting.items.length, pending[3], pending[4]];
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? surroundings().cwd, env: io.env };
  const moment: Moment = {
    ...{ event, carries, gates: OPEN_WAY, pending: all, waiting: all.join(), pacing, now: realClock.now() },
    ...{ failure: turn.failure, isSubagent: turn.isSubagent, delivery: asked.delivery, onStop: asked.onStop },
  };
  const verdict = await verdictAt(moment, ask);
  call.progress.isDecided = true;
  const move = moveAt({ ...moment, gates: verdict });
  const mail = (upTo: 1 | 4, taken: number): Told | null =>
    mailFor({ items, takeOver: null, waiting, clock: realClock, log }, { name, session, upTo, taken });
  const ring: Told = {
    text: bell(name, pending, waiting.items.length),
    written: () => waiting.told(waiting.items.length),
    lost: () => {},
  };
  const { answer, told } = answerOf(move, verdict, event, mail, ring);
  await say(call, kept, pacedAfter(pacing, move, answer, moment), answer, told);
}

/** Null also when nobody knows: then the hook tells what waits, as if there were no daemon. */
async function doorbellOf(
  { persona, state, io, log, budget }: Call,
  name: string,
  { bellOf }: NonNullable<Daemons>,
): Promise<Bell | null> {
  try {
    return await bellOf({ persona, name }, { disk: realDisk(log), state, env: io.env, budget });
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
    return null;
  }
}
