import {
  type Decision,
  type Done,
  decisionJson,
  newDecisionOf,
  replyOf,
  type Waited,
  waitForDecision,
} from '../../core/inbox/decisions/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { printable, printableJson } from '../printable.ts';
import { actingPersona } from './acting-persona.ts';
import type { Command, Io } from './command.ts';
import { type DecisionArgs, decisionArgs, millisOf, optionOf, wholeOf } from './decision-args.ts';
import { decisionLine, decisionLines, endOf } from './decision-text.ts';
import { findOwnPersona } from './inbox-who.ts';
import { stopSignal } from './stop-signal.node.ts';
import { type DecisionHouse, withDecisions } from './with-decisions.ts';

/** Of `wait`, and of `create --wait`. */
const STILL_OPEN = 3;
const GUIDED = 4;
const TIMED_OUT = 5;
const CANCELLED = 6;

/** Who answers where nothing else is said. */
const OPERATOR = 'operator';

const LIST_LIMIT = 50;

export const command: Command = {
  usage: 'decision create|list|show|respond|wait|cancel [ID] [flags] [PROMPT...]',
  about: [
    'A question that an agent asks of a person. Its answer lands in the inbox of who asked, also with hivebar closed.',
    '',
    'create PROMPT    asks; without PROMPT it is read from stdin',
    '  --as PERSONA          who asks (default: HIVEBAR_PERSONA, else whose session is kept for this folder)',
    '  --option ID=LABEL     an answer to choose, any number of times; ID:SHORT=LABEL has a short text for a button',
    '  --free-text           text is an answer too',
    '  --default ID          what holds when nobody answers in time',
    '  --timeout SPAN        how long an answer is waited for: 90s, 30m, 2h, 1d (default) or never',
    '  --context TEXT        what one has to know to answer',
    '  --urgency low|normal|high',
    '  --max-iterations N    how often it may be asked, guidance and all (default: 3)',
    '  --refines ID          another proposal in place of that open one',
    '  --wait                and waits, as wait does',
    'list             the newest, with --as PERSONA only its own',
    '  --open                only those without an answer',
    '  --limit N             so many (default: 50)',
    'show ID          one in full',
    'respond ID       answers',
    '  --select ID           the option, with or without text',
    '  --text TEXT           alone it is guidance, and the decision is asked again',
    '  --accept-guidance     text alone closes the decision',
    '  --by NAME             who answers (default: HIVEBAR_PERSONA, else operator); of cancel too',
    'wait ID          blocks until it is closed, and prints the answer; at most so long with --limit SPAN',
    'cancel ID        takes it back',
    '  --reason TEXT         why',
    '  --json                of all of them',
    '',
    'wait ends with 0: answered, 3: still open, 4: guidance, and open again, 5: not answered in time,',
    '6: cancelled.',
  ],
  examples: [
    {
      run: 'hivebar decision create --as ada --option y=Deploy --option n=Not yet --wait "Deploy to production?"',
      does: 'asks, and waits for the answer',
    },
    { run: 'hivebar decision list --open', does: 'what waits for an answer' },
    { run: 'hivebar decision respond 3 --select y --text "but watch the logs"', does: 'answers' },
  ],
  async run(args, io) {
    const asked = decisionArgs(args);
    switch (asked.verb) {
      case 'create':
        return create(asked, io);
      case 'list':
        return list(asked, io);
      case 'show':
        return show(asked, io);
      case 'respond':
        return respond(asked, io);
      case 'wait':
        return withDecisions(io, (house) => wait(house, asked.id, asked, io));
      case 'cancel':
        return cancel(asked, io);
    }
  },
};

async function create(asked: DecisionArgs, io: Io): Promise<number> {
  const { words, timeout, refines } = asked;
  const prompt = words.length > 0 ? words.join(' ') : (await io.input()).trimEnd();
  const rounds = asked['max-iterations'];
  const given = {
    prompt,
    context: asked.context,
    options: (asked.option ?? []).map(optionOf),
    freeText: asked['free-text'],
    fallback: asked.default,
    urgency: asked.urgency,
    blocking: asked.wait,
    mostIterations: rounds === undefined ? undefined : wholeOf('--max-iterations', rounds),
    forMs: timeout === undefined ? undefined : timeout === 'never' ? null : millisOf('--timeout', timeout),
    refines: refines === undefined ? undefined : wholeOf('--refines', refines),
  };
  limitOf(asked); // before anything is asked
  return withDecisions(io, async (house) => {
    const persona = actingPersona(io, house.db, asked.as);
    const decision = house.decisions.create(newDecisionOf({ ...given, persona }));
    if (asked.wait) {
      io.err(`decision ${decision.id} asked by ${printable(persona)}; waiting for the answer\n`);
      // a person can only answer what is shown
      const [code] = await Promise.all([wait(house, decision.id, asked, io), house.tell()]);
      return code;
    }
    if (asked.json) json(io, decisionJson(decision));
    else
      io.out(
        `decision ${decision.id} asked by ${printable(persona)}: wait with hivebar decision wait ${decision.id}\n`,
      );
    return 0;
  });
}

