import {
  type CommandSchema,
  defineCommand,
  type Io,
  type ParsedValues,
  toUsageFault,
} from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import {
  CANCEL_FIELDS,
  DECISION_FIELDS,
  type Decision,
  type DecisionResult,
  type DecisionWaitResult,
  parseNewDecision,
  parseReply,
  parseTimeout,
  toDecisionJson,
  waitForDecision,
} from '../../core/inbox/decisions/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { findOwnPersona, resolveActingPersona } from './caller-persona.ts';
import { formatDecision, formatDecisionLine, formatOutcome } from './decision-text.ts';
import { type DecisionAccess, runWithDecisions } from './open-local-hive.ts';
import { createStopSignal } from './process.node.ts';

/** Exit codes of `wait` and of `create --wait`. */
const STILL_OPEN = 3;
const GUIDED = 4;
const TIMED_OUT = 5;
const CANCELLED = 6;

/** The answering name when neither `--by` nor the environment gives one. */
const OPERATOR = 'operator';

const takesId = (verb: string) =>
  ({
    id: { value: 'ID', parse: parseId, completes: 'decision', missing: `decision ${verb}: ID is missing` },
  }) as const;

const BY = {
  by: {
    type: 'string',
    value: 'NAME',
    completes: 'persona',
    help: `${CANCEL_FIELDS.by.description} (default: HIVEBAR_PERSONA, else operator)`,
  },
} as const;

const SCHEMA = {
  name: 'decision',
  about: [
    'A question of an agent to a person. The answer goes to the inbox of the agent, even while hivebar is closed.',
  ],
  flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
  verbs: {
    create: {
      help: 'ask a question; without PROMPT it is read from stdin',
      positionals: { words: { value: 'PROMPT', optional: true, many: true } },
      flags: {
        as: {
          type: 'string',
          value: 'PERSONA',
          completes: 'persona',
          help: `${DECISION_FIELDS.persona.description} (default: HIVEBAR_PERSONA, else the persona with a session in this folder)`,
        },
        option: {
          type: 'string',
          value: 'ID=LABEL',
          multiple: true,
          parse: parseOption,
          help: `${DECISION_FIELDS.options.items.description}; ID:SHORT=LABEL adds ${DECISION_FIELDS.options.items.properties.short.description}`,
        },
        'free-text': { type: 'boolean', help: DECISION_FIELDS.freeText.description },
        default: { type: 'string', value: 'ID', help: DECISION_FIELDS.default.description },
        timeout: {
          type: 'duration',
          value: 'SPAN',
          parse: parseTimeout,
          completes: ['never'],
          help: DECISION_FIELDS.timeout.description,
        },
        context: { type: 'string', help: DECISION_FIELDS.context.description },
        urgency: {
          type: 'string',
          value: 'low|normal|high',
          completes: DECISION_FIELDS.urgency.enum,
          help: DECISION_FIELDS.urgency.description,
        },
        'max-iterations': {
          type: 'number',
          parse: parseCount,
          help: DECISION_FIELDS.mostIterations.description,
        },
        refines: {
          type: 'number',
          value: 'ID',
          parse: parseCount,
          help: DECISION_FIELDS.refines.description,
        },
        wait: { type: 'boolean', help: 'wait for the answer, as wait does' },
        limit: { type: 'duration', help: 'with --wait: wait no longer than this' },
      },
    },
    list: {
      help: 'list the newest decisions',
      flags: {
        as: { type: 'string', value: 'PERSONA', completes: 'persona', help: 'only what this persona asked' },
        open: { type: 'boolean', help: 'only those without an answer' },
        limit: { type: 'number', default: '50', parse: parseCount, help: 'at most N' },
      },
    },
    show: { help: 'show one decision in full', positionals: takesId('show') },
    respond: {
      help: 'answer a decision',
      positionals: takesId('respond'),
      flags: {
        select: { type: 'string', value: 'ID', help: 'choose this option' },
        text: {
          type: 'string',
          help: 'a note to the option; the answer, if the question takes text; else guidance, and it is asked again',
        },
        'accept-guidance': { type: 'boolean', help: 'close the decision with the text as guidance' },
        ...BY,
      },
    },
    wait: {
      help: 'block until it is closed, and print the answer',
      positionals: takesId('wait'),
      flags: { limit: { type: 'duration', help: 'wait no longer than this' } },
    },
    cancel: {
      help: 'cancel a decision',
      positionals: takesId('cancel'),
      flags: { ...BY, reason: { type: 'string', help: CANCEL_FIELDS.reason.description } },
    },
  },
  notes: [
    'wait exits with 0: answered, 3: still open, 4: guidance, asked again, 5: not answered in time,',
    '6: cancelled.',
  ],
  examples: [
    {
      run: 'hivebar decision create --as ada --option y=Deploy --option "n=Not yet" --wait "Deploy to production?"',
      does: 'asks, and waits for the answer',
    },
    { run: 'hivebar decision list --open', does: 'what waits for an answer' },
    { run: 'hivebar decision respond 3 --select y --text "but watch the logs"', does: 'answers, with a note' },
  ],
} as const satisfies CommandSchema;

type DecisionValues<V extends ParsedValues<typeof SCHEMA>['verb']> = Extract<
  ParsedValues<typeof SCHEMA>,
  { readonly verb: V }
