import { Fault, formatIso, type Instant, isSameName } from '../../model/index.ts';
import type { OwnItem, Priority } from '../item.ts';
import { createUsageFault } from '../new-item.ts';

/**
 * A question of an agent to a person, with the answers it offers (inbox and gates, "Decision Migration"; contract 6). The
 * question never changes: a refined proposal is a new decision, which names the previous one.
 */
export interface Decision {
  /** The public id: it always rises and is never used again. */
  readonly id: number;
  /** The persona that asked. */
  readonly persona: string;
  readonly prompt: string;
  /** What a person must know to answer. */
  readonly context: string | null;
  readonly options: readonly DecisionOption[];
  /** Text alone is an answer; otherwise text is guidance, and the question is asked again. */
  readonly freeText: boolean;
  /** The id of the option that applies if nobody answers in time. */
  readonly fallback: string | null;
  readonly urgency: DecisionUrgency;
  /** The persona said that it waits for the answer. */
  readonly blocking: boolean;
  /** The first iteration is 1; each guidance starts the next one. */
  readonly iteration: number;
  readonly mostIterations: number;
  /** The decision that this one continues. */
  readonly parent: number | null;
  /** The guidance given to the previous iteration. */
  readonly guidance: string | null;
  readonly created: Instant;
  /** From then on nobody can answer; null: never. */
  readonly expires: Instant | null;
  readonly outcome: Outcome;
  /** The decision that continues this one. */
  readonly next: number | null;
}

export interface DecisionOption {
  readonly id: string;
  /** The text of a button. */
  readonly short: string;
  readonly label: string;
}

/** How soon an answer is wanted, and how soon the persona is shown it. */
export const URGENCIES = ['low', 'normal', 'high'] as const;
export type DecisionUrgency = (typeof URGENCIES)[number];

/** `by` is null if nobody answered in time and the default applies. Text without a choice and with a `next` is guidance. */
export type Outcome =
  | { readonly is: 'open' }
  | {
      readonly is: 'resolved';
      readonly at: Instant;
      readonly by: string | null;
      readonly choice: string | null;
      readonly text: string | null;
    }
  | { readonly is: 'timed-out'; readonly at: Instant }
  | { readonly is: 'cancelled'; readonly at: Instant; readonly by: string; readonly text: string | null };

/** A checked question of an agent; see `parseNewDecision`. */
export interface NewDecision {
  readonly persona: string;
  readonly prompt: string;
  readonly context: string | null;
  readonly options: readonly DecisionOption[];
  readonly freeText: boolean;
  readonly fallback: string | null;
  readonly urgency: DecisionUrgency;
  readonly blocking: boolean;
  readonly mostIterations: number;
  /** How long to wait for an answer, in milliseconds; null: for ever. */
  readonly forMs: number | null;
  /** An open decision of the same persona that this one replaces. */
  readonly refines: number | null;
}

/** A checked reply of a person; see `parseReply`. */
export interface DecisionReply {
  readonly select: string | null;
  readonly text: string | null;
  /** Text alone closes the decision. */
  readonly acceptGuidance: boolean;
  readonly by: string;
}

/** A decision as commands and routes print it. */
export function toDecisionJson(decision: Decision) {
  const { outcome } = decision;
  const isText = outcome.is === 'resolved' || outcome.is === 'cancelled';
  return {
    id: decision.id,
    persona: decision.persona,
    prompt: decision.prompt,
    context: decision.context,
    options: decision.options,
    freeText: decision.freeText,
    default: decision.fallback,
    urgency: decision.urgency,
    blocking: decision.blocking,
    iteration: decision.iteration,
    mostIterations: decision.mostIterations,
    parent: decision.parent,
    guidance: decision.guidance,
    created: formatIso(decision.created),
    expires: decision.expires === null ? null : formatIso(decision.expires),
    state: outcome.is,
    choice: outcome.is === 'resolved' ? outcome.choice : null,
    text: isText ? outcome.text : null,
    by: isText ? outcome.by : null,
    closed: outcome.is === 'open' ? null : formatIso(outcome.at),
    next: decision.next,
  };
}

/** Unless its urgency is low, an answer reaches a working agent after its next tool call. */
const PRIORITY: Readonly<Record<DecisionUrgency, Priority>> = { low: 2, normal: 1, high: 0 };

/** The source of an item that no person wrote. */
const OURSELVES = 'hivebar';

/** Creates the item that tells the asking persona how its decision was closed. It is complete, so nothing must be looked up. */
export function toOutcomeItem(decision: Decision, outcome: Exclude<Outcome, { is: 'open' }>): OwnItem {
  const by = outcome.is === 'timed-out' ? null : outcome.by;
  return {
    persona: decision.persona,
    key: `decision:${decision.id}`,
    type: 'decision',
    source: by === null || isSameName(by, decision.persona) ? OURSELVES : by,
    content: formatOutcome(decision, outcome),
    priority: PRIORITY[decision.urgency],
    session: null,
    created: outcome.at,
    expires: null,
  };
}

