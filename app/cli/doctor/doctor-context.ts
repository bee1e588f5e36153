import type { Clock } from '../../../core/ports/index.ts';
import { type Finding, fail, ok, skipped, warn } from '../../../core/sources/module.ts';
import type { Dirs } from '../../../core/state/index.ts';
import type { Settings, SettingsProblem } from '../../config/tray/index.ts';
import type { SessionBus } from '../../desktop/index.ts';
import type { StatusWire } from '../../status/index.ts';

/** Values that several checks read. Each is loaded once. */
export interface DoctorContext extends AsyncDisposable {
  readonly os: NodeJS.Platform;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dirs: Dirs;
  readonly clock: Clock;
  readonly version: string;
  /** Null where the platform has no user ids and no modes. */
  readonly uid: number | null;
  readonly settingsFile: SettingsProbe;
  /** From the file when it is valid, else the defaults. */
  readonly settings: Settings;
  /** Whether somebody is logged in to a desktop, as far as the environment tells. */
  readonly hasDisplay: boolean;
  bus(): Promise<BusProbe>;
  /** What the running tray process answers over its owner-only socket. */
  tray(): Promise<TrayProbe>;
  database(): Promise<DatabaseProbe>;
}

export type SettingsProbe =
  | { readonly is: 'absent'; readonly path: string }
  | { readonly is: 'good'; readonly path: string; readonly names: readonly string[] }
  | { readonly is: 'bad'; readonly path: string; readonly problems: readonly SettingsProblem[] }
  | { readonly is: 'unreadable'; readonly path: string; readonly why: string };

export type BusProbe =
  | { readonly is: 'none'; readonly why: string }
  | { readonly is: 'gone'; readonly why: string }
  | { readonly is: 'connected'; readonly address: string; readonly bus: SessionBus };

export type TrayProbe =
  | { readonly is: 'not-running' }
  /** The process exists and does not answer as it should. */
  | { readonly is: 'failed'; readonly why: string }
  | {
      readonly is: 'answered';
      readonly id: string;
      readonly pid: number;
      readonly version: string;
      readonly status: StatusWire;
    };

export { type Finding, fail, ok, skipped, warn } from '../../../core/sources/module.ts';

/** A failure on a desktop; only a warning where nobody is logged in to one. */
export const missing = (hasDisplay: boolean, seen: string, next: string): Finding => ({
  is: hasDisplay ? 'fail' : 'warn',
  seen,
  next,
});

/** Quotes a path as one word of a command that a person copies. */
export function quoteShellWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const MIB = 1024 * 1024;

export function formatSize(bytes: number): string {
  if (bytes >= 1024 * MIB) return `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  return `${bytes} bytes`;
}

export type DatabaseProbe =
  | { readonly is: 'absent'; readonly path: string }
  | { readonly is: 'unreadable'; readonly path: string; readonly why: string }
  | {
      readonly is: 'read';
      readonly path: string;
      readonly bytes: number;
      /** What a start found and did about a damaged or missing file. Absent: nothing, or a person has moved the report away. */
      readonly report?: string;
      /** Null: the file does not exist. */
      readonly journalBytes: number | null;
      readonly hive: { readonly personas: number; readonly messages: number; readonly unread: number } | null;
      readonly watches: readonly WatcherProbe[];
      /** Resolves with the findings of SQLite's quick check, `[]` for none; null when the check takes too long. */
      readonly flaws: Promise<readonly string[] | null>;
    };

/** A watcher's persona and its newest event. */
export interface WatcherProbe {
  readonly persona: string;
  readonly newest: string | null;
}

type DatabaseCheckResult =
  | Exclude<DatabaseProbe, { is: 'read' }>
  | (Extract<DatabaseProbe, { is: 'read' }> & { readonly found: readonly string[] | null });

export function judgeDatabase(result: DatabaseCheckResult): Finding {
  switch (result.is) {
    case 'absent':
      return skipped(`${result.path} does not exist yet`);
    case 'unreadable':
      return fail(
        `${result.path}: ${result.why}`,
        'start Hivebar again: it sets the file aside and recovers what can be read; keep a copy of it and of outbox.journal',
      );
    case 'read': {
      if (result.found !== null && result.found.length > 0)
        return fail(
          `${result.path} is damaged: ${result.found[0]}`,
          'start Hivebar again: it sets the file aside and recovers what can be read of it and of the last good copy',
        );
      if (result.report !== undefined)
        return warn(
          result.report,
          `read ${result.path}.report.json, then move it and the file that was set aside away to clear this result`,
        );
      const journal =
        result.journalBytes === null ? 'no outbox.journal' : `outbox.journal ${formatSize(result.journalBytes)}`;
      const checked = result.found === null ? 'too large to be checked now' : 'no damage';
      return ok(`${result.path}: ${formatSize(result.bytes)}, ${checked}, ${journal}`);
    }
  }
}

export function judgeLocalHive(result: DatabaseProbe): Finding {
  if (result.is !== 'read' || result.hive === null) return skipped('the database does not exist yet');
  const { personas, messages, unread } = result.hive;
  return ok(`${personas} personas, ${messages} messages, ${unread} unread`);
}
