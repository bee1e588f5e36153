import { formatIso } from '../../../../model/index.ts';

const BEGIN = Date.UTC(2026, 0, 5, 8);
const EVERY_MS = 13_000;

/** Formats when the record of a seq was written, in the form that writers use. */
export const formatTimestamp = (seq: number): string => `${formatIso(BEGIN + seq * EVERY_MS).slice(0, 23)}Z`;
