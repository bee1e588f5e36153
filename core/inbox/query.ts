import { Fault } from '../model/index.ts';
import { createUsageFault } from './mail.ts';

/** The parameters of `GET /api/inbox` (Kijito contract a). */
export interface InboxQuery {
  readonly persona: string;
  /** Marks the rows of the answer as read; `read` in the answer is still the state before. */
  readonly markRead: boolean;
  /** Only rows older than this id; 0 is a real cursor with nothing before it. Null: from the newest. */
  readonly beforeId: number | null;
  readonly limit: number;
  readonly unreadOnly: boolean;
}

/** The parameters of `GET /api/notify/pending`: the counts now, or held until they change. */
export interface PendingQuery {
  readonly waitMs: number;
  /** Null: the client has no cursor yet, so the answer comes at once. */
  readonly cursor: string | null;
}

export const DEFAULT_LIMIT = 200;
export const MAX_LIMIT = 1000;
/** The longest hold; a request for more gets this. */
export const MAX_WAIT_MS = 60_000;

/**
 * Parses the parameters of `GET /api/inbox`. `mark_read` is true by default, so a wrong value is refused: with the default the
 * request would mark mail as read.
 */
export function parseInboxQuery(params: URLSearchParams): InboxQuery | Fault {
  return catchFault(() => {
    const persona = readParam(params, 'persona');
    if (persona === null || persona === '') throw createUsageFault('"persona" must be a name', persona ?? undefined);
    const limit = parseInteger(params, 'limit') ?? DEFAULT_LIMIT;
    if (limit < 1) throw createUsageFault('"limit" must be at least 1', limit);
    return {
      persona,
      markRead: parseFlag(params, 'mark_read', true),
      beforeId: parseInteger(params, 'before_id'),
      limit: Math.min(limit, MAX_LIMIT),
      unreadOnly: parseFlag(params, 'unread_only', false),
    };
  });
}

export function parsePendingQuery(params: URLSearchParams): PendingQuery | Fault {
  return catchFault(() => {
    const wait = readParam(params, 'wait');
    if (wait !== null && !/^\d{1,9}(\.\d{1,9})?$/.test(wait))
      throw createUsageFault('"wait" must be a number of seconds', wait);
    return { waitMs: Math.min(Number(wait ?? 0) * 1000, MAX_WAIT_MS), cursor: readParam(params, 'cursor') };
  });
}

function catchFault<T>(read: () => T): T | Fault {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

function readParam(params: URLSearchParams, name: string): string | null {
  const values = params.getAll(name);
  if (values.length > 1) throw createUsageFault(`"${name}" may be given once`, values);
  return values[0] ?? null;
}

function parseInteger(params: URLSearchParams, name: string): number | null {
  const text = readParam(params, name);
  if (text === null) return null;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value))
    throw createUsageFault(`"${name}" must be a whole number`, text);
  return value;
}

function parseFlag(params: URLSearchParams, name: string, fallback: boolean): boolean {
  const text = readParam(params, name);
  switch (text?.toLowerCase()) {
    case undefined:
      return fallback;
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      throw createUsageFault(`"${name}" must be true or false`, text);
  }
}
