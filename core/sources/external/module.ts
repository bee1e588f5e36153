import type { SourceModule } from '../module.ts';
import { ACTIONS, checkExternalSettings, EXTERNAL, EXTERNAL_SETTINGS, type ExternalSettings } from './settings.ts';

const closed = { type: 'object', additionalProperties: false } as const;
const NAME = { type: 'string', minLength: 1, maxLength: 32 } as const;
const TEXT = { type: 'string', minLength: 1, maxLength: 20_000 } as const;

/** Programs, files and mailboxes of the user, each a source with a name of its own. */
export const external = {
  name: EXTERNAL,
  prefix: null,
  summary: 'programs, files and mailboxes of your own',
  settings: EXTERNAL_SETTINGS,
  checkSettings: checkExternalSettings,
  listPrefixes: ({ sources = [] }) => sources.map(({ name }) => `${name}-`),
  listAddresses: ({ sources }) => sources.flatMap(({ url }) => url ?? []),
  actions: [
    { name: ACTIONS.changed, title: 'Watch the sources of the settings', params: { ...closed, properties: {} } },
    {
      name: ACTIONS.restart,
      title: 'Restart a source',
      params: { ...closed, properties: { source: NAME }, required: ['source'] },
    },
    { name: ACTIONS.report, title: 'Say how the sources do', params: { ...closed, properties: {} } },
    {
      name: ACTIONS.reply,
      title: 'Reply through a source',
      params: { ...closed, properties: { persona: TEXT, text: TEXT }, required: ['persona', 'text'] },
    },
  ],
  commands: [
    {
      name: 'source',
      summary: 'watch programs, files and mailboxes of your own',
      needs: 'bare',
      load: () => import('./commands/index.ts'),
    },
  ],
  doctor: (settings) => [
    {
      name: 'sources',
      about: ['mail'],
      hints: [],
      run: async () => (await import('./doctor.node.ts')).checkSources(settings),
    },
  ],
  open: async (settings, host) => (await import('./open.ts')).openExternal(settings, host),
} as const satisfies SourceModule<ExternalSettings>;
