import { formatIso, type Instant } from '../../../model/index.ts';
import { createGardenFault } from '../fault.ts';
import { describeValue } from './fields.ts';

/** Local time of birth, then six lower-case hex digits (garden contract 1). */
const GRAMMAR = /^\d{8}T\d{6}-[0-9a-f]{6}$/;

/** True for what may become a part of a path: this is the guard against traversal. */
export function isGardenId(text: string): boolean {
  return GRAMMAR.test(text);
}

/**
 * The id as it is.
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

/** The UTC time that records, receipts and signals carry: `2026-06-14T01:00:37.000Z`. */
export function formatUtc(at: Instant): string {
  return `${formatIso(Math.floor(at)).slice(0, 'YYYY-MM-DDTHH:MM:SS.mmm'.length)}Z`;
}
