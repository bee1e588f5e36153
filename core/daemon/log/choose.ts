/** The log facilities of this machine. */
export interface LogSurroundings {
  readonly platform: NodeJS.Platform;
  /** Our descriptor that is connected to the journal; null: none is. */
  readonly journalFd: number | null;
  /** Absolute paths of the programs; null: not found. */
  readonly systemdCat: string | null;
  readonly logger: string | null;
  /** Whether the journal accepts streams, and whether the system log accepts datagrams. */
  readonly hasJournal: boolean;
  readonly hasSyslog: boolean;
}

export type SinkKind =
  | { readonly is: 'journal'; readonly fd: number }
  /** One program for all records, one line per record on its stdin; `prefixed`: it reads a priority in front of each line. */
  | { readonly is: 'program'; readonly file: string; readonly args: readonly string[]; readonly prefixed: boolean }
  | { readonly is: 'event-log' }
  | { readonly is: 'file' };

/**
 * Chooses the system's own log if there is one, else a file (persona daemon, contract 8). `logger --journald` is not used: it
 * turns all input into one entry when it ends, so a long-lived `logger` would write nothing.
 * @param label under which the system shows the records
 */
export function chooseSinkKind(around: LogSurroundings, label: string): SinkKind {
  const { platform, journalFd, systemdCat, logger, hasJournal, hasSyslog } = around;
  switch (platform) {
    case 'win32':
      return { is: 'event-log' };
    case 'darwin':
      return logger === null
        ? { is: 'file' }
        : { is: 'program', file: logger, args: ['-t', label, '-p', 'user.notice'], prefixed: false };
    default:
      if (journalFd !== null) return { is: 'journal', fd: journalFd };
      if (systemdCat !== null && hasJournal)
        return { is: 'program', file: systemdCat, args: [`--identifier=${label}`], prefixed: true };
      if (logger !== null && hasSyslog)
        return { is: 'program', file: logger, args: ['--tag', label, '--prio-prefix'], prefixed: true };
      return { is: 'file' };
  }
}

/** Parses `JOURNAL_STREAM`, which is `DEVICE:INODE`, both decimal. Null: it is not set or has another form. */
export function parseJournalStream(text: string | undefined): { readonly dev: bigint; readonly ino: bigint } | null {
  const [, dev, ino] = /^(\d{1,20}):(\d{1,20})$/.exec(text ?? '') ?? [];
  return dev === undefined || ino === undefined ? null : { dev: BigInt(dev), ino: BigInt(ino) };
}
