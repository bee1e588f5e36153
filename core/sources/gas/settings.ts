import type { XStatic } from 'typebox/schema';

/** The name of this source, its setting, and the id of the hive of a town. */
export const GAS = 'gas';
export const GAS_PREFIX = 'gas-';

/** Gas City and Gas Town of this machine. */
const PLACES = {
  type: 'object',
  properties: {
    is: { enum: ['auto', 'off'] },
    /** Where the supervisor of Gas City listens. Default: `http://127.0.0.1:8372`, as soon as it answers there. */
    city: { type: 'string', minLength: 1 },
    /** The folder of Gas Town. Default: `~/gt`, as soon as it is there. */
    town: { type: 'string', minLength: 1 },
    /** Let a person reply from here. */
    actions: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'auto' },
  description: 'the cities of Gas City and the town of Gas Town whose mail is watched',
} as const;

export const GAS_SETTINGS = { gas: PLACES } as const;

export interface GasSettings {
  readonly gas: XStatic<typeof PLACES>;
}

/** Where the supervisor of Gas City listens by default. */
export const CITY_ADDRESS = 'http://127.0.0.1:8372';
