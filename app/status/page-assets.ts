import type { Instant } from '../../core/model/index.ts';
import type { StatusWire } from './wire.ts';

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** The files of the page, all in memory. */
export interface PageAssets {
  /**
   * Renders the whole document, readable without JavaScript. With a null `status` it asks for the token, for a reader who may not
   * see the status.
   */
  html(status: StatusWire | null, now: Instant): string;
  /** The files by their name under `/assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
}
