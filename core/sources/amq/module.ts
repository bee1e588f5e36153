import type { SettingProblem, SourceModule } from '../module.ts';
import { AMQ_ACTION } from './action-schema.ts';
import { AMQ, AMQ_PREFIX, AMQ_SETTINGS, type AmqSettings, AUTO } from './settings.ts';

/** Queues of AMQ (agent-message-queue): mailboxes of agents that are Maildirs. */
export const amq = {
  name: AMQ,
  prefix: AMQ_PREFIX,
  summary: 'the mailboxes of agents in queues of AMQ (agent-message-queue)',
  settings: AMQ_SETTINGS,
  actions: [{ name: AMQ, title: 'Have AMQ read, reply or send as you', params: AMQ_ACTION }],
  texts: { 'doorbell-parked': 'its doorbell gave up: nobody tells it of mail' },
  checkSettings: ({ amq: { roots = [] } = { roots: [] } }) =>
    roots.flatMap((root, at): readonly SettingProblem[] =>
      root === AUTO || root.startsWith('/') || /^[A-Za-z]:[\\/]/.test(root)
        ? []
        : [{ at: `/amq/roots/${at}`, message: `must be an absolute path or ${AUTO}` }],
    ),
  findPlaces: async ({ amq: settings }, { disk }) => (await import('./open.ts')).findQueuePlaces(settings, disk.files),
  open: async (settings, host) => (await import('./open.ts')).openAmq(settings, host),
  doctor: (settings) => [
    {
      name: AMQ,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.ts')).checkAmq(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<AmqSettings>;
