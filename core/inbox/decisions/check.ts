import { Fault } from '../../model/index.ts';
import { usage } from '../mail.ts';
import { type NewDecision, type Option, type Reply, URGENCIES } from './decision.ts';

/** All lengths in characters. An answer with everything in it stays below what a hook may show at once (contract 3.8). */
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

/** What holds where nothing is said of it. */
export const PRESET = { mostIterations: 3, forMs: 86_400_000 } as const;

const OPTION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
// Control characters, and the two separators that a line reader takes for a line's end.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// The same, but for tabs and the ends of lines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** What an asker may leave out is absent or null. */
type Given<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/**
 * A question, checked. Without options it must be one that free text answers. `short` of an option is its label unless given.
 * `forMs` null is for ever, absent a day.
 *
 * @throws Fault `usage`, naming the field and its value.
 */
export function newDecisionOf(
  given: Given<Omit<NewDecision, 'options' | 'urgency'>> & {
    readonly options?: readonly { readonly id: string; readonly short?: string | null; readonly label: string }[];
    readonly urgency?: string | null | undefined;
  },
): NewDecision {
  const options = (given.options ?? []).map(optionOf);
  const freeText = given.freeText ?? false;
  if (options.length > LIMITS.options) throw usage(`there may be ${LIMITS.options} options at most`, options.length);
  if (options.length === 0 && !freeText) throw usage('there must be an option, or free text as the answer', undefined);
  const twice = options.find(({ id }, at) => options.findIndex((one) => one.id === id) !== at);
  if (twice !== undefined) throw usage('every option must have an id of its own', twice.id);
  const fallback = given.fallback ?? null;
  if (fallback !== null && !options.some(({ id }) => id === fallback))
    throw usage(`the default must be ${namesOf(options)}`, fallback);
  const urgency = URGENCIES.find((one) => one === (given.urgency ?? 'normal'));
  if (urgency === undefined) throw usage(`"urgency" must be one of ${URGENCIES.join(', ')}`, given.urgency);
  return {
    persona: nameOf('persona', given.persona),
    prompt: textOf('prompt', given.prompt, LIMITS.prompt),
    context: given.context == null ? null : textOf('context', given.context, LIMITS.context),
    options,
    freeText,
    fallback,
    urgency,
    blocking: given.blocking ?? false,
    mostIterations: wholeOf('mostIterations', given.mostIterations ?? PRESET.mostIterations, LIMITS.iterations),
    forMs: given.forMs === null ? null : wholeOf('forMs', Math.floor(given.forMs ?? PRESET.forMs), LIMITS.forMs),
    refines: given.refines == null ? null : wholeOf('refines', given.refines, Number.MAX_SAFE_INTEGER),
  };
}

/** An answer, checked as far as the decision need not be known. @throws Fault `usage` */
export function replyOf(given: Given<Reply>): Reply {
  const text = given.text == null || given.text.trim() === '' ? null : textOf('text', given.text, LIMITS.text);
  const select = given.select ?? null;
  const acceptGuidance = given.acceptGuidance ?? false;
  if (select === null && text === null) throw usage('an answer must select an option or have text', undefined);
  if (acceptGuidance && text === null) throw usage('there must be text to accept as the guidance', undefined);
  if (acceptGuidance && select !== null)
    throw usage('an answer selects an option or closes with guidance, not both', select);
  return { select, text, acceptGuidance, by: nameOf('by', given.by) };
}

export function nameOf(field: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw usage(`"${field}" must be a name`, value);
  if (CONTROL.test(value) || !value.isWellFormed())
    throw usage(`"${field}" must not contain control characters`, value);
  if (lengthOf(value) > LIMITS.name) throw usage(`"${field}" may have ${LIMITS.name} characters at most`, value);
  return value;
}

/** Text of several lines; a lone surrogate, which no encoding can carry, becomes U+FFFD. */
export function textOf(field: string, value: unknown, most: number): string {
  if (typeof value !== 'string' || value.trim() === '') throw usage(`"${field}" must be text`, value);
  if (CONTROL_IN_TEXT.test(value)) throw usage(`"${field}" must not contain control characters`, value);
  const length = lengthOf(value);
  if (length > most) throw usage(`"${field}" may have ${most} characters at most`, length);
  return value.toWellFormed();
}

/** Names of options for a person: `a or b`. */
export function namesOf(options: readonly Option[]): string {
  return options.length === 0 ? 'left out, since there are no options' : options.map(({ id }) => id).join(' or ');
}

function optionOf({
  id,
  short,
  label,
}: {
  readonly id: string;
  readonly short?: string | null;
  readonly label: string;
}): Option {
  if (!OPTION_ID.test(id) || id.length > LIMITS.optionId)
    throw usage(`the id of an option has 1 to ${LIMITS.optionId} letters, digits, - or _, the first no - or _`, id);
  const whole = lineOf(`label of option ${id}`, label, LIMITS.label);
  const cut = [...whole];
  const ownShort = cut.length <= LIMITS.short ? whole : `${cut.slice(0, LIMITS.short - 3).join('')}...`;
  return { id, short: short == null ? ownShort : lineOf(`short of option ${id}`, short, LIMITS.short), label: whole };
}

function lineOf(field: string, value: unknown, most: number): string {
  const text = textOf(field, value, most);
  if (CONTROL.test(text)) throw usage(`"${field}" must be one line`, value);
  return text;
}

function wholeOf(field: string, value: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > most)
    throw usage(`"${field}" must be a whole number from 1 to ${most}`, value);
  return value;
}

function lengthOf(text: string): number {
  return text.length > 10 * LIMITS.context ? text.length : [...text].length;
}

/** A mistake of who asks, in words that need no value. */
export function refusal(what: string): Fault {
  return new Fault('usage', what, { is: 'machine', key: 'usage' });
}