function formatOutcome(decision: Decision, outcome: Exclude<Outcome, { is: 'open' }>): string {
  const question = `You asked: ${decision.prompt}`;
  const name = `Decision ${decision.id}`;
  switch (outcome.is) {
    case 'timed-out':
      return `${name} was not answered in time, and has no default.\n${question}`;
    case 'cancelled': {
      const why = outcome.text === null ? [] : [`Reason: ${outcome.text}`];
      return [`${name} was cancelled by ${outcome.by}.`, question, ...why].join('\n');
    }
    case 'resolved': {
      const { by, choice, text } = outcome;
      if (decision.next !== null)
        return [
          `${name} is not decided: ${by} gave guidance instead of a choice.`,
          question,
          `Guidance: ${text}`,
          `It is open again as decision ${decision.next} with the same options. To propose others: hivebar decision create --refines ${decision.next} ...`,
        ].join('\n');
      const how =
        by === null ? 'was not answered in time, so the default was chosen by itself.' : `was answered by ${by}.`;
      const chosen = choice === null ? [] : [`Chosen: ${choice} (${findOptionLabel(decision, choice)})`];
      const answerText = text === null ? [] : [`${choice === null ? 'Answer' : 'Note'}: ${text}`];
      return [`${name} ${how}`, question, ...chosen, ...answerText].join('\n');
    }
  }
}

export function findOptionLabel({ options }: Decision, choice: string): string {
  return options.find(({ id }) => id === choice)?.label ?? choice;
}

/** All lengths in characters. An answer of the largest size stays below what a hook may show at once (contract 3.8). */
export const LIMITS = {
  name: 200,
  prompt: 2000,
  context: 8000,
  optionId: 32,
  short: 40,
  label: 300,
  options: 20,
  text: 4000,
  iterations: 10,
  forMs: 30 * 86_400_000,
} as const;

/** The defaults. */
export const PRESET = { mostIterations: 3, forMs: 86_400_000 } as const;

export const OPTION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
// Control characters, and the two separators that a line reader takes for a line's end.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// The same, but for tabs and the ends of lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Fields that the caller may leave out are absent or null. */
type PartialOrNull<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/**
 * Checks a question. Without options its answer is free text. `short` of an option is its label by default. `forMs` null means
 * for ever, absent means a day.
 *
 * @throws Fault `usage`, naming the field and its value.
 */
export function parseNewDecision(
  input: PartialOrNull<Omit<NewDecision, 'options' | 'urgency'>> & {
    readonly options?: readonly { readonly id: string; readonly short?: string | null; readonly label: string }[];
    readonly urgency?: string | null | undefined;
  },
): NewDecision {
  const options = (input.options ?? []).map(parseOption);
  const freeText = input.freeText === true || options.length === 0;
  if (options.length > LIMITS.options)
    throw createUsageFault(`there may be ${LIMITS.options} options at most`, options.length);
  const twice = options.find(({ id }, at) => options.findIndex((option) => option.id === id) !== at);
  if (twice !== undefined) throw createUsageFault('every option must have a unique id', twice.id);
  const fallback = input.fallback ?? null;
  if (fallback !== null && !options.some(({ id }) => id === fallback))
    throw createUsageFault(`the default must be ${formatOptionIds(options)}`, fallback);
  const urgency = URGENCIES.find((known) => known === (input.urgency ?? 'normal'));
  if (urgency === undefined) throw createUsageFault(`"urgency" must be one of ${URGENCIES.join(', ')}`, input.urgency);
  return {
    persona: parseDecisionName('persona', input.persona),
    prompt: parseDecisionText('prompt', input.prompt, LIMITS.prompt),
    context: input.context == null ? null : parseDecisionText('context', input.context, LIMITS.context),
    options,
    freeText,
    fallback,
    urgency,
    blocking: input.blocking ?? false,
    mostIterations: parseWholeNumber(
      'mostIterations',
      input.mostIterations ?? PRESET.mostIterations,
      LIMITS.iterations,
    ),
    forMs:
      input.forMs === null ? null : parseWholeNumber('forMs', Math.floor(input.forMs ?? PRESET.forMs), LIMITS.forMs),
    refines: input.refines == null ? null : parseWholeNumber('refines', input.refines, Number.MAX_SAFE_INTEGER),
  };
}

