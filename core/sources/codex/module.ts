import type { SourceModule } from '../module.ts';
import { CODEX, CODEX_PREFIX, CODEX_SETTINGS, type CodexSettings } from './settings.ts';

/** The messages that wait for threads of Codex. */
export const codex = {
  name: CODEX,
  prefix: CODEX_PREFIX,
  ids: /^codex-(?:[\da-f]{12}$|[\da-f]{8}-)/,
  summary: 'the messages that Codex queues for its threads',
  settings: CODEX_SETTINGS,
  texts: { 'no-reader': 'nobody runs this thread, so its queue waits', 'not-run': 'nobody runs this thread' },
  findPlaces: async (settings, host) => (await import('./open.ts')).findCodexPlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openCodex(settings, host),
  doctor: (settings) => [
    {
      name: CODEX,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.ts')).checkCodex(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<CodexSettings>;
