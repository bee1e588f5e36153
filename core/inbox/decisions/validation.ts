import { Fault } from '../../model/index.ts';
import { createUsageFault } from '../new-item.ts';
import { type Decision, type DecisionOption, type DecisionReply, type NewDecision, URGENCIES } from './decision.ts';

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

const OPTION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
// Control characters, and the two separators that a line reader takes for a line's end.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// The same, but for tabs and the ends of lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Fields that the caller may leave out are absent or null. */
type PartialOrNull<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/**
 * Checks a question. Without options it must accept free text. `short` of an option is its label by default. `forMs` null means
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
  const freeText = input.freeText ?? false;
  if (options.length > LIMITS.options)
    throw createUsageFault(`there may be ${LIMITS.options} options at most`, options.length);
  if (options.length === 0 && !freeText)
    throw createUsageFault('there must be an option, or free text as the answer', undefined);
  const twice = options.find(({ id }, at) => options.findIndex((option) => option.id === id) !== at);
  if (twice !== undefined) throw createUsageFault('every option must have an id of its own', twice.id);
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
      `the id of an option has 1 to ${LIMITS.optionId} letters, digits, - or _, the first no - or _`,
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
