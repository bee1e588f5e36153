import type { XStatic } from 'typebox/schema';

/** The name of this source, the id of its one hive, and its setting. */
export const AGMSG = 'agmsg';
export const AGMSG_PREFIX = 'agmsg-';

/** The installations of agmsg. By default those of this user, as soon as there is one. */
const INSTALLATIONS = {
  type: 'object',
  properties: {
    is: { enum: ['auto', 'off'] },
    /** Folders of installations. Default: every one in `~/.agents/skills`. */
    roots: { type: 'array', items: { type: 'string', minLength: 1 } },
    /** Deliver messages that were unread before the first start too. */
    backfill: { type: 'boolean' },
    /** Let a person write to agents from here. */
    actions: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'auto' },
  description: 'the installations of agmsg whose teams are watched',
} as const;

export const AGMSG_SETTINGS = { agmsg: INSTALLATIONS } as const;

export interface AgmsgSettings {
  readonly agmsg: XStatic<typeof INSTALLATIONS>;
}
