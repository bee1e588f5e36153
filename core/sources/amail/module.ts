import type { SourceModule } from '../module.ts';
import {
  AMAIL,
  AMAIL_PREFIX,
  AMAIL_SETTINGS,
  type AmailSettings,
  checkAmailSettings,
  TOKEN_VARIABLE,
} from './settings.ts';

/** The agents of an MCP Agent Mail server, over its HTTP routes. */
export const amail = {
  name: AMAIL,
  prefix: AMAIL_PREFIX,
  summary: 'the agents of an MCP Agent Mail server',
  settings: AMAIL_SETTINGS,
  checkSettings: checkAmailSettings,
  listAddresses: ({ amail: { base } }) => (base === undefined ? [] : [base]),
  secrets: [TOKEN_VARIABLE],
  texts: { degraded: 'the mail server is degraded, so these numbers may be old' },
  findPlaces: async (settings, host) => (await import('./open.ts')).findAmailPlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openAmail(settings, host),
  doctor: (settings) => [
    {
      name: AMAIL,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.node.ts')).checkAmail(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<AmailSettings>;
