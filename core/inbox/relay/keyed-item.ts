import type { NewItem } from '../item.ts';

/** An item with the key that identifies it on every machine. */
export type KeyedItem = NewItem & { readonly dedupKey: string };
