import type { XStatic } from 'typebox/schema';
import { parseDuration, toUsageFault } from '../../command/index.ts';
import { LIMITS, type NewDecision, OPTION_ID, PRESET, parseNewDecision, URGENCIES } from './decision.ts';

/**
 * The fields of a question as a program asks it, each a JSON Schema. The flags of `hivebar decision create`, the body of
 * `POST /api/v1/decisions` and its description in OpenAPI derive from this.
 */
export const DECISION_FIELDS = {
  persona: { type: 'string', minLength: 1, maxLength: LIMITS.name, description: 'who asks' },
  prompt: { type: 'string', minLength: 1, maxLength: LIMITS.prompt, description: 'the question' },
  options: {
    type: 'array',
    maxItems: LIMITS.options,
    items: {
      type: 'object',
      properties: {
        id: { type: 'string', maxLength: LIMITS.optionId, pattern: OPTION_ID.source },
        short: { type: 'string', minLength: 1, maxLength: LIMITS.short, description: 'a short text for a button' },
        label: { type: 'string', minLength: 1, maxLength: LIMITS.label, description: 'one line' },
      },
      required: ['id', 'label'],
      additionalProperties: false,
      description: 'an answer to choose',
    },
  },
  freeText: { type: 'boolean', default: false, description: 'accept free text as an answer' },
  default: { type: 'string', description: 'the option that applies when nobody answers in time' },
  timeout: {
    anyOf: [{ type: 'string' }, { type: 'number', description: 'seconds' }],
    description: 'how long to wait for an answer: 90s, 30m, 2h, 1d (default) or never',
  },
  context: {
    type: 'string',
    minLength: 1,
    maxLength: LIMITS.context,
    description: 'background for the person who answers',
  },
  urgency: { enum: URGENCIES, default: 'normal', description: 'how soon an answer is needed' },
  mostIterations: {
    type: 'integer',
    minimum: 1,
    maximum: LIMITS.iterations,
    description: `how often it may be asked, with guidance in between (default: ${PRESET.mostIterations})`,
  },
  refines: { type: 'integer', minimum: 1, description: 'replace that open decision with another proposal' },
  blocking: { type: 'boolean', default: false, description: 'who asks waits for the answer' },
} as const;

/** The fields of a cancellation: the flags of `hivebar decision cancel`, and the body of its route. */
export const CANCEL_FIELDS = {
  by: { type: 'string', minLength: 1, maxLength: LIMITS.name, description: 'who answers or cancels' },
  reason: { type: 'string', minLength: 1, maxLength: LIMITS.text, description: 'why' },
} as const;

/** A question with the names and types of `DECISION_FIELDS`. */
type DecisionBody = XStatic<{
  readonly type: 'object';
  readonly properties: typeof DECISION_FIELDS;
  readonly required: readonly ['persona', 'prompt'];
}>;

/** @throws Fault `usage`, naming the field and its value */
export function toNewDecision({ default: fallback, timeout, ...fields }: DecisionBody): NewDecision {
  const forMs = timeout === undefined ? undefined : parseTimeout(timeout, '"timeout"');
  return parseNewDecision({ ...fields, fallback, forMs });
}

/**
 * Parses how long a question waits for an answer, into milliseconds: a duration, a number of seconds, or `never`, which is null.
 * @throws Fault `usage`, naming the field and its value
 */
export function parseTimeout(value: string | number, field: string): number | null {
  if (value === 'never') return null;
  try {
    const ms = parseDuration(typeof value === 'number' ? `${value}s` : value, field);
    if (ms <= LIMITS.forMs) return ms;
  } catch (error) {
    throw toUsageFault(error);
  }
  throw toUsageFault(new Error(`${field} ${value}: must be at most ${LIMITS.forMs / 86_400_000}d, or never`));
}
