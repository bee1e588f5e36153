import { join } from 'node:path';
import { type Io, toUsageFault } from '../../../core/command/index.ts';
import {
  advancePacing,
  decideMove,
  type HookMoment,
  type HookTurn,
  isTurnStart,
  refuseForeignEnv,
  STOPPING,
} from '../../../core/hooks/index.ts';
import { createOpenDecisionLookup } from '../../../core/inbox/decisions/index.ts';
import { createGitCheck, type Gates, openGates } from '../../../core/inbox/gates/index.ts';
import { openItems } from '../../../core/inbox/index.ts';
import { listQueueDirectories } from '../../../core/inbox/queue/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { type Log, plainRandom, realClock, realRandom } from '../../../core/ports/index.ts';
import {
  createRealDisk,
  type Database,
  dismissWaiter,
  findOwnDirs,
  openStore,
  ringWaiters,
  toWaitersDir,
} from '../../../core/state/index.ts';
import {
  createPendingStamper,
  followPrompts,
  handOverEnded,
  locateInbox,
  noteActivity,
  PROBE,
  PROBE_ANSWER,
  readActivity,
  reportSession,
} from '../../hook/index.ts';
import { openSessionStore } from '../../open/index.ts';
import { createLineOutput } from '../nonblocking-io.node.ts';
import { DATABASE } from '../open-local-hive.ts';
import { createStderrLog } from '../process.node.ts';
import { getSurroundings } from '../session-surroundings.node.ts';
import { chooseAnswer, decideVerdict, formatBell, say, updatePacing } from './answer.ts';
import {
  createBudget,
  findAnnouncedPersona,
  findStatedPersona,
  formatAmbiguous,
  type HookArgs,
  type HookCall,
  type Progress,
  parseHookArgs,
  type TimeBudget,
  WAIT,
} from './call.ts';
import type { DaemonBell } from './doorbell.ts';
import type { WaitingEvents } from './events.ts';
import { getHookFolder, openPacingStore, sweep } from './pacing-store.ts';
import {
  type AskGates,
  createDelivery,
  formatUndecided,
  type HookDelivery,
  mayHoldUndecided,
  OPEN_WAY,
  sanitizeText,
} from './pending.ts';
import { isPerson, readStdin } from './stdin.node.ts';
import { findRunner, isThere } from './system.node.ts';

/** How much of its one second a hook may wait; the rest is for its work. */
const WAITS_MS = 850;
/** The most that each wait may take. Work that is not done in time is left for the next call. */
const STDIN_MS = 400;
const BUSY_MS = 250;
const GIT_MS = 250;
/** Limits the log to 1 MiB, which the next process that opens the database reads in a millisecond or two. */
const CHECKPOINT_PAGES = 250;
/** The most events of another source in one frame. */
const MOST_EVENTS = 20;
const SAYS_PROMPTS: ReadonlySet<HookTurn['event']> = new Set(['PermissionRequest', 'Notification', 'SubagentStop']);
/** The turn or the session is over, and nothing that is said reaches the model. */
const ENDS_UNASKED: ReadonlySet<HookTurn['event']> = new Set(['SessionEnd', 'StopFailure', 'Interrupt']);
const NOTHING_WAITS: WaitingEvents = { items: [], acknowledge: () => {} };

/**
 * Runs one call of a hook: it delivers items and checks gates at this moment (inbox and gates, contract 3 and 5). Items are
 * marked only once their bytes were written.
 * @throws every error on our side; the caller reports it and exits with 0
 */
