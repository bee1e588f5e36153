import type { XStatic } from 'typebox/schema';

/** The name of this source, the id of its one hive, and its setting. */
export const CODEX = 'codex';
export const CODEX_PREFIX = 'codex-';

/** The folder of Codex. By default it is that of this user, as soon as a queue is there. */
const HOME = {
  type: 'object',
  properties: {
    is: { enum: ['auto', 'off'] },
    /** Default: `CODEX_HOME`, else `~/.codex`. */
    home: { type: 'string', minLength: 1 },
    /** Deliver messages that waited before the first start too. */
    backfill: { type: 'boolean' },
    /** Let a person queue messages from here. */
    actions: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'auto' },
  description: 'the folder of Codex whose queue is watched',
} as const;

export const CODEX_SETTINGS = { codex: HOME } as const;

export interface CodexSettings {
  readonly codex: XStatic<typeof HOME>;
}
