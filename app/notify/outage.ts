import type { Fact } from '../../core/board/index.ts';
import type { Fault, Instant, PersonaId, SourceId } from '../../core/model/index.ts';
import type { Announced, Cause } from './announced.ts';
import { type Banner, outageKey } from './banner.ts';
import type { Draft } from './draft.ts';
import type { OutageState, PersonaState, Voice } from './state.ts';
import { BODY_POINTS, lineOfText } from './text.ts';
import { outageBanner, recoveryBanner } from './words.ts';

type Key = `outage:${string}`;

/**
 * A persona that appears is taken to be as a person was last told, until its first look says how it is: so an outage that
 * was announced before a restart is neither announced again nor forgotten.
 */
export function joined(draft: Draft, persona: PersonaState): void {
  const told =
    persona.reach.is === 'unseen' ? Object.values(draft.state.announced).filter((a) => concerns(a, persona)) : [];
  if (told.length === 0) {
    draft.setPersona(persona);
    return;
  }
  draft.setPersona({ ...persona, reach: { is: 'unseen', causes: told.map((a) => outageKey(a.cause.key)) } });
  for (const a of told) resume(draft, a);
}

export function down(draft: Draft, persona: PersonaState, since: Instant, fault: Fault): void {
  const key = outageKey(fault.scope.key);
  const before = causesOf(persona);
  if (persona.reach.is === 'down' && before.includes(key)) return;
  for (const other of before) {
    if (other === key) continue;
    // A source that answers for one persona in particular has come back as a source.
    lost(draft, other, draft.state.outages[other]?.cause.scope !== 'persona' && fault.scope.is === 'persona');
  }
  draft.setPersona({ ...persona, reach: { is: 'down', causes: [key] } });
  if (!before.includes(key)) gain(draft, key, causeOf(fault, persona.source, persona.id), since, fault, []);
}

export function up(draft: Draft, persona: PersonaState): void {
  if (persona.reach.is === 'up') return;
  draft.setPersona({ ...persona, reach: { is: 'up' } });
  for (const key of causesOf(persona)) lost(draft, key, true);
}

/** The persona is not watched any more: that is no recovery. */
export function left(draft: Draft, persona: PersonaState): void {
  for (const key of causesOf(persona)) lost(draft, key, false);
}

export function source(draft: Draft, fact: Extract<Fact, { is: 'source' }>): void {
  if (fact.fault !== null) {
    const key = outageKey(fact.fault.scope.key);
    if (draft.state.outages[key]?.sources.includes(fact.source) === true) return;
    gain(draft, key, causeOf(fact.fault, fact.source, null), fact.at, fact.fault, [fact.source]);
    return;
  }
  for (const told of Object.values(draft.state.announced)) {
    const isAlone = told.cause.scope === 'source' || fact.source === `machine:${told.cause.key}`;
    if (isAlone && told.cause.source === fact.source && told.personas.length === 0) {
      resume(draft, told, [fact.source]); // before a restart it was the source alone
    }
  }
  for (const [key, outage] of Object.entries(draft.state.outages) as [Key, OutageState][]) {
    if (!outage.sources.includes(fact.source)) continue;
    const sources = outage.sources.filter((s) => s !== fact.source);
    draft.setOutage(key, { ...outage, sources, recovering: true, changedAt: draft.at });
  }
}

/** Trouble of the machine that concerns no persona alone. */
export function machine(draft: Draft, { at, key, fault }: Extract<Fact, { is: 'machine' }>): void {
  source(draft, { is: 'source', at, source: `machine:${key}`, address: '', fault });
}

/** The desktop took the banner: only now is a person taken to know. */
export function shown(draft: Draft, banner: Banner): void {
  const key = banner.key as Key;
  const outage = draft.state.outages[key];
  if (outage === undefined || outage.handed === null) return;
  draft.setOutage(key, { ...outage, handed: null });
  if (banner.is === 'recovery') {
    draft.setAnnounced(key, null);
    return;
  }
  const before = draft.state.announced[key];
  draft.setAnnounced(key, {
    cause: outage.cause,
    since: Math.min(outage.since, before?.since ?? outage.since),
    at: draft.at,
    over: null,
    personas: outage.handed,
  });
}

export function refused(draft: Draft, banner: Banner): void {
  const outage = draft.state.outages[banner.key as Key];
  if (outage !== undefined) draft.setOutage(banner.key as Key, { ...outage, handed: null });
}

/**
 * Forgets outages that are over and need no word, and asks for a banner for each edge a person does not know yet. An edge
 * in a silence is told after it, if it still holds; a banner that says "down" is taken down at once when that is over.
 */
export function settle(draft: Draft, voice: Voice): void {
  const outages = Object.entries(draft.state.outages) as [Key, OutageState][];
  if (outages.length === 0) return;
  const personas = Object.values(draft.state.personas);
  const membersOf = new Map<Key, PersonaState[]>(outages.map(([key]) => [key, []]));
  for (const persona of personas) for (const key of causesOf(persona)) membersOf.get(key)?.push(persona);
  for (const [key, outage] of outages) {
    if (outage.handed !== null) continue;
    const members = membersOf.get(key) ?? [];
    const seen = members.filter(({ id }) => !draft.isHidden(id));
    const bare = outage.sources.some((source) => isBare(draft, personas, source));
    const announced = draft.state.announced[key];
    if (seen.length > 0 || bare) {
      stillDown(draft, key, announced, bare || seen.some(({ reach }) => reach.is === 'down'));
      if (voice === 'all') announceDown(draft, key, outage, seen, draft.state.announced[key]);
    } else if (announced !== undefined && outage.recovering && concernsAnybody(draft, announced)) {
      announceUp(draft, key, outage, announced, voice);
    } else {
      if (announced !== undefined) {
        draft.take(key); // everybody it was about has left, is hidden, or is down for another reason
        draft.setAnnounced(key, null);
      }
      if (outage.sources.length === 0 && members.length === 0) draft.setOutage(key, null);
    }
  }
}

