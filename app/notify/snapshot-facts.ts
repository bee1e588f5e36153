import type { Fact, Snapshot, Until } from '../../core/board/index.ts';
import { FAULTS, Fault, type FaultCode, type Instant, type PersonaId } from '../../core/model/index.ts';

/** Converts what the board already shows into the facts that led there, so that the order of starts does not matter. */
export function toSnapshotFacts(snapshot: Snapshot, at: Instant): Fact[] {
  const { paused, quietHours, quiet, decisions } = snapshot;
  const facts: Fact[] = [
    { is: 'muted', at, persona: null, until: paused },
    { is: 'quiet', at, on: quietHours, until: quiet },
  ];
  for (const p of snapshot.personas) {
    const { id: persona, source, label, stem, eventsFile, lastEventId, canMarkRead } = p;
    const named = { persona, source, address: label, label, stem, eventsFile, lastEventId, canMarkRead };
    facts.push({ is: 'joined', at, ...named, staleAfterMs: 0 });
    const unread = p.unread.value;
    const urgent = p.urgent.value;
    if (p.health.is === 'up') {
      const { health, agentState, cursor } = p;
      facts.push({ is: 'polled', at, persona, health, unread, urgent, agentState, cursor });
    } else {
      facts.push({ is: 'counted', at, persona, unread, urgent });
    }
  }
  for (const { key, scope, message, personas } of snapshot.causes) {
    for (const persona of personas) {
      const health = snapshot.personas.find((p) => p.id === persona)?.health;
      if (health?.is !== 'down') continue;
      const fault = new Fault(health.why, withoutNext(message, health.why), { is: scope, key });
      facts.push({ is: 'failed', at, persona, health, fault });
    }
  }
  // An empty list may also mean that nothing is known yet, and announced decisions would be forgotten.
  if (decisions.length > 0) facts.push({ is: 'decisions', at, decisions });
  return facts;
}

/** Returns whether banners about the persona are wanted, as facts. */
export function toSilenceFacts(at: Instant, persona: PersonaId, until: Until, hidden: boolean): Fact[] {
  return [
    { is: 'muted', at, persona, until },
    { is: 'hidden', at, persona, hidden },
  ];
}

/** The message on the board includes the next step, which a Fault adds by itself, so it is removed here. */
function withoutNext(message: string, code: FaultCode): string {
  const next = `: ${FAULTS[code].next}`;
  return message.endsWith(next) ? message.slice(0, -next.length) : message;
}
