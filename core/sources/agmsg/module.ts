import type { SourceModule } from '../module.ts';
import { AGMSG, AGMSG_PREFIX, AGMSG_SETTINGS, type AgmsgSettings } from './settings.ts';

/** The messages of agents in teams of agmsg. */
export const agmsg = {
  name: AGMSG,
  prefix: AGMSG_PREFIX,
  summary: 'the messages of agents in teams of agmsg',
  settings: AGMSG_SETTINGS,
  texts: { 'mail-grows': 'nothing was read for 10 min, and more came' },
  findPlaces: async (settings, host) => (await import('./open.ts')).findAgmsgPlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openAgmsg(settings, host),
  doctor: (settings) => [
    {
      name: AGMSG,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.ts')).checkAgmsg(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<AgmsgSettings>;
