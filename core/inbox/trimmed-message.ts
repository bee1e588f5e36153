import type { ItemOrigin } from './item.ts';

/** A row without what the watcher does not need: the text is cut, null when none is wanted. */
export interface TrimmedMessage {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string | null;
  readonly read: boolean;
  /** Hivebar itself says this; absent otherwise. */
  readonly origin?: ItemOrigin;
}
