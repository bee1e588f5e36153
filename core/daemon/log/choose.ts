/** What there is on this machine to write a log to. */
export interface LogSurroundings {
  readonly platform: NodeJS.Platform;
  /** Our descriptor that is the journal's stream; null: none is. */
  readonly journalFd: number | null;
  /** Absolute paths of the programs; null: not there. */
  readonly systemdCat: string | null;
  readonly logger: string | null;
  /** The journal takes streams, the system log takes datagrams. */
  readonly hasJournal: boolean;
  readonly hasSyslog: boolean;
}

export type SinkKind =
  | { readonly is: 'journal'; readonly fd: number }
  /** One program for all records, a line each on its stdin; `prefixed`: it reads a priority in front of a line. */
  | { readonly is: 'program'; readonly file: string; readonly args: readonly string[]; readonly prefixed: boolean }
  | { readonly is: 'event-log' }
  | { readonly is: 'file' };

/**
 * The system's own log, as far as there is one (persona daemon, contract 8). `logger --journald` is none of them: it makes one
 * entry of all it reads and ends with it, so a long-lived one writes nothing.
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

/** `JOURNAL_STREAM` is `DEVICE:INODE`, both decimal. Null: it is not set, or not that. */
export function parseJournalStream(text: string | undefined): { readonly dev: bigint; readonly ino: bigint } | null {
  const [, dev, ino] = /^(\d{1,20}):(\d{1,20})$/.exec(text ?? '') ?? [];
  return dev === undefined || ino === undefined ? null : { dev: BigInt(dev), ino: BigInt(ino) };
}
