/** The name of this source, and the id of its one hive. */
export const MAILDIR = 'maildir';
export const MAILDIR_PREFIX = 'maildir-';

/** What `config.json` says of this source. */
export interface MaildirSettings {
  /** The folder that holds one Maildir per persona. Absent: nothing is watched. */
  readonly maildir?: string;
}

export const MAILDIR_SETTINGS = {
  maildir: { type: 'string', minLength: 1, description: 'the folder that holds one Maildir per persona' },
} as const;
