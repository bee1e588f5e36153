import type { SourceModule } from '../module.ts';
import { SPOOL, SPOOL_PREFIX, SPOOL_SETTINGS, type SpoolSettings } from './settings.ts';

/** Maildir folders, as mail servers deliver into them. */
export const spool = {
  name: SPOOL,
  prefix: SPOOL_PREFIX,
  summary: 'a folder that holds one Maildir per persona',
  settings: SPOOL_SETTINGS,
  open: async (settings, host) => (await import('./source.ts')).openSpool(settings, host),
} as const satisfies SourceModule<SpoolSettings>;
