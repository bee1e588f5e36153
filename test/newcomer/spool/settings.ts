/** The name of this source, and the id of its one hive. */
export const SPOOL = 'spool';
export const SPOOL_PREFIX = 'spool-';

/** What `config.json` says of this source. */
export interface SpoolSettings {
  /** The folder that holds one Maildir per persona. Absent: nothing is watched. */
  readonly spool?: string;
}

export const SPOOL_SETTINGS = {
  spool: { type: 'string', minLength: 1, description: 'the folder that holds one Maildir per persona' },
} as const;
