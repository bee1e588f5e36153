import type { PersonaId } from '../../../core/model/index.ts';

/**
 * What a person can be notified of: all mail, urgent mail and decisions of high urgency, questions, permission prompts, agents that
 * wait, and outages.
 */
export const NOTIFY_KINDS = ['mail', 'urgent', 'questions', 'permissions', 'waits', 'outages'] as const;
export type NotifyKind = (typeof NOTIFY_KINDS)[number];

/** One entry of the setting `notify`. */
export interface PersonaRule {
  /** An id, or the beginning of ids and a `*`. */
  readonly persona: string;
  /** Absent: everything. Empty: nothing. */
  readonly only?: readonly NotifyKind[];
  /** Absent: as the setting `sound` says. */
  readonly sound?: boolean;
}

/** The JSON schema of the setting `notify`. */
export const NOTIFY_SETTING = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      persona: {
        type: 'string',
        pattern: '^(?:[^*]+\\*?|\\*)$',
        description: 'an id, or the beginning of ids and a *',
      },
      only: { type: 'array', items: { enum: NOTIFY_KINDS }, uniqueItems: true },
      sound: { type: 'boolean' },
    },
    required: ['persona'],
    additionalProperties: false,
  },
  default: [],
  description: 'what each persona notifies of, and with a sound or not; the first entry that fits applies',
} as const;

/** The rule of each persona. */
export interface PersonaRules {
  wants(persona: PersonaId, kind: NotifyKind): boolean;
  /** Undefined: as the setting `sound` says. */
  findSound(persona: PersonaId): boolean | undefined;
}

/** Without a rule, a persona notifies of everything. */
export function createPersonaRules(rules: readonly PersonaRule[]): PersonaRules {
  const find = (persona: PersonaId): PersonaRule | undefined => rules.find((rule) => fits(rule.persona, persona));
  return {
    wants: (persona, kind) => find(persona)?.only?.includes(kind) ?? true,
    findSound: (persona) => find(persona)?.sound,
  };
}

function fits(pattern: string, persona: PersonaId): boolean {
  return pattern.endsWith('*') ? persona.startsWith(pattern.slice(0, -1)) : persona === pattern;
}
