import { join } from 'node:path';
import { readMailExtras, readMailUrgency } from '../../core/events/index.ts';
import { type LocalHive, openStoredMailLog, type StoredMailLog } from '../../core/inbox/index.ts';
import { Fault, type PersonaId, parseIso, parseTimestamp } from '../../core/model/index.ts';
import { type MailSearch, openMailSearch, SEARCHED_CHARS, type SearchLog } from '../../core/search/index.ts';
import { every, type Service, whileNeeded } from '../../core/services/index.ts';
import type { DeliveredMailLog, Outbox } from '../../core/sinks/outbox/index.ts';
import type { Database } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.node.ts';
import type { FoundMail } from '../status/index.ts';

/** The index of the search. It is derived, so it may be deleted at any time. */
const INDEX = 'search.sqlite';

interface SearchOptions {
  /** The state directory; null: the index is kept in memory, because nothing can be written. */
  readonly directory: string | null;
  readonly db: Database;
  readonly delivered: DeliveredMailLog;
  /** Returns the id on the board of a persona of the local hive. */
  readonly toPersonaId: (name: string) => PersonaId;
  /** Whether the persona is one of the local hive, whose messages are read there and not from the events about them. */
  readonly isLocal: (persona: PersonaId) => boolean;
}

/** Opens the search over the mail of the local hive and over the delivered mail of every other source. */
export function openSearch(
  { directory, db, delivered, toPersonaId, isLocal }: SearchOptions,
  { disk, clock, log }: Pick<Machine, 'disk' | 'clock' | 'log'>,
): MailSearch<FoundMail> {
  const logs = [
    createLocalLog(openStoredMailLog(db, SEARCHED_CHARS), toPersonaId),
    createDeliveredLog(delivered, isLocal),
  ];
  const path = directory === null ? ':memory:' : join(directory, INDEX);
  return openMailSearch({ path, logs, files: disk.files, clock, log });
}

export function createLocalLog(stored: StoredMailLog, toPersonaId: (name: string) => PersonaId): SearchLog<FoundMail> {
  type Stored = NonNullable<ReturnType<StoredMailLog['find']>>;
  const toFound = ({ ref, to, ...mail }: Stored): FoundMail => {
    const persona = to === '' ? '' : toPersonaId(to);
    return { ...mail, ref, id: ref, to: to === '' ? 'everybody' : to, persona, hasLink: false, isQuestion: false };
  };
  return toSearchLog(stored, (mail) => [toFound(mail)]);
}

function createDeliveredLog(
  delivered: DeliveredMailLog,
  isLocal: (persona: PersonaId) => boolean,
): SearchLog<FoundMail> {
  type Delivered = NonNullable<ReturnType<DeliveredMailLog['find']>>;
  const toFound = ({ ref, persona, event }: Delivered): readonly FoundMail[] => {
    if (isLocal(persona)) return [];
    const { subject, link } = readMailExtras(event);
    const urgency = readMailUrgency(event);
    const deliveredAt = parseIso(event.ts) ?? 0;
    const written = event.created === null ? null : parseTimestamp(event.created);
    return [
      {
        ...{ ref, persona, to: persona, subject, id: event.id, from: event.from ?? '', text: event.content ?? '' },
        ...{ isUrgent: urgency.isUrgent, priority: urgency.priority, isRead: null },
        at: Math.min(written ?? deliveredAt, deliveredAt),
        hasLink: link !== null,
        isQuestion: event.event === 'question',
      },
    ];
  };
  return toSearchLog(delivered, toFound);
}

/** A log whose entries are found as what `toFound` makes of each: one message, or none. */
function toSearchLog<Entry>(
  entries: {
    readonly name: string;
    newest(): number;
    read(
      from: number,
      way: 'newer' | 'older',
      limit: number,
    ): { readonly mails: readonly Entry[]; readonly last: number | null };
    find(ref: number): Entry | null;
  },
  toFound: (entry: Entry) => readonly FoundMail[],
): SearchLog<FoundMail> {
  return {
    name: entries.name,
    newest: entries.newest,
    read(from, way, limit) {
      const { mails, last } = entries.read(from, way, limit);
      return { mails: mails.flatMap(toFound), last };
    },
    find(ref) {
      const entry = entries.find(ref);
      return entry === null ? null : (toFound(entry)[0] ?? null);
    },
  };
}

/**
 * Messages per turn, and the pause before each turn. New mail is gathered, because a turn writes some pages however few there are, and
 * whoever searches has it indexed at once.
 */
const AT_ONCE = 500;
const PAUSE_MS = 3000;
const SWEEP_EVERY_MS = 3_600_000;
const SWEPT_AT_ONCE = 500;

/** Creates the services that index new and old mail, and remove deleted mail from the index. */
export function createSearchServices(
  search: MailSearch<FoundMail>,
  { local, outbox }: { readonly local: Pick<LocalHive, 'hints'>; readonly outbox: Pick<Outbox<never>, 'onDelivered'> },
  { clock }: Pick<Machine, 'clock'>,
): readonly Service[] {
  let hasMore = true;
  let isSweeping = false;
  const indexing = whileNeeded({
    name: 'search index',
    ms: PAUSE_MS,
    isNeeded: () => hasMore,
    round() {
      hasMore = tryAgainWhenFull(() => search.advance(AT_ONCE));
    },
    clock,
  });
  const noteChange = (): void => {
    hasMore = true;
    indexing.wake();
  };
  return [
    {
      name: indexing.name,
      async run(signal) {
        hasMore = tryAgainWhenFull(() => search.advance(1)); // makes the file, once everything else has started
        using _stored = local.hints(noteChange);
        using _delivered = outbox.onDelivered(noteChange);
        await indexing.run(signal);
      },
    },
    every({
      name: 'search index cleanup',
      ms: () => (isSweeping ? PAUSE_MS : SWEEP_EVERY_MS),
      firstMs: SWEEP_EVERY_MS,
      round() {
        isSweeping = tryAgainWhenFull(() => search.sweep(SWEPT_AT_ONCE));
      },
      clock,
    }),
  ];
}

/** A full disk is reported by what must write. The index is derived: it has more to do, and goes on when there is room. */
function tryAgainWhenFull(run: () => boolean): boolean {
  try {
    return run();
  } catch (error) {
    if (error instanceof Fault && error.code === 'no-space') return true;
    throw error;
  }
}
