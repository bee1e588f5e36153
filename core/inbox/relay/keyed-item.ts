import type { NewItem } from '../item.ts';

/** An item with the key by which every machine knows it. */
export type KeyedItem = NewItem & { readonly dedupKey: string };
