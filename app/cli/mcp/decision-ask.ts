import { displayText } from '../../../core/format/index.ts';
import {
  type Decision,
  type Decisions,
  parseNewDecision,
  parseReply,
  waitForDecision,
} from '../../../core/inbox/decisions/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { runWithDecisions } from '../open-local-hive.ts';
import { refuse, type ToolArguments } from './arguments.ts';
import { findMcpCaller } from './caller.ts';
import { readById } from './inbox-read.ts';
import {
  type FormAnswer,
  type FormParams,
  openInbox,
  startProgress,
  type ToolCall,
  type ToolResult,
} from './tool-call.ts';
import { BOUNDS } from './tools.ts';

/** How long a call waits for the form. Afterwards the question is open everywhere else. */
const FORM_MS = 300_000;
/** Who answers in the form of the agent program. */
const TERMINAL = 'terminal';
/** The items that are looked through for the answer. */
const MOST_ITEMS = 200;

/**
 * Asks the person. Where the client offers forms, they may answer in the terminal of the agent at once; the first answer counts, wherever it
 * is given. A form that is declined or closed leaves the decision open. @throws Fault
 */
export async function askDecision(given: ToolArguments, call: ToolCall): Promise<ToolResult> {
  const { io, thread, forms } = call;
  if (forms?.is === 'repeats' && forms.repeated !== null) return await endForm(call, forms.repeated);
  const question = given.getText('question');
  const options = parseOptions(given.get('options'));
  const urgency = given.isSet('urgent') ? 'high' : 'normal';
  const decision = await runWithDecisions(io, ({ decisions, db }) => {
    const { name: persona } = findMcpCaller(io, db, thread);
    return decisions.create(parseNewDecision({ persona, prompt: question, options, urgency }));
  });
  const { id } = decision;
  if (forms === null) return toAsked(id);
  const form = toForm(decision);
  if (forms.is === 'repeats') return { ...toAsked(id), form: { params: form, decision: id } };
  await runWithDecisions(io, ({ decisions }) =>
    waitForForm(decision, decisions, call, (signal) => forms.ask(form, signal)),
  );
  return await endForm(call, { decision: id, answer: null });
}

/** @throws Fault `usage` */
function parseOptions(value: unknown): readonly { readonly id: string; readonly label: string }[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > BOUNDS.options)
    throw refuse(`options: must be a list of 1 to ${BOUNDS.options} answers, each {"id": "y", "label": "Yes"}`);
  return value.map((option: unknown, at) => {
    const { id, label } = (option ?? {}) as { readonly id?: unknown; readonly label?: unknown };
    if (typeof id === 'string' && typeof label === 'string') return { id, label };
    throw refuse(`options[${at}]: must be {"id": "y", "label": "Yes"}`);
  });
}

const toAsked = (id: number): ToolResult => ({
  text: `Asked as decision ${id}. The answer comes as mail: call wait, or go on.`,
  structured: { id },
});

function toForm({ prompt, options }: Decision): FormParams {
  return {
    message: displayText(prompt),
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: 'Answer',
          enum: options.map(({ id }) => id),
          enumNames: options.map(({ label }) => displayText(label)),
        },
      },
      required: ['answer'],
    },
  };
}

/** Returns when the decision is closed by anybody, the form was declined, or its time is over. The form is withdrawn then. */
async function waitForForm(
  { id }: Decision,
  decisions: Decisions,
  { signal, progress }: ToolCall,
  ask: (signal: AbortSignal) => Promise<FormAnswer>,
): Promise<void> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  startProgress(progress, FORM_MS / 1000, over.signal);
  const answered = ask(over.signal)
    .then((answer) => respond(decisions, id, answer))
    .finally(stop);
  answered.catch(() => {}); // awaited below
  try {
    await waitForDecision(id, { decisions, clock: realClock, limitMs: FORM_MS, signal: over.signal });
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
  await answered;
}

/** An answer that is none of the options is none: the person is asked everywhere else. */
function respond(decisions: Decisions, id: number, answer: FormAnswer): void {
  if (decisions.get(id)?.options.some((option) => option.id === answer) !== true) return;
  decisions.respond(id, parseReply({ select: answer, by: TERMINAL }));
}

/** Returns the answer, whoever gave it first; that it was asked while there is none. */
async function endForm(
  call: ToolCall,
  { decision: id, answer }: { readonly decision: number; readonly answer: FormAnswer },
): Promise<ToolResult> {
  const decision = await runWithDecisions(call.io, ({ decisions }) => {
    respond(decisions, id, answer);
    return decisions.get(id);
  });
  if (decision === null || decision.outcome.is === 'open') return toAsked(id);
  const choice = decision.outcome.is === 'resolved' ? decision.outcome.choice : null;
  const head = `Decision ${id} is closed.${choice === null ? '' : ` Chosen: ${choice}.`}`;
  const inbox = openInbox(call);
  try {
    const { items, caller } = inbox;
    const key = `hivebar:decision:${id}`;
    const item = items.list(caller.name, 'pending', MOST_ITEMS).find(({ dedupKey }) => dedupKey === key);
    if (item === undefined) {
      inbox[Symbol.dispose]();
      return { text: `${head} Its mail was read already.`, structured: { id, answer: choice } };
    }
    const read = readById(inbox, [item.id], call.io);
    return { ...read, text: `${head}\n${read.text}`, structured: { id, answer: choice, ...read.structured } };
  } catch (error) {
    inbox[Symbol.dispose]();
    throw error;
  }
}
