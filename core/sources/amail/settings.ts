import type { XStatic } from 'typebox/schema';
import { Fault, type FaultCode } from '../../model/index.ts';
import type { SettingProblem, SettingsRules } from '../module.ts';

/** The name of this source, the id of its one hive, and its setting. */
export const AMAIL = 'amail';
export const AMAIL_PREFIX = 'amail-';

/** The variable with the token of the server, in its own environment files and in that of Hivebar. */
export const TOKEN_VARIABLE = 'HTTP_BEARER_TOKEN';

/** The server. By default it is that of this user, as soon as it answers. */
const SERVER = {
  type: 'object',
  properties: {
    is: { enum: ['auto', 'off'] },
    /** `http://HOST:PORT`. Default: the environment files of the server decide, else `http://127.0.0.1:8765`. */
    base: { type: 'string', minLength: 1 },
    /** A file with the token. Default: the variable `HTTP_BEARER_TOKEN`, else the environment files of the server. */
    tokenFile: { type: 'string', minLength: 1 },
    /** The environment file of the server. Default: the places where the server itself looks. */
    envFile: { type: 'string', minLength: 1 },
    /** Fill gaps with `am inbox-events`. */
    inboxEvents: { type: 'boolean' },
    /** Let a person send mail from here, with `am mail`. */
    actions: { type: 'boolean' },
  },
  required: ['is'],
  additionalProperties: false,
  default: { is: 'auto' },
  description: 'the MCP Agent Mail server whose agents are watched',
} as const;

export const AMAIL_SETTINGS = { amail: SERVER } as const;

export type ServerSetting = XStatic<typeof SERVER>;

export interface AmailSettings {
  readonly amail: ServerSetting;
}

export function checkAmailSettings({ amail }: Partial<AmailSettings>, rules: SettingsRules): readonly SettingProblem[] {
  if (amail?.base === undefined) return [];
  const at = '/amail/base';
  try {
    rules.checkAddress(amail.base);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ at, message: error.message }];
  }
  const { search, hash, pathname } = new URL(amail.base);
  if (search === '' && hash === '' && pathname === '/') return [];
  return [{ at, message: 'must be scheme, host and port only, like http://127.0.0.1:8765' }];
}

/** A Fault of the server, which concerns all of its agents alike. */
export function createServerFault(code: FaultCode, message: string, options?: ErrorOptions): Fault {
  return new Fault(code, message, { is: 'source', key: AMAIL }, options);
}
