import type { Board } from '../../core/board/index.ts';
import type { HistoryReader } from '../../core/history/index.ts';
import type { Instant } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import type { Devices } from '../host/devices.ts';
import type { ActionTable, HiveApi, PermissionsApi } from './api-routes.ts';
import type { DecisionsApi } from './decision-routes.ts';
import type { ItemsApi } from './item-routes.ts';
import type { MailSearchApi } from './mail-routes.ts';
import type { McpHttp } from './mcp-route.ts';
import type { MessagesOptions } from './message-routes.ts';
import type { Metric } from './metrics.ts';
import type { FindMessageMarks } from './newest.ts';
import type { ProjectsApi } from './project-routes.ts';
import type { DaemonKeys } from './session.ts';
import type { SettingsApi } from './settings-routes.ts';
import type { SignalsApi } from './signals-routes.ts';
import type { EventLog } from './stream.ts';
import type { StatusWire } from './wire.ts';

export interface StatusOptions {
  readonly board: Board;
  readonly hive: HiveApi;
  readonly actions: ActionTable;
  readonly items: ItemsApi;
  readonly decisions: DecisionsApi;
  readonly permissions: PermissionsApi;
  /** Loads what answers `POST /mcp`; null: the setting `mcpOverHttp` is off. */
  readonly mcp: (() => Promise<McpHttp>) | null;
  readonly events: EventLog;
  readonly findMarks: FindMessageMarks;
  readonly listStored: MessagesOptions['listStored'];
  readonly mail: MailSearchApi;
  readonly history: HistoryReader;
  readonly projects: ProjectsApi;
  /** Metrics that sources add, absent when there are none. */
  readonly sourceMetrics?: () => readonly Metric[];
  readonly signals: SignalsApi;
  /** The tokens of the installed daemons. */
  readonly keys: DaemonKeys;
  readonly page: PageAssets;
  /** The secret of the run directory. */
  readonly token: string;
  /** The browsers that stay logged in. */
  readonly devices: Devices;
  readonly settings: SettingsApi;
  /** Whether counts and states need the token, too (Decision 4): for a machine that others use. */
  readonly tokenEverywhere: boolean;
  /** The port to listen on; 0 for any free one. */
  readonly port: number;
  /** The path of the owner-only socket; null for none. */
  readonly socketPath: string | null;
  readonly version: string;
  /** The identity that `/healthz` shows. With it a stale lock can be told from a running Hivebar. */
  readonly instance: { readonly id: string; readonly pid: number };
  readonly clock: Clock;
  readonly log: Log;
}

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** The files of the page, all in memory. */
export interface PageAssets {
  /**
   * Renders the document, readable without JavaScript: of a crowd the first inboxes. With a null `status` it asks for the token, for a
   * reader who may not see the status.
   */
  html(status: StatusWire | null, now: Instant): string;
  /** The files by their name under `/assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
}
