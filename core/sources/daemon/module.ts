import type { SourceModule } from '../module.ts';
import { DAEMON_PREFIX, DAEMON_SOURCE } from './settings.ts';

/** The persona daemons of this machine. They have counts and no messages. */
export const daemon = {
  name: DAEMON_SOURCE,
  prefix: DAEMON_PREFIX,
  summary: 'the persona daemons of this machine',
  settings: {},
  findPlaces: async (_settings, host) => (await import('./open.ts')).findDaemonPlaces(host),
  open: async (_settings, host) => (await import('./open.ts')).openDaemons(host),
  doctor: () => [
    {
      name: 'persona daemons',
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.ts')).checkPersonaDaemons(context, signal),
    },
  ],
} as const satisfies SourceModule<object>;
