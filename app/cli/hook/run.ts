import { join } from 'node:path';
import {
  type Answer,
  afterBlock,
  afterContinue,
  beginsTurn,
  type Moment,
  type Move,
  moveAt,
  type Pacing,
  pacedAt,
  stateOf,
  type Turn,
  type Verdict,
} from '../../../core/hooks/index.ts';
import { askedIn } from '../../../core/inbox/decisions/index.ts';
import { type Gates, openGates, realGit } from '../../../core/inbox/gates/index.ts';
import { openItems } from '../../../core/inbox/index.ts';
import { Fault } from '../../../core/model/index.ts';
import { type Log, plainRandom, realClock, realRandom } from '../../../core/ports/index.ts';
import { type Database, openDatabase, ownDirs, realDisk } from '../../../core/state/index.ts';
import { CONTINUED, inboxesOf, noteActivity, noteChanged, stamper } from '../../hook/index.ts';
import { keptSessions } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { lineOutput } from '../line-output.node.ts';
import { LOCK_WAIT_MS, queuesOf } from '../queues-of.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { DATABASE } from '../with-hive.ts';
import { announce } from './announce.ts';
import type { HookArgs } from './args.ts';
import { type Budget, budgetOf } from './budget.ts';
import { orNone, type Waiting, waitingEvents } from './events.ts';
import { type AskGates, askGates, OPEN_WAY, wouldHold } from './gates.ts';

import { hurried } from './hurried.ts';
import { folderOf, type Kept, keptOf, sweep } from './kept.ts';
import { mailFor, type Told } from './mail.ts';
import { notified } from './notified.ts';
import { stdinText } from './stdin.node.ts';
import { BEFORE_STOP, bell, holding, noteOf } from './texts.ts';
import { personaKept, personaSaid } from './whose.ts';

/** Of the second that a hook has so much may be waited; the rest is for what it does. */
const WAITS_MS = 850;
/** What each wait may take of it; what is not done in time is left for the next call. */
const STDIN_MS = 400;
const BUSY_MS = 250;
const GIT_MS = 250;
/** What writing leaves for marking what was written. */
const MARK_MS = 150;
/** A log of 1 MiB, which whoever opens the database next reads in a millisecond or two. */
const CHECKPOINT_PAGES = 250;
/** Events of another source that go into one frame. */
const MOST_EVENTS = 20;
const NOTHING_WAITS: Waiting = { items: [], told: () => {} };

/**
 * One call of a hook: what is said and held at this moment (inbox and gates, contract 3 and 5). Items are marked only once
 * their bytes were written.
 * @throws whatever goes wrong on our side; the caller says it and ends with 0
 */
export async function runHook(asked: HookArgs, io: Io, log: Log): Promise<void> {
  const budget = budgetOf(realClock, WAITS_MS);
  const { harness, notification } = asked;
  if (notification !== null) return notified(notification, asked.persona, io.env, log);
  const stdin = await stdinText(budget.part(STDIN_MS));
  const turn = harness.turn(stdin, asked.event ?? '');
  if (turn instanceof Fault) throw turn;
  const dirs = ownDirs({ ...io.env });
  // Not closed: whoever closes it as the last moves its log into it, with two flushes for which nobody should wait here.
  const db = openDatabase(join(dirs.state, DATABASE), budget.part(BUSY_MS).left(), 'when used');
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const persona = personaSaid(turn, io.env, asked.persona) ?? personaOf(turn, db, dirs.config, log);
  if (persona === null) return;
  noteActivity(dirs.run, persona, turn.event);
  const call: Call = { asked, io, log, turn, persona, db: hurried(db, budget), ...dirs, budget };
  if (turn.event === 'SessionEnd') return ended(call);
  if (turn.event === 'StopFailure' || turn.isSubagent) return;
  await boundary(call);
  stamp({ ...call, db }); // which waits for nobody
}