/** A source that cannot say who is there, and of which nothing that a person looks at can be read. */
function isBare(draft: Draft, personas: readonly PersonaState[], source: SourceId): boolean {
  const its = personas.filter((p) => p.source === source);
  if (its.some(({ reach }) => reach.is === 'up')) return false;
  return its.length === 0 || its.some(({ id }) => !draft.isHidden(id));
}

/** Back in a silence, and down again in the same: to a person it was never back. */
function stillDown(draft: Draft, key: Key, announced: Announced | undefined, isSeen: boolean): void {
  if (isSeen && announced !== undefined && announced.over !== null)
    draft.setAnnounced(key, { ...announced, over: null });
}

function announceDown(
  draft: Draft,
  key: Key,
  outage: OutageState,
  members: readonly PersonaState[],
  announced: Announced | undefined,
): void {
  const { rules } = draft;
  if (announced === undefined) {
    if (!audible(draft, members)) return;
    const { catchingUpUntil } = draft.state;
    if (draft.isCatchingUp && catchingUpUntil !== null) {
      draft.wake(catchingUpUntil); // what fails just after a sleep may only be waking up as well
      return;
    }
    const held =
      members.length === 0
        ? draft.passed(outage.firstAt, rules.sourceHoldMs)
        : draft.passed(outage.firstAt, rules.holdAtMostMs) || draft.passed(outage.changedAt, rules.holdMs);
    if (!held) return;
  } else {
    // The same banner with a higher count, as long as it is on the screen; one that was closed does not come back.
    if (!draft.isOpen(key) || members.length <= announced.personas.length || !audible(draft, members)) return;
    if (!draft.passed(announced.at, rules.bubbleEveryMs)) return;
  }
  draft.setOutage(key, { ...outage, handed: members.map((p) => p.id) });
  draft.put(
    outageBanner(
      outage.cause,
      members.map((p) => p.label),
      outage.why,
    ),
  );
}

function announceUp(draft: Draft, key: Key, outage: OutageState, announced: Announced, voice: Voice): void {
  if (voice === 'unheard' || !draft.passed(outage.changedAt, draft.rules.holdMs)) return;
  const told = seenOf(draft, announced);
  const known = told.flatMap((id) => draft.persona(id) ?? []);
  const over = announced.over ?? outage.changedAt;
  if (voice !== 'all' || (known.length === told.length && !audible(draft, known))) {
    draft.take(key); // it says what is no longer so
    if (announced.over === null) draft.setAnnounced(key, { ...announced, over });
    return;
  }
  const labels = told.map((id) => draft.persona(id)?.label ?? id);
  draft.setOutage(key, { ...outage, handed: told });
  draft.put(recoveryBanner(announced, labels, over - announced.since, draft.at - over));
}

function seenOf(draft: Draft, { personas }: Announced): readonly PersonaId[] {
  return personas.filter((id) => !draft.isHidden(id));
}

function concernsAnybody(draft: Draft, announced: Announced): boolean {
  return announced.personas.length === 0 || seenOf(draft, announced).length > 0;
}

function causesOf({ reach }: PersonaState): readonly Key[] {
  return reach.is === 'up' ? [] : reach.causes;
}

/** Whether a banner about these may be heard: somebody is not muted, or it is about nobody in particular. */
function audible(draft: Draft, personas: readonly PersonaState[]): boolean {
  const mutes = personas.map((p) => draft.mutedOf(p.id));
  if (mutes.length === 0 || mutes.some((until) => !draft.silent(until))) return true;
  for (const until of mutes) if (until.is === 'at') draft.wake(until.at);
  return false;
}

function gain(draft: Draft, key: Key, cause: Cause, since: Instant, fault: Fault, sources: readonly SourceId[]): void {
  const before = draft.state.outages[key];
  const why = lineOfText(fault.explain(), BODY_POINTS);
  const outage: OutageState =
    before === undefined
      ? {
          cause,
          since,
          why,
          firstAt: draft.at,
          changedAt: draft.at,
          sources,
          recovering: false,
          handed: null,
        }
      : {
          ...before,
          why: before.why === '' ? why : before.why,
          since: Math.min(before.since, since),
          changedAt: draft.at,
          sources: [...before.sources, ...sources],
          recovering: false,
        };
  draft.setOutage(key, outage);
}

function lost(draft: Draft, key: Key, recovered: boolean): void {
  const outage = draft.state.outages[key];
  if (outage === undefined) return;
  draft.setOutage(key, { ...outage, changedAt: draft.at, recovering: outage.recovering || recovered });
}

/** An outage known from before a restart, seen again. */
function resume(draft: Draft, told: Announced, sources: readonly SourceId[] = []): void {
  const key = outageKey(told.cause.key);
  if (draft.state.outages[key] !== undefined) return;
  draft.setOutage(key, {
    cause: told.cause,
    since: told.since,
    why: '',
    firstAt: draft.at,
    changedAt: draft.at,
    sources,
    recovering: false,
    handed: null,
  });
}

function concerns(told: Announced, persona: PersonaState): boolean {
  if (told.personas.includes(persona.id)) return true;
  switch (told.cause.scope) {
    case 'persona':
      return false;
    case 'source':
      return told.cause.source === persona.source;
    case 'machine':
      return true;
  }
}

function causeOf(fault: Fault, source: SourceId, persona: PersonaId | null): Cause {
  const scope = fault.scope.is;
  return { key: fault.scope.key, scope, source, opens: scope === 'persona' ? persona : null };
}
