import type { PersonaView, Snapshot } from '../../core/board/index.ts';
import { compareNeeds, computeNeedLevel, type Need, type NeedLevel } from '../../core/format/index.ts';
import type { Count } from '../../core/model/index.ts';

/** The levels of those that need nobody. */
const CALM: ReadonlySet<NeedLevel> = new Set<NeedLevel>(['quiet', 'gone']);

/** A persona that is not hidden, with its need. */
type NeededPersona = readonly [persona: PersonaView, need: Need];

/** Returns the personas that are not hidden, in the order of every surface: whoever needs a person most comes first. */
export function sortByNeed(snapshot: Snapshot): readonly PersonaView[] {
  return sortWithNeed(snapshot).map(([persona]) => persona);
}

/** Returns those of them that need a person for anything, in the same order. */
export function listNeeding(snapshot: Snapshot): readonly PersonaView[] {
  return sortWithNeed(snapshot).flatMap(([persona, { level }]) => (CALM.has(level) ? [] : [persona]));
}

function sortWithNeed({ personas, decisions, permissions }: Snapshot): readonly NeededPersona[] {
  const asks = Map.groupBy([...decisions, ...permissions], ({ persona }) => persona);
  const pressing = new Set(decisions.filter(({ urgency }) => urgency === 'high').map(({ persona }) => persona));
  return personas
    .filter((persona) => !persona.hidden)
    .map((persona) => {
      const created = (asks.get(persona.id) ?? []).map((ask) => ask.created);
      return [persona, toNeed(persona, created, pressing.has(persona.id))] as const;
    })
    .sort(([, a], [, b]) => compareNeeds(a, b));
}

function toNeed(persona: PersonaView, created: readonly number[], asksUrgently: boolean): Need {
  const { id, label, lastMailAt, agentState, unread, urgent, questions, health } = persona;
  const since = [
    ...created,
    ...(agentState.is === 'waiting' && agentState.since !== undefined ? [agentState.since] : []),
  ];
  return {
    level: computeNeedLevel({
      unread: toNumberOrNull(unread),
      urgent: toNumberOrNull(urgent),
      questions,
      isDown: health.is === 'down',
      agent: agentState.is,
      agentReason: agentState.why ?? null,
      asksUrgently,
      asks: created.length > 0,
    }),
    waitsSince: since.length === 0 ? null : Math.min(...since),
    lastMailAt,
    label,
    id,
  };
}

function toNumberOrNull(count: Count): number | null {
  return count.is === 'unknown' ? null : count.n;
}
