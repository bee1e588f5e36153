import { formatIso, type Instant, parseIso, parseJson } from '../model/index.ts';
import { type AddressActivity, mergeActivity, NO_ACTIVITY } from './address-activity.ts';

/** What was observed of the personas of a hive. Times are wall clock. */
export interface HiveActivity {
  readonly published: Instant;
  /** After this many milliseconds the report is stale: nobody publishes any more, and a later silence is not observed. */
  readonly staleAfterMs: number;
  readonly since: Instant;
  /** Every message after this one was seen in every watched inbox; null: this is not true of all inboxes yet. */
  readonly floor: number | null;
  /** Every watched inbox was polled when this message was known; null: some inboxes are blind. */
  readonly upTo: number | null;
  /** Inboxes that cannot prove a silence now, and why, as words after the name. */
  readonly blind: ReadonlyMap<string, string>;
  readonly personas: ReadonlyMap<string, PersonaActivity>;
}

export interface PersonaActivity extends AddressActivity {
  readonly watched: boolean;
}

/** The activity as it is published. */
export interface ActivityReport extends HiveActivity {
  /** The hive as JSON, in the form in which a saved position names its inbox (Kijito contract d); null: unknown. */
  readonly identity: unknown;
}

/** The maximum number of personas in one report. */
const MOST = 5000;
/** The maximum number of blind inboxes in one report. */
const MOST_BLIND = 100;

/**
 * Merges what this process and an earlier one observed of the same hive. An observation stays valid. The watched range
 * is only what this process knows.
 */
export function mergeEarlier(now: HiveActivity, earlier: ReadonlyMap<string, AddressActivity>): HiveActivity {
  const personas = new Map(now.personas);
  for (const [name, activity] of earlier) {
    const own = personas.get(name);
    personas.set(name, { watched: own?.watched ?? false, ...mergeActivity(own ?? NO_ACTIVITY, activity) });
  }
  return { ...now, personas };
}

export function formatActivityReport(report: ActivityReport): string {
  const { identity, published, staleAfterMs, since, floor, upTo, blind, personas } = report;
  const selected = [...personas].sort(([, a], [, b]) => computeRank(b) - computeRank(a)).slice(0, MOST);
  const entries = selected.map(([name, { watched, sent, read }]) => [
    name,
    {
      watched,
      sent: sent === null ? null : { id: sent.id, at: formatIso(sent.at) },
      read: read === null ? null : { after_id: read.after, at: formatIso(read.at) },
    },
  ]);
  return `${JSON.stringify({
    schema: 1,
    identity,
    published: formatIso(published),
    stale_after_seconds: staleAfterMs / 1000,
    observed_since: formatIso(since),
    observation_floor_id: floor,
    observed_to_id: upTo,
    blind: Object.fromEntries([...blind].slice(0, MOST_BLIND)),
    personas: Object.fromEntries(entries),
  })}\n`;
}

/** Ranks watched personas first, then the persona that was seen last. */
function computeRank({ watched, sent, read }: PersonaActivity): number {
  return watched ? Number.MAX_VALUE : Math.max(sent?.at ?? 0, read?.at ?? 0);
}

/** @returns null when the text is no whole report, because an unreadable file proves nothing about anybody */
export function parseActivityReport(text: string): ActivityReport | null {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return null; // a torn or foreign file is a valid answer here, not a failure
  }
  if (!isRecord(value) || value.schema !== 1 || !isRecord(value.personas)) return null;
  const blind = parseBlind(value.blind);
  if (blind === null) return null;
  const { published, observed_since: since, stale_after_seconds: stale } = value;
  const { observation_floor_id: floor, observed_to_id: upTo } = value;
  if (!isTime(published) || !isTime(since) || typeof stale !== 'number' || !(stale >= 0)) return null;
  if (!isIdOrNull(floor) || !isIdOrNull(upTo)) return null;
  const personas = new Map<string, PersonaActivity>();
  for (const [name, entry] of Object.entries(value.personas)) {
    if (!isRecord(entry) || typeof entry.watched !== 'boolean') return null;
    const sent = parseActivityEvent(entry.sent, 'id');
    const read = parseActivityEvent(entry.read, 'after_id');
    if (sent === undefined || read === undefined) return null;
    personas.set(name, {
      watched: entry.watched,
      sent,
      read: read === null ? null : { after: read.id, at: read.at },
    });
  }
  return {
    published: parseIso(published) as Instant,
    staleAfterMs: Math.round(stale * 1000),
    since: parseIso(since) as Instant,
    floor,
    upTo,
    blind,
    identity: value.identity ?? null,
    personas,
  };
}

/** Null: malformed. An older report has no such field. */
function parseBlind(value: unknown = {}): ReadonlyMap<string, string> | null {
  if (!isRecord(value)) return null;
  const blind = new Map<string, string>();
  for (const [name, why] of Object.entries(value)) {
    if (typeof why !== 'string') return null;
    blind.set(name, why);
  }
  return blind;
}

/** Undefined: malformed. */
function parseActivityEvent(
  value: unknown,
  key: string,
): { readonly id: number; readonly at: Instant } | null | undefined {
  if (value === null) return null;
  if (!isRecord(value) || !isId(value[key]) || !isTime(value.at)) return undefined;
  return { id: value[key], at: parseIso(value.at) as Instant };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isIdOrNull(value: unknown): value is number | null {
  return value === null || isId(value);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== null;
}
