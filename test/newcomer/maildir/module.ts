import type { SourceModule } from '../module.ts';
import { MAILDIR, MAILDIR_PREFIX, MAILDIR_SETTINGS, type MaildirSettings } from './settings.ts';

/** Maildir folders, as mail servers deliver into them. */
export const maildir = {
  name: MAILDIR,
  prefix: MAILDIR_PREFIX,
  summary: 'a folder that holds one Maildir per persona',
  settings: MAILDIR_SETTINGS,
  open: async (settings, host) => (await import('./source.ts')).openMaildir(settings, host),
} as const satisfies SourceModule<MaildirSettings>;
