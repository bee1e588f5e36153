import { formatIso, type Instant } from '../../../model/index.ts';
import { createGardenFault } from '../fault.ts';
import { describeValue } from './fields.ts';

/** The local time of birth, then six lower-case hex digits (garden contract 1). */
const GRAMMAR = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/** Whether the text may become part of a path. This is the guard against path traversal. */
export function isGardenId(text: string): boolean {
  return GRAMMAR.test(text);
}

/**
 * Returns the id unchanged.
 * @throws Fault `garden` for anything else, before it can reach a path
 */
export function parseGardenId(value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    const got = describeValue(value);
    throw createGardenFault(`meta-record field "gardenId" must be a non-empty string (got ${got}).`, 'id');
  }
  if (!isGardenId(value)) {
    throw createGardenFault(`meta-record "gardenId" must match YYYYMMDDTHHMMSS-[0-9a-f]{6} (got "${value}").`, 'id');
  }
  return value;
}

/** The UTC time format of records, receipts and signals: `2026-06-14T01:00:37.000Z`. */
export function formatUtc(at: Instant): string {
  return `${formatIso(Math.floor(at)).slice(0, 'YYYY-MM-DDTHH:MM:SS.mmm'.length)}Z`;
}
