import type { PersonaId } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import type { OutboxRow } from '../../core/sinks/outbox/index.ts';
import { type ClientBudget, type ClientClass, createBudget, formatBudgetFull, HttpRefusal } from './answer.ts';
import { MAX_EVENTS, MAX_WAIT_SECONDS } from './queries.ts';
import type { EventLog } from './stream.ts';
import { redactLine } from './to-wire.ts';

export interface EventsRequest {
  /** The persona whose events are listed; null for all. */
  readonly persona: PersonaId | null;
  /**
   * Only events that were delivered after this one. `''` means all stored events. Null means the newest ones, without waiting.
   */
  readonly since: string | null;
  readonly limit: number;
  readonly waitSeconds: number;
  readonly right: 'owner' | 'anyone';
  readonly client: ClientClass;
}

/** Lists delivered events, one page at a time. */
export interface EventPages {
  /** The number of requests that are held now. */
  readonly holds: number;
  /**
   * Returns `{"events": [...], "last": EVENT_ID}`, where `last` is the `since` of the next request. If a wait is requested, the
   * answer is held until an event is delivered or the signal aborts.
   *
   * @throws Refusal 410 when no event has the id; 503 when too many requests are held already.
   */
  page(request: EventsRequest, signal: AbortSignal): Promise<string>;
}

/** An answer takes no more lines once it has this many characters. A single event is never cut. */
const MOST_CHARS = 1024 * 1024;
/** The number of rows that are read at once. */
const BATCH = 64;
/** Further long-polls of one class are refused, so that idle ones cannot use up the process. */
export const MAX_HOLDS = 100;

/** Creates the pages. `holds` is the budget that is shared with other held requests. */
export function createEventPages(events: EventLog, clock: Clock, holds = createBudget(MAX_HOLDS)): EventPages {
  async function page(request: EventsRequest, signal: AbortSignal): Promise<string> {
    const { since, waitSeconds, client } = request;
    if (since === null) return formatAnswer(request, readNewest(request));
    const rows = readAfter(request, since);
    if (rows.length > 0 || waitSeconds === 0 || signal.aborted) return formatAnswer(request, rows);
    {
      using _place = takeHold(holds, client);
      // no event can be delivered between the read above and this line: both are in one turn
      await waitForEvent(request, signal);
    }
    return formatAnswer(request, readAfter(request, since));
  }

  /** Resolves when a requested event is delivered, the time is over, or the signal aborts. */
  async function waitForEvent({ persona, waitSeconds }: EventsRequest, signal: AbortSignal): Promise<void> {
    const arrived = new AbortController();
    using _subscription = events.onDelivered((rows) => {
      if (persona === null || rows.some((row) => row.persona === persona)) arrived.abort();
    });
    await clock.sleep(Math.min(waitSeconds, MAX_WAIT_SECONDS) * 1000, AbortSignal.any([signal, arrived.signal]));
  }

  function readNewest({ persona, limit }: EventsRequest): readonly OutboxRow[] {
    return takeFitting(events.listNewest(persona, Math.min(limit, MAX_EVENTS)).toReversed()).toReversed();
  }

  /** Returns the oldest events after `since`. */
  function readAfter({ persona, limit }: EventsRequest, since: string): readonly OutboxRow[] {
    const most = Math.min(limit, MAX_EVENTS);
    const first = events.since(persona, since === '' ? null : since, Math.min(most, BATCH));
    if (first.is === 'unknown-id') throw createUnknownEventRefusal(since);
    const rows = [...first.rows];
    let chars = countChars(rows);
    for (let last = rows.at(-1); last !== undefined && rows.length < most && chars < MOST_CHARS; last = rows.at(-1)) {
      const nextRows = events.after(persona, last.seq, Math.min(most - rows.length, BATCH));
      if (nextRows.length === 0) break;
      rows.push(...nextRows);
      chars += countChars(nextRows);
    }
    return takeFitting(rows);
  }

  return {
    get holds() {
      return holds.used;
    },
    page,
  };
}

/** Takes a place for one held request. @throws Refusal 503 */
export function takeHold(holds: ClientBudget, client: ClientClass): Disposable {
  const place = holds.take(client);
  if (place !== null) return place;
  const next = `end one of them, or ${client === 'anonymous' ? 'send the token' : 'follow /api/v1/stream'}`;
  throw new HttpRefusal(503, 'too-many-holds', formatBudgetFull('held answers', holds, client), next);
}

function formatAnswer({ since, right }: EventsRequest, rows: readonly OutboxRow[]): string {
  const last = rows.at(-1)?.eventId ?? (since === '' ? null : since);
  return `{"events":[${rows.map(({ line }) => redactLine(line, right)).join(',')}],"last":${JSON.stringify(last)}}`;
}

/** Returns as many rows as one answer may have, but at least one. */
function takeFitting(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  let left = MOST_CHARS;
  const end = rows.findIndex(({ line }, i) => {
    left -= line.length;
    return i > 0 && left < 0;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function countChars(rows: readonly OutboxRow[]): number {
  return rows.reduce((sum, { line }) => sum + line.length, 0);
}

function createUnknownEventRefusal(since: string): HttpRefusal {
  const id = JSON.stringify(since.slice(0, 200));
  const next = 'send an empty since for all stored events, or no since for the newest, and continue from "last"';
  return new HttpRefusal(410, 'unknown-event', `no stored event has the id ${id}`, next);
}
