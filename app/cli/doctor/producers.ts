import { formatDuration } from '../../../core/format/index.ts';
import { type Finding, ok, quoteShellWord, skipped, warn } from './finding.ts';

/** Other programs that report inboxes that we watch too (Kijito spec 14.4). */
export interface ProducersProbe {
  readonly os: NodeJS.Platform;
  readonly trayRuns: boolean;
  /** A lock of our own headless watch that a process holds. */
  readonly headless: string | null;
  /** Directories of a deployed monitor that exist. */
  readonly directories: readonly string[];
  /** Locks of the deployed monitor that a process holds. */
  readonly held: readonly string[];
  /** Positions that the deployed monitor saved for inboxes that we watch too, with their age. */
  readonly saved: readonly { readonly path: string; readonly persona: string; readonly agoMs: number }[];
}

/** The monitor saves at every full poll. It is silent for at most 10 skipped polls of a minute each. */
const RECENT_MS = 15 * 60_000;

const STOP: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'run: launchctl bootout gui/$(id -u)/com.kijito.inbox-monitor',
  linux: "run: systemctl --user disable --now 'kijito-inbox-monitor@*'",
};

export function judgeProducers(result: ProducersProbe): Finding {
  const { os, trayRuns, headless, directories, held, saved } = result;
  const stop = `${STOP[os] ?? 'stop it'} (or end its process), then, with Hivebar closed: hivebar migrate`;
  const twice = trayRuns || headless !== null ? ', beside Hivebar: everything is delivered twice' : '';
  const [lock] = held;
  if (lock !== undefined) return warn(`another monitor runs${twice}: it holds ${lock}${formatRemainder(held)}`, stop);
  const recent = saved.filter(({ agoMs }) => agoMs < RECENT_MS).toSorted((a, b) => a.agoMs - b.agoMs);
  const [first] = recent;
  if (first !== undefined) {
    const age = `${Math.max(0, Math.round(first.agoMs / 1000))} s ago`;
    return warn(
      `another monitor saved its position of ${first.persona} ${age}${twice}: ${first.path}${formatRemainder(recent)}`,
      stop,
    );
  }
  if (trayRuns && headless !== null)
    return warn(
      `the headless watch runs beside Hivebar, and everything is delivered twice: it holds ${headless}`,
      'keep one of them: hivebar service uninstall --headless, or quit Hivebar',
    );
  if (headless !== null) return ok('the headless watch, and no other');
  return directories.length === 0 ? skipped('no other monitor was ever used here') : ok('no other monitor runs');
}

const formatRemainder = (items: readonly unknown[]): string =>
  items.length === 1 ? '' : ` (and ${items.length - 1} more)`;

/** The file of all personas that the monitor wrote before each persona had its own (Kijito spec 14.3). */
export interface SharedFileProbe {
  readonly path: string;
  readonly quietMs: number;
  /** Files of single personas exist beside it, or a lock there is free: its writer is gone or writes elsewhere. */
  readonly isRetired: boolean;
}

export interface SharedFilesProbe {
  readonly files: readonly SharedFileProbe[];
  /** The path to follow instead, with PERSONA in it. */
  readonly instead: string;
}

export function judgeSharedFiles({ files, instead }: SharedFilesProbe): Finding {
  if (files.length === 0) return skipped('there is no shared events.ndjson');
  const [stale, ...rest] = files.filter(({ quietMs, isRetired }) => isRetired && quietMs >= RECENT_MS);
  if (stale === undefined) return ok(`${files.map(({ path }) => path).join(', ')} is written to by another monitor`);
  return warn(
    `nobody has written to ${stale.path} for ${formatDuration(stale.quietMs)}: an agent that follows it hears nothing any more${rest.length === 0 ? '' : ` (and ${rest.length} more)`}`,
    `have every agent follow its own file: tail -F ${quoteShellWord(instead)}; then move the old one away`,
  );
}
