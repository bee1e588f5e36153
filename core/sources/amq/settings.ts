import type { XStatic } from 'typebox/schema';

/** The name of this source, and its setting. */
export const AMQ = 'amq';
export const AMQ_PREFIX = 'amq-';
/** The entry of `roots` that finds queues in the folders of known sessions. */
export const AUTO = 'auto';

const QUEUES = {
  type: 'object',
  properties: {
    /** Folders that hold a queue, or one queue per session; or projects that have such a folder. `auto` finds them. */
    roots: { type: 'array', items: { type: 'string', minLength: 1 } },
    /** Whether a person may have AMQ mark their mail as read, reply and send. Default: false. */
    actions: { type: 'boolean' },
    /** Deliver what is unread when a queue is first seen. */
    backfill: { type: 'boolean' },
  },
  required: ['roots'],
  additionalProperties: false,
  default: { roots: [] },
  description: 'the queues of AMQ that are watched',
} as const;

export const AMQ_SETTINGS = { amq: QUEUES } as const;

export interface AmqSettings {
  readonly amq: XStatic<typeof QUEUES>;
}
