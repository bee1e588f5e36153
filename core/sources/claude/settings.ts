import type { XStatic } from 'typebox/schema';

/** The name of this source, the id of its one hive, and its setting. */
export const CLAUDE = 'claude';
export const CLAUDE_PREFIX = 'claude-';

const CONFIG_DIRECTORIES = {
  type: 'object',
  properties: {
    is: { enum: ['auto', 'off'] },
    /** Default: `$CLAUDE_CONFIG_DIR`, else `~/.claude`. */
    directories: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true },
    /** Let a person reply to a session from here. */
    actions: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'auto' },
  description: 'the config directories of Claude Code whose sessions and teams are watched',
} as const;

export const CLAUDE_SETTINGS = { claude: CONFIG_DIRECTORIES } as const;

export interface ClaudeSettings {
  readonly claude: XStatic<typeof CONFIG_DIRECTORIES>;
}
