import type { Fact } from '../../core/board/index.ts';
import type { Fault, Instant, PersonaId, SourceId } from '../../core/model/index.ts';
import { type Notification, toOutageKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import {
  announceShared,
  handleSharedRefused,
  handleSharedShown,
  type OutageKey,
  SHARED_OUTAGES,
  type SharedEdge,
} from './shared-outages.ts';
import type { AnnouncedOutage, Cause, OutageState, PersonaState, Voice } from './state.ts';
import { BODY_POINTS, buildOutageNotification, buildRecoveryNotification, toSingleLine } from './texts.ts';

/**
 * Adds a persona. Until its first poll after a restart, it is assumed to be as it was last announced. So an outage that was
 * announced before the restart is neither announced again nor forgotten.
 */
export function addPersona(draft: PolicyDraft, persona: PersonaState): void {
  const announcedOutages =
    persona.health.is === 'unseen' ? Object.values(draft.state.announced).filter((a) => isAbout(a, persona)) : [];
  if (announcedOutages.length === 0) {
    draft.setPersona(persona);
    return;
  }
  draft.setPersona({
    ...persona,
    health: { is: 'unseen', causes: announcedOutages.map((a) => toOutageKey(a.cause.key)) },
  });
  for (const a of announcedOutages) resume(draft, a);
}

export function handleDown(draft: PolicyDraft, persona: PersonaState, since: Instant, fault: Fault): void {
  const key = toOutageKey(fault.scope.key);
  const before = listCauses(persona);
  if (persona.health.is === 'down' && before.includes(key)) return;
  for (const other of before) {
    if (other === key) continue;
    // The new fault is about this persona only, so the source as a whole has recovered.
    removeFromOutage(
      draft,
      other,
      draft.state.outages[other]?.cause.scope !== 'persona' && fault.scope.is === 'persona',
    );
  }
  draft.setPersona({ ...persona, health: { is: 'down', causes: [key] } });
  if (!before.includes(key)) addToOutage(draft, key, toCause(fault, persona.source, persona.id), since, fault, []);
}

const UP: PersonaState['health'] = { is: 'up' };

export function handleUp(draft: PolicyDraft, persona: PersonaState): void {
  if (persona.health.is === 'up') return;
  draft.setPersona({ ...persona, health: UP });
  for (const key of listCauses(persona)) removeFromOutage(draft, key, true);
}

/** The persona is not watched any more, which is no recovery. */
export function handleLeft(draft: PolicyDraft, persona: PersonaState): void {
  for (const key of listCauses(persona)) removeFromOutage(draft, key, false);
}

export function handleSource(draft: PolicyDraft, fact: Extract<Fact, { is: 'source' }>): void {
  if (fact.fault !== null) {
    const key = toOutageKey(fact.fault.scope.key);
    if (draft.state.outages[key]?.sources.includes(fact.source) === true) return;
    addToOutage(draft, key, toCause(fact.fault, fact.source, null), fact.at, fact.fault, [fact.source]);
    return;
  }
  for (const announced of Object.values(draft.state.announced)) {
    const isAlone = announced.cause.scope === 'source' || fact.source === `machine:${announced.cause.key}`;
    if (isAlone && announced.cause.source === fact.source && announced.personas.length === 0) {
      resume(draft, announced, [fact.source]); // before the restart the announced outage was of the source alone
    }
  }
  for (const [key, outage] of Object.entries(draft.state.outages) as [OutageKey, OutageState][]) {
    if (!outage.sources.includes(fact.source)) continue;
    const sources = outage.sources.filter((s) => s !== fact.source);
    draft.setOutage(key, { ...outage, sources, recovering: true, changedAt: draft.at });
  }
}

/** Handles a fault of the machine that concerns no single persona. */
export function handleMachine(draft: PolicyDraft, { at, key, fault }: Extract<Fact, { is: 'machine' }>): void {
  handleSource(draft, { is: 'source', at, source: `machine:${key}`, address: '', fault });
}

/** The channel accepted the banner: only now the outage counts as announced. */
export function handleShown(draft: PolicyDraft, banner: Notification): void {
  if (banner.key === SHARED_OUTAGES) {
    handleSharedShown(draft);
    return;
  }
  const key = banner.key as OutageKey;
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

export function handleRefused(draft: PolicyDraft, banner: Notification): void {
  if (banner.key === SHARED_OUTAGES) {
    handleSharedRefused(draft);
    return;
  }
  const outage = draft.state.outages[banner.key as OutageKey];
  if (outage !== undefined) draft.setOutage(banner.key as OutageKey, { ...outage, handed: null });
}

/**
 * Forgets outages that are over and need no announcement, and requests a banner for each edge that a person does not know yet. An
 * edge during a pause, mute or quiet hours is announced afterwards, if it still holds. A banner that says "down" is removed as
 * soon as that is over.
 */
export function announceEdges(draft: PolicyDraft, voice: Voice): void {
  const outages = Object.entries(draft.state.outages) as [OutageKey, OutageState][];
  if (outages.length === 0 && !draft.isOpen(SHARED_OUTAGES)) return;
  const shared: SharedEdge[] = [];
  const personas = Object.values(draft.state.personas);
  const membersByKey = new Map<OutageKey, PersonaState[]>(outages.map(([key]) => [key, []]));
  for (const persona of personas) for (const key of listCauses(persona)) membersByKey.get(key)?.push(persona);
  for (const [key, outage] of outages) {
    if (outage.handed !== null) continue;
    const members = membersByKey.get(key) ?? [];
    const visible = members.filter(({ id }) => !draft.isHidden(id));
    const bare = outage.sources.some((source) => isBare(draft, personas, source));
    const announced = draft.state.announced[key];
    if (visible.length > 0 || bare) {
      stillDown(draft, key, announced, bare || visible.some(({ health }) => health.is === 'down'));
      if (voice === 'all') announceDown(draft, key, outage, visible, draft.state.announced[key], shared);
    } else if (announced !== undefined && outage.recovering && isForAnybody(draft, announced)) {
      announceUp(draft, key, outage, announced, voice, shared);
    } else {
      if (announced !== undefined) {
        draft.take(key); // all of its personas have left, are hidden, or are down for another reason
        draft.setAnnounced(key, null);
      }
      if (outage.sources.length === 0 && members.length === 0) draft.setOutage(key, null);
    }
  }
  announceShared(draft, shared);
}

/** Returns whether a source cannot list its personas and none of its visible personas can be polled. */
function isBare(draft: PolicyDraft, personas: readonly PersonaState[], source: SourceId): boolean {
  const members = personas.filter((p) => p.source === source);
  if (members.some(({ health }) => health.is === 'up')) return false;
  return members.length === 0 || members.some(({ id }) => !draft.isHidden(id));
}

/** An outage that ended and came back within one silent time never ended for the person. */
function stillDown(
  draft: PolicyDraft,
  key: OutageKey,
  announced: AnnouncedOutage | undefined,
  isVisible: boolean,
): void {
  if (isVisible && announced !== undefined && announced.over !== null)
    draft.setAnnounced(key, { ...announced, over: null });
}

function announceDown(
  draft: PolicyDraft,
  key: OutageKey,
  outage: OutageState,
  members: readonly PersonaState[],
  announced: AnnouncedOutage | undefined,
  shared: SharedEdge[],
): void {
  const { rules } = draft;
  if (announced === undefined) {
    if (!isAudible(draft, members)) return;
    const { catchingUpUntil } = draft.state;
    if (draft.isCatchingUp && catchingUpUntil !== null) {
      draft.wake(catchingUpUntil); // a failure just after a sleep may only mean that the other side is waking up as well
      return;
    }
    const held =
      members.length === 0
        ? draft.hasPassed(outage.firstAt, rules.sourceHoldMs)
        : draft.hasPassed(outage.firstAt, rules.holdAtMostMs) || draft.hasPassed(outage.changedAt, rules.holdMs);
    if (!held) return;
    if (draft.countRoom(draft.rules.reservedForAsks) === 0) {
      shared.push({ key, outage, edge: 'down', personas: members.map((p) => p.id) });
      return;
    }
  } else {
    // The same banner is shown with a higher count while it is on the screen. One that was closed does not come back.
    if (!draft.isOpen(key) || members.length <= announced.personas.length || !isAudible(draft, members)) return;
    if (!draft.hasPassed(announced.at, rules.bubbleEveryMs)) return;
    if (draft.countRoom(draft.rules.reservedForAsks) === 0) {
      draft.wakeForRoom(draft.rules.reservedForAsks);
      return;
    }
  }
  draft.setOutage(key, { ...outage, handed: members.map((p) => p.id) });
  draft.putOwn(
    buildOutageNotification(
      outage.cause,
      members.map((p) => p.label),
      outage.why,
    ),
  );
}

function announceUp(
  draft: PolicyDraft,
  key: OutageKey,
  outage: OutageState,
  announced: AnnouncedOutage,
  voice: Voice,
  shared: SharedEdge[],
): void {
  if (voice === 'unheard' || !draft.hasPassed(outage.changedAt, draft.rules.holdMs)) return;
  const visibleIds = listVisible(draft, announced);
  const known = visibleIds.flatMap((id) => draft.findPersona(id) ?? []);
  const over = announced.over ?? outage.changedAt;
  if (voice !== 'all' || (known.length === visibleIds.length && !isAudible(draft, known))) {
    draft.take(key); // it is no longer true
    if (announced.over === null) draft.setAnnounced(key, { ...announced, over });
    return;
  }
  if (draft.countRoom(draft.rules.reservedForAsks) === 0) {
    draft.take(key);
    shared.push({ key, outage, edge: 'up', personas: visibleIds });
    return;
  }
  const labels = visibleIds.map((id) => draft.findPersona(id)?.label ?? id);
  draft.setOutage(key, { ...outage, handed: visibleIds });
  draft.putOwn(buildRecoveryNotification(announced, labels, over - announced.since, draft.at - over));
}

function listVisible(draft: PolicyDraft, { personas }: AnnouncedOutage): readonly PersonaId[] {
  return personas.filter((id) => !draft.isHidden(id));
}

function isForAnybody(draft: PolicyDraft, announced: AnnouncedOutage): boolean {
  return announced.personas.length === 0 || listVisible(draft, announced).length > 0;
}

function listCauses({ health }: PersonaState): readonly OutageKey[] {
  return health.is === 'up' ? [] : health.causes;
}

/** Returns whether a banner about these personas may be shown: one of them is wanted and not muted, or the list is empty. */
function isAudible(draft: PolicyDraft, personas: readonly PersonaState[]): boolean {
  if (personas.length === 0) return true;
  const mutes = personas.filter(({ id }) => draft.wants(id, 'outages')).map(({ id }) => draft.findMute(id));
  if (mutes.some((until) => !draft.isSilent(until))) return true;
  for (const until of mutes) if (until.is === 'at') draft.wake(until.at);
  return false;
}

function addToOutage(
  draft: PolicyDraft,
  key: OutageKey,
  cause: Cause,
  since: Instant,
  fault: Fault,
  sources: readonly SourceId[],
): void {
  const before = draft.state.outages[key];
  const why = toSingleLine(fault.explain(), BODY_POINTS);
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
          sharedEdge: null,
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

function removeFromOutage(draft: PolicyDraft, key: OutageKey, recovered: boolean): void {
  const outage = draft.state.outages[key];
  if (outage === undefined) return;
  draft.setOutage(key, { ...outage, changedAt: draft.at, recovering: outage.recovering || recovered });
}

/** Takes up an outage that was announced before a restart. */
function resume(draft: PolicyDraft, announced: AnnouncedOutage, sources: readonly SourceId[] = []): void {
  const key = toOutageKey(announced.cause.key);
  if (draft.state.outages[key] !== undefined) return;
  draft.setOutage(key, {
    cause: announced.cause,
    since: announced.since,
    why: '',
    firstAt: draft.at,
    changedAt: draft.at,
    sources,
    recovering: false,
    handed: null,
    sharedEdge: null,
  });
}

function isAbout(announced: AnnouncedOutage, persona: PersonaState): boolean {
  if (announced.personas.includes(persona.id)) return true;
  switch (announced.cause.scope) {
    case 'persona':
      return false;
    case 'source':
      return announced.cause.source === persona.source;
    case 'machine':
      return true;
  }
}

function toCause(fault: Fault, source: SourceId, persona: PersonaId | null): Cause {
  const scope = fault.scope.is;
  return { key: fault.scope.key, scope, source, opens: scope === 'persona' ? persona : null };
}
