import type { Clock } from '../../../core/ports/index.ts';
import type { Dirs } from '../../../core/state/index.ts';
import type { Settings, SettingsProblem } from '../../config/tray/index.ts';
import type { SessionBus } from '../../desktop/index.ts';
import type { StatusWire } from '../../status/index.ts';
import type { DatabaseProbe } from './database.ts';

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
