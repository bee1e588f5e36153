import type { SourceModule } from '../module.ts';
import { ACTION_PARAMS } from './action-schema.ts';
import { BRAINCLAW, BRAINCLAW_PREFIX, BRAINCLAW_SETTINGS, type BrainclawSettings } from './settings.ts';

/** Projects that brainclaw keeps: a board for the person, and the mail of agents. */
export const brainclaw = {
  name: BRAINCLAW,
  prefix: BRAINCLAW_PREFIX,
  summary: 'projects that brainclaw keeps, and the mail of their agents',
  settings: BRAINCLAW_SETTINGS,
  hasProjects: true,
  actions: [{ name: BRAINCLAW, title: 'Act on an item of a project', params: ACTION_PARAMS }],
  commands: [
    {
      name: BRAINCLAW,
      summary: 'show the board of a brainclaw project, and act on it',
      needs: 'bare',
      load: () => import('./commands/index.ts'),
    },
  ],
  findPlaces: async (settings, host) => await (await import('./open.ts')).findBrainclawPlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openBrainclaw(settings, host),
  doctor: (settings) => [
    {
      name: BRAINCLAW,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.node.ts')).checkBrainclaw(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<BrainclawSettings>;
