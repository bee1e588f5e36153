import { displayJson, displayName } from '../core/format/index.ts';

/** Text of others as one line that no terminal acts on: what is unsafe is shown by its number. */
export const printable = displayName;

/** A JSON text with the same meaning that no terminal acts on. */
export const printableJson = displayJson;
