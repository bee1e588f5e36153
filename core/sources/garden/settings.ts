import type { XStatic } from 'typebox/schema';
import { Fault } from '../../model/index.ts';

/** The name of this source, the id of its one hive, and its setting. */
export const GARDEN = 'garden';
export const GARDEN_PREFIX = 'garden-';

/** The garden store. By default it is the store of this user, as soon as that exists. */
const STORE = {
  type: 'object',
  properties: {
    is: { enum: ['auto', 'off'] },
    /** The agent directory. Default: the environment decides, else `~/.pi/agent`. */
    store: { type: 'string', minLength: 1 },
    /** Deliver messages that exist at the first start, and messages that are already read when they are first seen. */
    backfill: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'auto' },
  description: 'the garden store whose citizens are watched',
} as const;

export const GARDEN_SETTINGS = { garden: STORE } as const;

export interface GardenSettings {
  readonly garden: XStatic<typeof STORE>;
}

/**
 * A Fault for a file or a request that breaks the rules of a garden store. `about` is the garden id, file or directory concerned.
 */
export function createGardenFault(message: string, about: string, options?: ErrorOptions): Fault {
  return new Fault('garden', message, { is: 'source', key: `garden:${about}` }, options);
}
