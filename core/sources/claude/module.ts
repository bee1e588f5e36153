import type { SourceModule } from '../module.ts';
import { CLAUDE, CLAUDE_PREFIX, CLAUDE_SETTINGS, type ClaudeSettings } from './settings.ts';

/** The sessions, teams and mail that Claude Code itself keeps. */
export const claude = {
  name: CLAUDE,
  prefix: CLAUDE_PREFIX,
  ids: /^claude-[\da-f]{8}(?:-|$)/,
  summary: 'the sessions of Claude Code, and the mail of its teams',
  settings: CLAUDE_SETTINGS,
  texts: {
    'no-reader': 'nobody takes its mail',
    'no-status': 'it does not say what it does',
    'process-gone': 'its process ended',
  },
  findPlaces: async (settings, host) => (await import('./open.ts')).findClaudePlaces(settings, host),
  open: async (settings, host) => (await import('./open.ts')).openClaude(settings, host),
  doctor: (settings) => [
    {
      name: CLAUDE,
      about: ['mail'],
      hints: [],
      run: async (context, signal) => (await import('./doctor.ts')).checkClaude(settings, context, signal),
    },
  ],
} as const satisfies SourceModule<ClaudeSettings>;