async function runHook(options: HookArgs, originalIo: Io, log: Log): Promise<void> {
  const budget = createBudget(realClock, WAITS_MS);
  const { harness, notification } = options;
  let io = originalIo;
  if (harness.name === 'codex') {
    const { toOwnEnv } = await import('./codex.ts');
    io = { ...originalIo, env: toOwnEnv(originalIo.env) };
  }
  if (notification !== null) {
    const { handleNotification } = await import('./notification.ts');
    return await handleNotification(notification, options.persona, io.env, { log, budget });
  }
  if (options.event === WAIT) {
    const { decideForWaiter } = await import('./waiter.ts');
    const session = harness.name === 'claude' ? io.env.CLAUDE_CODE_SESSION_ID : io.env.HIVEBAR_SESSION;
    io.out(`${decideForWaiter(options.persona, session ?? '', io.env, log)}\n`);
    return;
  }
  const stdin = await readStdin(budget.part(STDIN_MS));
  const foreign = refuseForeignEnv(harness.name, io.env);
  if (foreign !== null) throw foreign;
  const turn = harness.readTurn(stdin, options.event ?? '');
  if (turn instanceof Fault) throw turn;
  const dirs = findOwnDirs({ ...io.env });
  report(dirs.run, turn, options, io.env);
  const progress: Progress = { isDecided: false };
  try {
    const persona = await answerTurn({ options, io, log, turn, ...dirs, budget, progress });
    if (turn.event !== 'PermissionRequest') return;
    const { askPermission } = await import('./permission.ts');
    await askPermission({ harness: harness.name, turn, stdin, persona, run: dirs.run, env: io.env, log });
  } catch (error) {
    if (!progress.isDecided) await holdUndecided({ options, io, turn, state: dirs.state, budget }, error);
    throw error;
  }
}

/** Comes first, because somebody may look at a question while this hook still works. */
function report(run: string, turn: HookTurn, { harness, persona }: HookArgs, env: Io['env']): void {
  const facts = {
    harness: harness.name,
    persona: findStatedPersona(turn, env, harness.name === 'codex' ? null : persona),
    findRunner: () => findRunner(harness.name, turn.session ?? '', env),
  };
  reportSession(run, turn, facts, realClock.now());
}

/** Returns the persona whose session it is; null when that is unknown. */
async function answerTurn(callBase: Omit<HookCall, 'persona' | 'db'>): Promise<string | null> {
  const { options, io, log, turn, budget, state, run, config } = callBase;
  const dirs = { state, run, config };
  // The database is not closed: the last process to close it moves its log into it, with two flushes that an agent would wait
  // for.
  const db = openStore(join(dirs.state, DATABASE), { busyMs: budget.part(BUSY_MS).left(), compiles: 'when used', log });
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const isCodex = options.harness.name === 'codex';
  const [statedPersona, flag] = isCodex ? [null, options.persona] : [options.persona, null];
  const persona = findStatedPersona(turn, io.env, statedPersona) ?? findPersona(turn, db, dirs.config, flag, log);
  if (persona === null) return null;
  followPrompts(dirs.run, persona, turn);
  if (SAYS_PROMPTS.has(turn.event)) return persona; // helpers and a resting agent send these too, so they show no activity
  // A waiter and the tray process must not wake the agent for what this call is about to show it.
  noteActivity(dirs.run, persona, turn.event === 'Stop' ? STOPPING : turn.event);
  const call: HookCall = { ...callBase, persona, db: wrapWithDeadline(db, budget) };
  if (turn.event === 'SessionEnd') endSession(call);
  if (turn.isSubagent) noteStop(call);
  if (ENDS_UNASKED.has(turn.event) || turn.isSubagent) return persona;
  const daemons = isThere(join(dirs.state, 'daemons')) ? await import('./doorbell.ts') : null;
  try {
    await handleTurnBoundary(call, daemons);
  } finally {
    noteStop(call);
  }
  stamp({ ...call, db }, daemons); // stamping waits for nobody, so it needs no deadline
  // A waiter that began beside this call may have looked too early.
  if (turn.event === 'Stop') ringWaiters(toWaitersDir(db.path), [persona]);
  return persona;
}

/** Notes the end of a Stop, unless the agent continues. */
function noteStop({ run, persona, turn }: HookCall): void {
  if (turn.event === 'Stop' && readActivity(run, persona)?.moment === STOPPING) noteActivity(run, persona, 'Stop');
}

