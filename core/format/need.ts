/** How much a persona needs a person, the greatest need first. Every surface lists personas in this order. */
export const NEED_LEVELS = ['urgent', 'waiting', 'failing', 'unread', 'quiet', 'gone'] as const;

/**
 * - `urgent`: unread urgent mail, or a question of high urgency.
 * - `waiting`: its agent waits for a person, or a question or a permission prompt is open.
 * - `failing`: its inbox cannot be read, or nobody reads its mail.
 * - `unread`: mail that is not urgent.
 * - `quiet`: nothing to do.
 * - `gone`: nothing to do, and its agent ended.
 */
export type NeedLevel = (typeof NEED_LEVELS)[number];

/**
 * What the order of personas is computed from. Times are instants, or texts of the status JSON, which sort like instants. Null means
 * unknown, or never.
 */
export interface Need<Time extends number | string = number> {
  readonly level: NeedLevel;
  /** Since when a person is waited for. */
  readonly waitsSince: Time | null;
  readonly lastMailAt: Time | null;
  readonly label: string;
  readonly id: string;
}

/**
 * Compares two personas for a list that begins with whoever needs the person most: by level, then those that wait for the longest time,
 * then the newest mail, then the name.
 */
export function compareNeeds<Time extends number | string>(a: Need<Time>, b: Need<Time>): number {
  return (
    NEED_LEVELS.indexOf(a.level) - NEED_LEVELS.indexOf(b.level) ||
    compareKnown(a.waitsSince, b.waitsSince, compare) ||
    compareKnown(a.lastMailAt, b.lastMailAt, (a, b) => compare(b, a)) ||
    compare(a.label, b.label) ||
    compare(a.id, b.id)
  );
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What is not known comes last. */
function compareKnown<T>(a: T | null, b: T | null, order: (a: T, b: T) => number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return order(a, b);
}

/** What the level of a persona follows from. A number that is not known is null. */
export interface NeedFacts {
  readonly unread: number | null;
  /** Unread urgent messages. */
  readonly urgent: number | null;
  /** Questions for a person in its mail, beside decisions. */
  readonly questions: number | null;
  readonly isDown: boolean;
  /** What its agent does, as in the status JSON. */
  readonly agent: string;
  /** Why, as in the status JSON. */
  readonly agentReason: string | null;
  /** Whether an open decision of it has high urgency. */
  readonly asksUrgently: boolean;
  /** Whether a decision or a permission prompt of it is open. */
  readonly asks: boolean;
}

export function computeNeedLevel(facts: NeedFacts): NeedLevel {
  const { unread, urgent, questions, isDown, agent, agentReason, asksUrgently, asks } = facts;
  if ((urgent ?? 0) > 0 || asksUrgently) return 'urgent';
  if (agent === 'waiting' || asks || (questions ?? 0) > 0) return 'waiting';
  const isWithoutReader = agent === 'stalled' || (agent === 'gone' && agentReason === 'no-reader');
  if (isDown || isWithoutReader) return 'failing';
  if ((unread ?? 0) > 0) return 'unread';
  return agent === 'gone' ? 'gone' : 'quiet';
}

/** The part of a persona of the status JSON that its need follows from. */
interface ListedPersona {
  readonly id: string;
  readonly label: string;
  readonly state: string;
  readonly agent: string;
  readonly agentReason: string | null;
  readonly agentSince: string | null;
  readonly unread: number | null;
  readonly urgent: number | null;
  readonly questions: number | null;
  readonly lastMailAt: string | null;
}

/** The part of the status JSON that says who asks. */
interface StatusAsks {
  readonly decisions: readonly { readonly persona: string; readonly urgency: string; readonly created: string }[];
  readonly permissions: readonly { readonly persona: string; readonly created: string }[];
}

/** Returns these personas of the status JSON in the order of `compareNeeds`, each with its need. */
export function sortByNeed<P extends ListedPersona>(
  personas: readonly P[],
  { decisions, permissions }: StatusAsks,
): readonly (readonly [persona: P, need: Need<string>])[] {
  const asks = Map.groupBy([...decisions, ...permissions], ({ persona }) => persona);
  const urgent = new Set(decisions.filter(({ urgency }) => urgency === 'high').map(({ persona }) => persona));
  return personas
    .map((persona) => {
      const created = (asks.get(persona.id) ?? []).map((ask) => ask.created);
      return [persona, toNeed(persona, created, urgent.has(persona.id))] as const;
    })
    .sort(([, a], [, b]) => compareNeeds(a, b));
}

function toNeed(persona: ListedPersona, created: readonly string[], asksUrgently: boolean): Need<string> {
  const { id, label, state, agent, agentSince, lastMailAt } = persona;
  const since = [...created, ...(agent === 'waiting' && agentSince !== null ? [agentSince] : [])];
  return {
    level: computeNeedLevel({ ...persona, isDown: state === 'DOWN', asks: created.length > 0, asksUrgently }),
    waitsSince: since.toSorted()[0] ?? null,
    lastMailAt,
    label,
    id,
  };
}