/** What the next hooks need not ask about. A failure costs them the question. */
function stamp({ persona, db, state, run, config, log }: Call): void {
  const dirs = { state, run, config };
  try {
    stamper({ db, dirs, disk: realDisk(log), clock: realClock, random: plainRandom })(persona);
  } catch (error) {
    log.warn(`every hook asks for now: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface Call {
  readonly asked: HookArgs;
  readonly io: Io;
  readonly log: Log;
  readonly turn: Turn;
  readonly persona: string;
  readonly db: Database;
  readonly state: string;
  readonly run: string;
  readonly config: string;
  readonly budget: Budget;
}

function personaOf(turn: Turn, db: Database, config: string, log: Log): string | null {
  const known = personaKept(turn, keptSessions(db), config);
  switch (known.is) {
    case 'known':
      return known.persona;
    case 'nobody':
      return null;
    case 'ambiguous':
      log.warn(`several personas work in ${turn.cwd}: ${known.personas.join(', ')}; set HIVEBAR_PERSONA`);
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
}

async function boundary(call: Call): Promise<void> {
  const { asked, io, log, turn, persona, db, state, config, budget } = call;
  const { event, session, cwd } = turn;
  const { name, isFollowed } = inboxesOf(persona, config);
  const disk = realDisk(log);
  const folder = folderOf(state, persona);
  const kept = keptOf(disk, folder, session ?? '');
  if (event === 'SessionStart') {
    announce(keptSessions(db), { persona, harness: asked.harness.name }, turn, io.env, realClock.now());
    sweep(disk, folder);
  }
  const gates = gatesOf(call);
  if (beginsTurn(kept.pacing, turn) && session !== null) gates.beginTurn(name, session);
  const pacing = pacedAt(kept.pacing, turn);

  const items = openItems({ db, clock: realClock });
  const carries = asked.harness.carries(turn);
  let pending: Moment['pending'] = [0, 0, 0, 0, 0];
  let waiting = NOTHING_WAITS;
  if (carries.text) {
    try {
      queuesOf(db, { state, config }, items, log, budget.part(LOCK_WAIT_MS).left())(name, session);
    } catch (error) {
      if (error instanceof Fault && error.code === 'database') throw error; // nothing else will go either
      log.warn(`queued items wait for the next time: ${error instanceof Error ? error.message : String(error)}`);
    }
    pending = items.pending(name, session);
    if (isFollowed && event !== 'PostToolUse') {
      const who = { persona, session: session ?? '' };
      waiting = orNone(() => waitingEvents(disk, state, folder, who, MOST_EVENTS, realClock.now()), log);
    }
  }
  const all: Moment['pending'] = [pending[0], pending[1], pending[2] + waiting.items.length, pending[3], pending[4]];
  const ask: AskGates = { gates, name, turn, cwd: cwd ?? surroundings().cwd, env: io.env };
  const moment: Moment = {
    ...{ event, carries, gates: OPEN_WAY, pending: all, waiting: all.join(), pacing, now: realClock.now() },
    ...{ failure: turn.failure, isSubagent: turn.isSubagent, delivery: asked.delivery, onStop: asked.onStop },
  };
  const verdict = await verdictAt(moment, ask);
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

/**
 * The gates' word. At a Stop that mail will not let happen anyway they are asked only when they would hold it: to pass them
 * uses up the mark of a decision, which is for the stop that happens. In a loop they are not asked.
 */
async function verdictAt(moment: Moment, ask: AskGates): Promise<Verdict> {
  const { event, pacing, pending, carries } = moment;
  if (!carries.block) return OPEN_WAY;
  if (event === 'Stop') {
    if (moveAt({ ...moment, gates: { lacks: 'any', warnings: [] } }).is === 'allow') return OPEN_WAY;
    if (moveAt(moment).is !== 'allow' && !(await wouldHold(ask))) return OPEN_WAY;
  }
  return askGates(ask, stateOf(pacing, pending, ask.turn.lastMessage));
}

function answerOf(
  move: Move,
  verdict: Verdict,
  event: Turn['event'],
  mail: (upTo: 1 | 4, taken: number) => Told | null,
  ring: Told,
): { readonly answer: Answer; readonly told: Told | null } {
  const allow = { answer: { is: 'allow', note: noteOf(verdict) }, told: null } as const;
  const before = event === 'Stop' ? `${BEFORE_STOP}\n` : '';
  switch (move.is) {
    case 'allow':
      return allow;
    case 'inject': {
      const told = mail(move.upTo <= 1 ? 1 : 4, before.length);
      return told === null ? allow : { answer: { is: 'inject', text: `${before}${told.text}` }, told };
    }
    case 'ring':
      return { answer: { is: 'ring', text: `${before}${ring.text}` }, told: ring };
    case 'block': {
      const reason = holding(verdict);
      const told = move.tells === null ? null : move.tells === 'ring' ? ring : mail(4, reason.length + 1);
      return { answer: { is: 'block', reason: told === null ? reason : `${reason}\n${told.text}` }, told };
    }
  }
}

function pacedAfter(pacing: Pacing, move: Move, answer: Answer, moment: Moment): Pacing {
  const { event, now, waiting } = moment;
  const rung = answer.is === 'ring' || (move.is === 'block' && move.tells === 'ring') ? waiting : pacing.rung;
  if (event !== 'Stop' || answer.is === 'allow') return { ...pacing, rung };
  if (answer.is === 'block') return { ...afterBlock(pacing, now), rung };
  return { ...afterContinue(pacing, now), rung };
}

async function say(call: Call, kept: Kept, pacing: Pacing, answer: Answer, told: Told | null): Promise<void> {
  const { asked, log, turn, persona, run, budget } = call;
  try {
    // Before it is said: a block that can not be counted would have no end.
    kept.save(pacing);
  } catch (error) {
    told?.lost();
    throw error;
  }
  const { stdout } = asked.harness.reply(turn, answer);
  if (stdout === '') return told?.lost();
  const writing = budget.part(budget.left() - MARK_MS);
  let became: 'written' | 'reader gone' | 'stopped';
  try {
    became = await lineOutput().write(stdout, {
      get aborted() {
        return writing.left() === 0;
      },
    });
  } catch (error) {
    told?.lost();
    throw error;
  }
  if (became !== 'written') {
    told?.lost();
    log.warn(`nothing was marked: ${became === 'stopped' ? 'stdout takes nothing' : 'nobody reads stdout'}`);
    return;
  }
  told?.written();
  if (turn.event === 'Stop' && answer.is !== 'allow') noteActivity(run, persona, CONTINUED);
  if (told !== null) noteChanged(run);
}
