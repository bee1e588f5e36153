import type { Instant } from '../../core/model/index.ts';
import type { StatusWire } from './wire.ts';

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** What the page is made of, all in memory. */
export interface PageAssets {
  /** The whole document, readable without JavaScript. Null: to somebody who may not see the status, who is asked for the token. */
  html(status: StatusWire | null, now: Instant): string;
  /** By name under `/assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
}