function list(asked: DecisionArgs, io: Io): Promise<number> {
  const { as: persona = null, open: onlyOpen = false } = asked;
  const limit = asked.limit === undefined ? LIST_LIMIT : wholeOf('--limit', asked.limit);
  return withDecisions(io, ({ decisions }) => {
    const found = decisions.list({ persona, onlyOpen, limit });
    if (asked.json) json(io, found.map(decisionJson));
    else if (found.length === 0) io.out(onlyOpen ? 'no decision is open\n' : 'there is no decision\n');
    else for (const decision of found) io.out(`${decisionLine(decision)}\n`);
    return 0;
  });
}

function show({ id, json: asJson }: DecisionArgs, io: Io): Promise<number> {
  return withDecisions(io, ({ decisions }) => {
    const decision = decisions.get(id);
    if (decision === null) return nothing(id, io);
    if (asJson) json(io, decisionJson(decision));
    else
      io.out(
        decisionLines(decision)
          .map((line) => `${line}\n`)
          .join(''),
      );
    return 0;
  });
}

async function respond(asked: DecisionArgs, io: Io): Promise<number> {
  const { id, select, text } = asked;
  if (select === undefined && (text === undefined || text.trim() === '')) {
    io.err(
      `hivebar decision: nothing was answered: give --select ID, --text TEXT or both (hivebar decision show ${id})\n`,
    );
    return 1;
  }
  const reply = replyOf({ select, text, acceptGuidance: asked['accept-guidance'], by: whoAnswers(asked, io) });
  return withDecisions(io, ({ decisions }) => done(decisions.respond(id, reply), asked, io));
}

function cancel(asked: DecisionArgs, io: Io): Promise<number> {
  const { id, reason = null } = asked;
  return withDecisions(io, ({ decisions }) => done(decisions.cancel(id, whoAnswers(asked, io), reason), asked, io));
}

function whoAnswers({ by }: DecisionArgs, io: Io): string {
  return by ?? findOwnPersona(io) ?? OPERATOR;
}

function done(answer: Done, { id, json: asJson }: DecisionArgs, io: Io): number {
  switch (answer.is) {
    case 'none':
      return nothing(id, io);
    case 'too-late':
      if (asJson) json(io, { accepted: false, decision: decisionJson(answer.decision) });
      io.err(`hivebar decision: too late, nothing was changed\n${text(endOf(answer.decision))}`);
      return 1;
    case 'done':
      if (asJson) json(io, { accepted: true, decision: decisionJson(answer.decision) });
      else io.out(text(endOf(answer.decision)));
      return 0;
  }
}

async function wait({ decisions }: DecisionHouse, id: number, asked: DecisionArgs, io: Io): Promise<number> {
  const limitMs = limitOf(asked);
  const waited = await waitForDecision(id, { decisions, clock: realClock, limitMs, signal: stopSignal() });
  if (waited.is === 'none') return nothing(id, io);
  const { decision } = waited;
  if (asked.json) json(io, decisionJson(decision));
  else if (decision.outcome.is !== 'open') io.out(text(endOf(decision)));
  if (waited.is === 'limit' || waited.is === 'stopped')
    io.err(`decision ${id} is still open: go on with hivebar decision wait ${id}\n`);
  return exitOf(waited.is, decision);
}

function exitOf(waited: Waited['is'], { outcome, next }: Decision): number {
  if (waited !== 'closed') return STILL_OPEN;
  switch (outcome.is) {
    case 'open':
      return STILL_OPEN;
    case 'resolved':
      return next === null ? 0 : GUIDED;
    case 'timed-out':
      return TIMED_OUT;
    case 'cancelled':
      return CANCELLED;
  }
}

function limitOf({ limit }: DecisionArgs): number | null {
  return limit === undefined ? null : millisOf('--limit', limit);
}

function nothing(id: number, io: Io): number {
  io.err(`hivebar decision: there is no decision ${id}: see hivebar decision list\n`);
  return 1;
}

function json(io: Io, value: unknown): void {
  io.out(`${printableJson(JSON.stringify(value))}\n`);
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
