import type { ItemOrigin } from './item.ts';

/** A message with only what the watcher needs: the text is cut, null if none is wanted. */
export interface TrimmedMessage {
  readonly id: number;
  readonly from: string;
  readonly created: string;
  readonly content: string | null;
  readonly read: boolean;
  /** Hivebar itself says this; absent otherwise. */
  readonly origin?: ItemOrigin;
}