>;

export const command = defineCommand(SCHEMA, async (values, io) => {
  switch (values.verb) {
    case 'create':
      return create(values, io);
    case 'list':
      return list(values, io);
    case 'show':
      return show(values, io);
    case 'respond':
      return respond(values, io);
    case 'wait':
      return runWithDecisions(io, (access) => wait(access, values.id, values.limit, values.json, io));
    case 'cancel':
      return cancel(values, io);
  }
});

async function create(options: DecisionValues<'create'>, io: Io): Promise<number> {
  const { words, timeout, refines } = options;
  if (options.limit !== undefined && !options.wait) throw toUsageFault(new Error('--limit is used only with --wait'));
  const prompt = words.length > 0 ? words.join(' ') : (await io.input()).trimEnd();
  const fields = {
    prompt,
    context: options.context,
    options: options.option,
    freeText: options['free-text'],
    fallback: options.default,
    urgency: options.urgency,
    blocking: options.wait,
    mostIterations: options['max-iterations'],
    forMs: timeout,
    refines,
  };
  return runWithDecisions(io, async (access) => {
    const persona = resolveActingPersona(io, access.db, options.as);
    const decision = access.decisions.create(parseNewDecision({ ...fields, persona }));
    if (options.wait) {
      io.err(`decision ${decision.id} asked by ${displayName(persona)}; waiting for the answer\n`);
      // a person can only answer a decision that is shown
      const [code] = await Promise.all([wait(access, decision.id, options.limit, options.json, io), access.tell()]);
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

function list(options: DecisionValues<'list'>, io: Io): Promise<number> {
  const { as: persona = null, open: onlyOpen, limit } = options;
  return runWithDecisions(io, ({ decisions }) => {
    const matching = decisions.list({ persona, onlyOpen, limit });
    if (options.json) printJson(io, matching.map(toDecisionJson));
    else if (matching.length === 0) io.out(onlyOpen ? 'no decision is open\n' : 'there is no decision\n');
    else for (const decision of matching) io.out(`${formatDecisionLine(decision)}\n`);
    return 0;
  });
}

function show({ id, json: asJson }: DecisionValues<'show'>, io: Io): Promise<number> {
  return runWithDecisions(io, ({ decisions }) => {
    const decision = decisions.get(id);
    if (decision === null) return reportMissing(id, io);
    if (asJson) printJson(io, toDecisionJson(decision));
    else
      io.out(
        formatDecision(decision, realClock.now())
          .map((line) => `${line}\n`)
          .join(''),
      );
    return 0;
  });
}

async function respond(options: DecisionValues<'respond'>, io: Io): Promise<number> {
  const { id, select, text } = options;
  if (select === undefined && (text === undefined || text.trim() === '')) {
    io.err(
      `hivebar decision: nothing was answered: give --select ID, --text TEXT or both (hivebar decision show ${id})\n`,
    );
    return 1;
  }
  const reply = parseReply({ select, text, acceptGuidance: options['accept-guidance'], by: findAnswerer(options, io) });
  return runWithDecisions(io, ({ decisions }) => reportResult(decisions.respond(id, reply), id, options.json, io));
}

function cancel(options: DecisionValues<'cancel'>, io: Io): Promise<number> {
  const { id, reason = null } = options;
  return runWithDecisions(io, ({ decisions }) =>
    reportResult(decisions.cancel(id, findAnswerer(options, io), reason), id, options.json, io),
  );
}

function findAnswerer({ by }: { readonly by: string | undefined }, io: Io): string {
  return by ?? findOwnPersona(io) ?? OPERATOR;
}

function reportResult(answer: DecisionResult, id: number, asJson: boolean, io: Io): number {
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

async function wait(
  { decisions }: DecisionAccess,
  id: number,
  limitMs: number | undefined,
  asJson: boolean,
  io: Io,
): Promise<number> {
  const waited = await waitForDecision(id, {
    decisions,
    clock: realClock,
    limitMs: limitMs ?? null,
    signal: createStopSignal(),
  });
  if (waited.is === 'none') return reportMissing(id, io);
  const { decision } = waited;
  if (asJson) printJson(io, toDecisionJson(decision));
  else if (decision.outcome.is !== 'open') io.out(formatLines(formatOutcome(decision)));
  if (waited.is === 'limit' || waited.is === 'stopped')
    io.err(`decision ${id} is still open: continue with hivebar decision wait ${id}\n`);
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

function parseId(text: string): number {
  return parseCount(text, 'decision');
}

/** @throws Error which names the flag and the value */
function parseCount(text: string, label: string): number {
  const n = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(n) && n >= 1) return n;
  throw new Error(`${label} ${text} is not a whole number above 0`);
}

/** Parses `ID=LABEL` or `ID:SHORT=LABEL`. @throws Error which names the value */
function parseOption(text: string): { readonly id: string; readonly short: string | null; readonly label: string } {
  const [, id, short = null, label] = /^([^=:]*)(?::([^=]*))?=([\s\S]*)$/.exec(text) ?? [];
  if (id === undefined || label === undefined)
    throw new Error(`--option ${text}: must be ID=LABEL, or ID:SHORT=LABEL with a short text for a button`);
  return { id, short, label };
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