/** Checks a reply as far as possible without the decision. @throws Fault `usage` */
export function parseReply(input: PartialOrNull<DecisionReply>): DecisionReply {
  const text =
    input.text == null || input.text.trim() === '' ? null : parseDecisionText('text', input.text, LIMITS.text);
  const select = input.select ?? null;
  const acceptGuidance = input.acceptGuidance ?? false;
  if (select === null && text === null)
    throw createUsageFault('an answer must select an option or have text', undefined);
  if (acceptGuidance && text === null)
    throw createUsageFault('there must be text to accept as the guidance', undefined);
  if (acceptGuidance && select !== null)
    throw createUsageFault('an answer selects an option or closes with guidance, not both', select);
  return { select, text, acceptGuidance, by: parseDecisionName('by', input.by) };
}

export function parseDecisionName(field: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw createUsageFault(`"${field}" must be a name`, value);
  if (CONTROL.test(value) || !value.isWellFormed())
    throw createUsageFault(`"${field}" must not contain control characters`, value);
  if (countCharacters(value) > LIMITS.name)
    throw createUsageFault(`"${field}" may have ${LIMITS.name} characters at most`, value);
  return value;
}

/** Parses text of several lines; a lone surrogate, which no encoding can carry, becomes U+FFFD. */
export function parseDecisionText(field: string, value: unknown, most: number): string {
  if (typeof value !== 'string' || value.trim() === '') throw createUsageFault(`"${field}" must be text`, value);
  if (CONTROL_IN_TEXT.test(value)) throw createUsageFault(`"${field}" must not contain control characters`, value);
  const length = countCharacters(value);
  if (length > most) throw createUsageFault(`"${field}" may have ${most} characters at most`, length);
  return value.toWellFormed();
}

/** Formats the ids of options for a person: `a or b`. */
function formatOptionIds(options: readonly DecisionOption[]): string {
  return options.length === 0 ? 'left out, since there are no options' : options.map(({ id }) => id).join(' or ');
}

function parseOption({
  id,
  short,
  label,
}: {
  readonly id: string;
  readonly short?: string | null;
  readonly label: string;
}): DecisionOption {
  if (!OPTION_ID.test(id) || id.length > LIMITS.optionId)
    throw createUsageFault(
      `the id of an option must be 1 to ${LIMITS.optionId} letters, digits, - or _, and must not begin with - or _`,
      id,
    );
  const whole = parseLine(`label of option ${id}`, label, LIMITS.label);
  const cut = [...whole];
  const ownShort = cut.length <= LIMITS.short ? whole : `${cut.slice(0, LIMITS.short - 3).join('')}...`;
  return {
    id,
    short: short == null ? ownShort : parseLine(`short of option ${id}`, short, LIMITS.short),
    label: whole,
  };
}

function parseLine(field: string, value: unknown, most: number): string {
  const text = parseDecisionText(field, value, most);
  if (CONTROL.test(text)) throw createUsageFault(`"${field}" must be one line`, value);
  return text;
}

function parseWholeNumber(field: string, value: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > most)
    throw createUsageFault(`"${field}" must be a whole number from 1 to ${most}`, value);
  return value;
}

function countCharacters(text: string): number {
  return text.length > 10 * LIMITS.context ? text.length : [...text].length;
}

/** Creates a fault for a mistake of the caller, with a message that needs no value. */
export function createRefusal(message: string): Fault {
  return new Fault('usage', message, { is: 'machine', key: 'usage' });
}

/** The effect of a reply on an open decision. */
type ReplyEffect =
  | { readonly is: 'closes'; readonly choice: string | null; readonly text: string | null }
  | { readonly is: 'asks-again'; readonly guidance: string };

/**
 * Applies the rule of contract 6. A choice closes the decision. Text alone closes a free-text question, or a decision whose reply
 * accepts it as guidance. Otherwise the text is guidance, which starts the next iteration if there is one left.
 *
 * @throws Fault `usage`: no such option, or the last iteration
 */
export function evaluateReply(decision: Decision, { select, text, acceptGuidance }: DecisionReply): ReplyEffect {
  const { id, options, freeText, iteration, mostIterations } = decision;
  if (select !== null) {
    if (options.some((option) => option.id === select)) return { is: 'closes', choice: select, text };
    const expectation = options.length === 0 ? 'it is answered with text' : `choose ${formatOptionIds(options)}`;
    throw createRefusal(`decision ${id} has no option ${JSON.stringify(select)}: ${expectation}`);
  }
  if (text === null) throw createRefusal(`decision ${id}: an answer must select an option or have text`);
  if (freeText || acceptGuidance) return { is: 'closes', choice: null, text };
  if (iteration < mostIterations) return { is: 'asks-again', guidance: text };
  throw createRefusal(
    `decision ${id} is iteration ${iteration} of ${mostIterations}, so text alone does not ask again: ` +
      `choose ${formatOptionIds(options)}, or close it with the text by --accept-guidance`,
  );
}
