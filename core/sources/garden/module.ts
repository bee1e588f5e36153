import type { SourceModule } from '../module.ts';
import { GARDEN, GARDEN_PREFIX, GARDEN_SETTINGS, type GardenSettings } from './settings.ts';

/** A garden of native sessions, as entwurf keeps it. */
export const garden = {
  name: GARDEN,
  prefix: GARDEN_PREFIX,
  summary: 'the mail of native sessions in a garden store',
  settings: GARDEN_SETTINGS,
  texts: { 'no-drain': 'no agent reads this mailbox' },
  commands: [
    {
      name: GARDEN,
      summary: 'show and change a garden of agent sessions and their mail',
      needs: 'bare',
      load: () => import('./commands/index.ts'),
    },
  ],
  findPlaces: async (settings, host) => (await import('./open.ts')).findGardenPlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openGarden(settings, host),
  doctor: (settings) => [
    {
      name: GARDEN,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.node.ts')).checkGarden(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<GardenSettings>;
