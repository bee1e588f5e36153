import type { Io, TextCommand } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import {
  type Decision,
  type DecisionResult,
  type DecisionWaitResult,
  parseNewDecision,
  parseReply,
  toDecisionJson,
  waitForDecision,
} from '../../core/inbox/decisions/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { resolveActingPersona } from './acting-persona.ts';
import { type DecisionArgs, parseDecisionArgs, parseMillis, parseOption, parseWholeNumber } from './decision-args.ts';
import { formatDecision, formatDecisionLine, formatOutcome } from './decision-text.ts';
import { type DecisionAccess, runWithDecisions } from './open-decisions.ts';
import { findOwnPersona } from './persona-lookup.ts';
import { createStopSignal } from './stop-signal.node.ts';

/** Exit codes of `wait` and of `create --wait`. */
const STILL_OPEN = 3;
const GUIDED = 4;
const TIMED_OUT = 5;
const CANCELLED = 6;

/** The answering name when neither `--by` nor the environment gives one. */
const OPERATOR = 'operator';

const LIST_LIMIT = 50;

export const command: TextCommand = {
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
    const options = parseDecisionArgs(args);
    switch (options.verb) {
      case 'create':
        return create(options, io);
      case 'list':
        return list(options, io);
      case 'show':
        return show(options, io);
      case 'respond':
        return respond(options, io);
      case 'wait':
        return runWithDecisions(io, (access) => wait(access, options.id, options, io));
      case 'cancel':
        return cancel(options, io);
    }
  },
};

async function create(options: DecisionArgs, io: Io): Promise<number> {
  const { words, timeout, refines } = options;
  const prompt = words.length > 0 ? words.join(' ') : (await io.input()).trimEnd();
  const rounds = options['max-iterations'];
  const fields = {
    prompt,
    context: options.context,
    options: (options.option ?? []).map(parseOption),
    freeText: options['free-text'],
    fallback: options.default,
    urgency: options.urgency,
    blocking: options.wait,
    mostIterations: rounds === undefined ? undefined : parseWholeNumber('--max-iterations', rounds),
    forMs: timeout === undefined ? undefined : timeout === 'never' ? null : parseMillis('--timeout', timeout),
    refines: refines === undefined ? undefined : parseWholeNumber('--refines', refines),
  };
  parseLimit(options); // fails before the decision is created
  return runWithDecisions(io, async (access) => {
    const persona = resolveActingPersona(io, access.db, options.as);
    const decision = access.decisions.create(parseNewDecision({ ...fields, persona }));
    if (options.wait) {
      io.err(`decision ${decision.id} asked by ${displayName(persona)}; waiting for the answer\n`);
      // a person can only answer a decision that is shown
      const [code] = await Promise.all([wait(access, decision.id, options, io), access.tell()]);
      return code;
    }
    if (options.json) printJson(io, toDecisionJson(decision));
    else
      io.out(
        `decision ${decision.id} asked by ${displayName(persona)}: wait with hivebar decision wait ${decision.id}\n`,
      );
    return 0;
  });
}

function list(options: DecisionArgs, io: Io): Promise<number> {
  const { as: persona = null, open: onlyOpen = false } = options;
  const limit = options.limit === undefined ? LIST_LIMIT : parseWholeNumber('--limit', options.limit);
  return runWithDecisions(io, ({ decisions }) => {
    const matching = decisions.list({ persona, onlyOpen, limit });
    if (options.json) printJson(io, matching.map(toDecisionJson));
    else if (matching.length === 0) io.out(onlyOpen ? 'no decision is open\n' : 'there is no decision\n');
    else for (const decision of matching) io.out(`${formatDecisionLine(decision)}\n`);
    return 0;
  });
}

function show({ id, json: asJson }: DecisionArgs, io: Io): Promise<number> {
  return runWithDecisions(io, ({ decisions }) => {
    const decision = decisions.get(id);
    if (decision === null) return reportMissing(id, io);
    if (asJson) printJson(io, toDecisionJson(decision));
    else
      io.out(
        formatDecision(decision)
          .map((line) => `${line}\n`)
          .join(''),
      );
    return 0;
  });
}

async function respond(options: DecisionArgs, io: Io): Promise<number> {
  const { id, select, text } = options;
  if (select === undefined && (text === undefined || text.trim() === '')) {
    io.err(
      `hivebar decision: nothing was answered: give --select ID, --text TEXT or both (hivebar decision show ${id})\n`,
    );
    return 1;
  }
  const reply = parseReply({ select, text, acceptGuidance: options['accept-guidance'], by: findAnswerer(options, io) });
  return runWithDecisions(io, ({ decisions }) => reportResult(decisions.respond(id, reply), options, io));
}

function cancel(options: DecisionArgs, io: Io): Promise<number> {
  const { id, reason = null } = options;
  return runWithDecisions(io, ({ decisions }) =>
    reportResult(decisions.cancel(id, findAnswerer(options, io), reason), options, io),
  );
}

function findAnswerer({ by }: DecisionArgs, io: Io): string {
  return by ?? findOwnPersona(io) ?? OPERATOR;
}

function reportResult(answer: DecisionResult, { id, json: asJson }: DecisionArgs, io: Io): number {
  switch (answer.is) {
    case 'none':
      return reportMissing(id, io);
    case 'too-late':
      if (asJson) printJson(io, { accepted: false, decision: toDecisionJson(answer.decision) });
      io.err(`hivebar decision: too late, nothing was changed\n${formatLines(formatOutcome(answer.decision))}`);
      return 1;
    case 'done':
      if (asJson) printJson(io, { accepted: true, decision: toDecisionJson(answer.decision) });
      else io.out(formatLines(formatOutcome(answer.decision)));
      return 0;
  }
}

async function wait({ decisions }: DecisionAccess, id: number, options: DecisionArgs, io: Io): Promise<number> {
  const limitMs = parseLimit(options);
  const waited = await waitForDecision(id, { decisions, clock: realClock, limitMs, signal: createStopSignal() });
  if (waited.is === 'none') return reportMissing(id, io);
  const { decision } = waited;
  if (options.json) printJson(io, toDecisionJson(decision));
  else if (decision.outcome.is !== 'open') io.out(formatLines(formatOutcome(decision)));
  if (waited.is === 'limit' || waited.is === 'stopped')
    io.err(`decision ${id} is still open: go on with hivebar decision wait ${id}\n`);
  return toExitCode(waited.is, decision);
}

function toExitCode(waited: DecisionWaitResult['is'], { outcome, next }: Decision): number {
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

function parseLimit({ limit }: DecisionArgs): number | null {
  return limit === undefined ? null : parseMillis('--limit', limit);
}

function reportMissing(id: number, io: Io): number {
  io.err(`hivebar decision: there is no decision ${id}: see hivebar decision list\n`);
  return 1;
}

function printJson(io: Io, value: unknown): void {
  io.out(`${displayJson(JSON.stringify(value))}\n`);
}

function formatLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