/** Handles an error that may hide a gate: a persona that can have a gate is held once, and told why. */
async function holdUndecided(
  { options, io, turn, state, budget }: Pick<HookCall, 'options' | 'io' | 'turn' | 'state' | 'budget'>,
  error: unknown,
): Promise<void> {
  const persona = findStatedPersona(turn, io.env, options.harness.name === 'codex' ? null : options.persona);
  if (persona === null || !mayHoldUndecided(turn) || !options.harness.carries(turn).block) return;
  // Without the database and without gates, no decision or gate can exist.
  if (!isThere(join(state, DATABASE)) && !isThere(join(state, 'gates'))) return;
  const why = error instanceof Error ? error.message : String(error);
  const { stdout } = options.harness.formatReply(turn, { is: 'block', reason: sanitizeText(formatUndecided(why)) });
  await createLineOutput().write(stdout, {
    get aborted() {
      return budget.left() === 0;
    },
  });
}

/** Null: no daemon was ever installed here. */
type Daemons = typeof import('./doorbell.ts') | null;

/** Stamps what the next hooks need not ask about. If it fails, they ask. */
function stamp({ persona, db, state, run, config, log }: HookCall, daemons: Daemons): void {
  const dirs = { state, run, config };
  const disk = createRealDisk(log);
  const isElsewhere = daemons?.createElsewhereCheck(disk, state) ?? (() => false);
  try {
    createPendingStamper({ db, dirs, disk, clock: realClock, random: plainRandom, isElsewhere })(persona);
  } catch (error) {
    log.warn(
      `cannot write the stamp, so every hook runs Hivebar: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function findPersona(turn: HookTurn, db: Database, config: string, flag: string | null, log: Log): string | null {
  const known = findAnnouncedPersona(turn, openSessionStore(db), config, flag);
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

function createGates({ db, log, state, budget }: HookCall): Gates {
  const items = () => openItems({ db, clock: realClock });
  const disk = createRealDisk(log);
  const findOpenDecisions = (persona: string) => createOpenDecisionLookup(db, realClock)(persona);
  return openGates({
    disk,
    random: realRandom,
    clock: realClock,
    state,
    items,
    git: (place) => createGitCheck(budget.part(GIT_MS).left())(place),
    findOpenDecisions,
  });
}

function endSession(call: HookCall): void {
  const { turn, persona, db, config } = call;
  if (turn.session === null) return;
  createGates(call).endSession(locateInbox(persona, config).name, turn.session);
  openSessionStore(db).end(persona, turn.session, realClock.now());
  openItems({ db, clock: realClock }).endSession(locateInbox(persona, config).name, turn.session);
  dismissWaiter(toWaitersDir(db.path), [persona], turn.session);
}

async function handleTurnBoundary(call: HookCall, daemons: Daemons): Promise<void> {
  const { options, io, log, turn, persona, db, state, config, budget } = call;
  const { event, session, cwd } = turn;
  const { name, isFollowed } = locateInbox(persona, config);
  const disk = createRealDisk(log);
  const folder = getHookFolder(state, persona);
  const pacingStore = openPacingStore(disk, folder, session ?? '');
  if (event === 'SessionStart') {
    const { announce } = await import('./announce.ts');
    announce(openSessionStore(db), { persona, harness: options.harness.name }, turn, io.env, realClock.now());
    sweep(disk, folder);
  }
  const gates = createGates(call);
  if (isTurnStart(pacingStore.pacing, turn) && session !== null) gates.beginTurn(name, session);
  const pacing = advancePacing(pacingStore.pacing, turn);
  const items = openItems({ db, clock: realClock });
  const sessions = () => openSessionStore(db);
  handOverEnded({ items, sessions, config, now: realClock.now(), isGone: () => false });
  const takeOver = async (): Promise<void> => {
    const places = listQueueDirectories(state, openSessionStore(db).listAll());
    if (!places.some(isThere)) return;
    const { LOCK_WAIT_MS, createTakeOver } = await import('./queues.ts');
    try {
      createTakeOver(db, { state, config }, items, log, budget.part(LOCK_WAIT_MS).left())(name, session);
    } catch (error) {
      if (error instanceof Fault && error.code === 'database') throw error; // everything else would fail too
      log.warn(
        `queue files could not be read, the next hook tries again: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  const readFollowed = async (): Promise<WaitingEvents> => {
    const { readOrNone, readWaitingEvents } = await import('./events.ts');
    const reader = { persona, session: session ?? '' };
    return readOrNone(() => readWaitingEvents(disk, state, folder, reader, MOST_EVENTS, realClock.now()), log);
  };
  const doorbell = daemons === null ? null : await findDoorbell(call, name, daemons);
  if (daemons !== null && doorbell !== null) {
    const isTurnBoundary = daemons.toTurnBoundaryKind(turn) !== null;
    if (isTurnBoundary) await takeOver();
    const waits = isTurnBoundary && isFollowed ? await readFollowed() : NOTHING_WAITS;
    return await daemons.ringAtTurnBoundary(
      call,
      { pacingStore, pacing, gates, name, items, waiting: waits },
      doorbell,
    );
  }

  const carries = options.harness.carries(turn);
  let pending: HookMoment['pending'] = [0, 0, 0, 0, 0];
  let waiting = NOTHING_WAITS;
  if (carries.text) {
    await takeOver();
    pending = items.pending(name, session);
    if (isFollowed && (event !== 'PostToolUse' || carries.everything === true)) waiting = await readFollowed();
  }
  const counts: HookMoment['pending'] = [
    pending[0],
    pending[1],
    pending[2] + waiting.items.length,
    pending[3],
    pending[4],
  ];
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? getSurroundings().cwd, env: io.env };
  const moment: HookMoment = {
    ...{ event, carries, gates: OPEN_WAY, pending: counts, waiting: counts.join(), pacing, now: realClock.now() },
    ...{ failure: turn.failure, isSubagent: turn.isSubagent, isContinued: turn.isContinued },
    ...{ delivery: options.delivery, onStop: options.onStop },
  };
  const verdict = await decideVerdict(moment, ask);
  call.progress.isDecided = true;
  const move = decideMove({ ...moment, gates: verdict });
  const mail = (upTo: 1 | 4, usedChars: number): HookDelivery | null =>
    createDelivery({ items, takeOver: null, waiting, clock: realClock, log }, { name, session, upTo, usedChars });
  const ring: HookDelivery = {
    text: formatBell(name, pending, waiting.items.length),
    written: () => waiting.acknowledge(waiting.items.length),
    lost: () => {},
  };
  const { answer, delivery } = chooseAnswer(move, verdict, event, mail, ring);
  await say(call, pacingStore, updatePacing(pacing, move, answer, moment), answer, delivery);
}

/** Null also on an error: then the hook delivers what waits, as if there were no daemon. */
async function findDoorbell(
  { persona, state, io, log, budget }: HookCall,
  name: string,
  { createBell }: NonNullable<Daemons>,
): Promise<DaemonBell | null> {
  try {
    return await createBell({ persona, name }, { disk: createRealDisk(log), state, env: io.env, budget });
  } catch (error) {
    log.warn(error instanceof Error ? error.message : String(error));
    return null;
  }
}

/**
 * Runs one call of a hook, from its command line. A harness treats every exit code but 0 as a failure of the hook, and 2 holds
 * its agent. An error is therefore one line on stderr, and the exit code is 0.
 * @throws Fault `usage` to a person who calls it by mistake
 */
export async function answerHook(args: readonly string[], io: Io): Promise<number> {
  if (io.env[PROBE]) {
    io.out(`${PROBE_ANSWER}\n`);
    return 0;
  }
  const messages: string[] = [];
  const say = (line: string): void => void messages.push(line.split('\n', 1).join(''));
  const log: Log = { info: say, warn: say, error: say };
  try {
    await runHook(parseHookArgs(args, io.env), io, log);
  } catch (error) {
    if (isPerson()) throw toUsageFault(error);
    say(error instanceof Error ? error.message : String(error));
  }
  if (messages.length > 0) createStderrLog(io, 'hivebar hook').warn(messages.join('; '));
  return 0;
}

/** Wraps a database so that each transaction waits for other processes only as long as `budget` has time left. */
export function wrapWithDeadline(db: Database, budget: TimeBudget): Database {
  return {
    path: db.path,
    get isTransaction() {
      return db.isTransaction;
    },
    exec(sql) {
      if (sql.startsWith('BEGIN')) db.exec(`PRAGMA busy_timeout = ${budget.left()}`);
      db.exec(sql);
    },
    isInPlace: () => db.isInPlace(),
    prepare: (sql) => db.prepare(sql),
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}
