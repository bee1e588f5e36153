import { existsSync, fstatSync } from 'node:fs';
import type { Fsm } from '../../link/index.ts';
import { type Clock, findProgram, loadKoffi } from '../../ports/index.ts';
import { chooseSinkKind, type LogSurroundings, parseJournalStream, type SinkKind } from './choose.ts';
import { createDaemonLog, createRecord, type DaemonLog } from './daemon-log.ts';
import { createEventCreateOutlet, openEventLogOutlet } from './event-log.node.ts';
import { createSink } from './fallback-sink.ts';
import { createFileOutlet } from './file-outlet.node.ts';
import { createJournalOutlet, createProgramOutlet } from './outlets.node.ts';
import type { LogOwner } from './record.ts';
import { formatScrubbedError } from './scrub.ts';
import type { LogOutlet, LogSink } from './sink.ts';

export interface OpenLogNeeds {
  readonly owner: Omit<LogOwner, 'pid'>;
  /** The name of the daemon's unit: the identifier, tag or source under which the system shows the records. */
  readonly label: string;
  /** The file to use if the system has no log, or its log takes no records. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly fsm: () => Fsm;
  readonly secrets: () => readonly string[];
}

/** Opens the log of this daemon: the system's own, else a file. It loads only what the chosen sink needs. */
export function openDaemonLog({ owner, label, file, env, clock, fsm, secrets }: OpenLogNeeds): DaemonLog {
  const own: LogOwner = { ...owner, pid: process.pid };
  const sink: LogSink = createSink({
    first: () => createOutlet(chooseSinkKind(readLogSurroundings(env), label), label, file),
    fallback: () => createFileOutlet(file),
    clock,
    notice: (name, why) =>
      createRecord(own, clock, fsm(), {
        level: 'warn',
        event: 'log_sink',
        msg: `${name} failed: ${formatScrubbedError(why, secrets())}`,
      }),
  });
  return createDaemonLog({ owner: own, sink, clock, fsm, secrets });
}

function createOutlet(kind: SinkKind, label: string, file: string): LogOutlet {
  switch (kind.is) {
    case 'journal':
      return createJournalOutlet(kind.fd);
    case 'program':
      return createProgramOutlet(kind.file, kind.args, kind.prefixed);
    case 'event-log':
      try {
        return openEventLogOutlet(label, loadKoffi());
      } catch {
        return createEventCreateOutlet(label); // this outlet reports by itself if it does not work
      }
    case 'file':
      return createFileOutlet(file);
  }
}

/** Reads which log facilities this machine has, as far as its platform needs to know. */
export function readLogSurroundings(env: OpenLogNeeds['env']): LogSurroundings {
  const { platform } = process;
  const isLinux = platform !== 'win32' && platform !== 'darwin';
  return {
    platform,
    journalFd: findJournalFd(env.JOURNAL_STREAM),
    systemdCat: isLinux ? findProgram('systemd-cat', env, platform) : null,
    logger: platform === 'win32' ? null : findProgram('logger', env, platform),
    hasJournal: isLinux && existsSync('/run/systemd/journal/stdout'),
    hasSyslog: isLinux && existsSync('/dev/log'),
  };
}

/** Finds whether our stderr or stdout is the journal. The variable alone does not tell, because child processes inherit it. */
function findJournalFd(text: string | undefined): number | null {
  const stream = parseJournalStream(text);
  if (stream === null) return null;
  for (const fd of [2, 1]) {
    try {
      const { dev, ino } = fstatSync(fd, { bigint: true });
      if (dev === stream.dev && ino === stream.ino) return fd;
    } catch {
      // this descriptor is closed
    }
  }
  return null;
}
