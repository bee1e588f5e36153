import type { PersonaId } from '../../core/model/index.ts';
import type { PolicyDraft } from './draft.ts';
import type { AnnouncedOutage, OutageState } from './state.ts';
import { buildOutagesNotification } from './texts.ts';

export type OutageKey = `outage:${string}`;

/** Beginnings and ends of outages that are too many for banners of their own in this minute. They share one banner. */
export const SHARED_OUTAGES = 'outages';

/** An edge that has no banner of its own. */
export interface SharedEdge {
  readonly key: OutageKey;
  readonly outage: OutageState;
  readonly edge: 'down' | 'up';
  readonly personas: readonly PersonaId[];
}

/** Shows or replaces the shared banner for these edges, not too often. Without edges, it is withdrawn when all it tells of is over. */
export function announceShared(draft: PolicyDraft, edges: readonly SharedEdge[]): void {
  const { sharedOutages } = draft.state;
  if (edges.length === 0) {
    if (sharedOutages.waitingSince !== null) draft.set({ sharedOutages: { ...sharedOutages, waitingSince: null } });
    if (sharedOutages.tells === 'down' && listShared(draft).length === 0) draft.take(SHARED_OUTAGES);
    return;
  }
  const waitingSince = sharedOutages.waitingSince ?? draft.at;
  const { shownAt } = sharedOutages;
  const isHeld = !draft.hasPassed(waitingSince, draft.rules.holdMs);
  if (isHeld || (shownAt !== null && !draft.hasPassed(shownAt, draft.rules.bubbleEveryMs))) {
    draft.set({ sharedOutages: { ...sharedOutages, waitingSince } });
    return;
  }
  for (const { key, outage, edge, personas } of edges)
    draft.setOutage(key, { ...outage, handed: personas, sharedEdge: edge });
  const isUp = new Set(edges.flatMap(({ key, edge }) => (edge === 'up' ? [key] : [])));
  const down = [
    ...listShared(draft).flatMap(([key, { cause, personas }]) => (isUp.has(key) ? [] : [{ cause, personas }])),
    ...edges.flatMap(({ edge, outage: { cause }, personas }) => (edge === 'down' ? [{ cause, personas }] : [])),
  ];
  const up = edges.flatMap(({ edge, outage: { cause }, personas }) => (edge === 'up' ? [{ cause, personas }] : []));
  draft.set({
    sharedOutages: { waitingSince: null, shownAt: draft.at, tells: down.length > 0 ? 'down' : 'up' },
  });
  const isBesideOthers = Object.keys(draft.state.open).some((key) => key.startsWith('outage:'));
  const name = ({ cause, personas }: (typeof down)[number]) => {
    const [only] = personas;
    return { cause, label: only === undefined ? null : (draft.findPersona(only)?.label ?? only) };
  };
  draft.put(buildOutagesNotification(down.map(name), up.map(name), isBesideOthers));
}

/** Outages that were announced by the shared banner only, and that are not over. */
function listShared({ state }: PolicyDraft) {
  const announced = Object.entries(state.announced) as [OutageKey, AnnouncedOutage][];
  return announced.filter(([, { isShared, over }]) => isShared === true && over === null);
}

/** The channel accepted the shared banner, so what it tells of counts as announced. */
export function handleSharedShown(draft: PolicyDraft): void {
  for (const [key, outage] of listHanded(draft)) {
    draft.setOutage(key, { ...outage, handed: null, sharedEdge: null });
    const { cause, handed, since } = outage;
    const announced = { cause, since, at: draft.at, over: null, personas: handed ?? [], isShared: true as const };
    draft.setAnnounced(key, outage.sharedEdge === 'up' ? null : announced);
  }
}

/** The channel did not show it, so all of it must still be shown, without a wait. */
export function handleSharedRefused(draft: PolicyDraft): void {
  for (const [key, outage] of listHanded(draft)) draft.setOutage(key, { ...outage, handed: null, sharedEdge: null });
  draft.set({ sharedOutages: { ...draft.state.sharedOutages, shownAt: null } });
}

function listHanded({ state }: PolicyDraft): [OutageKey, OutageState][] {
  const outages = Object.entries(state.outages) as [OutageKey, OutageState][];
  return outages.filter(([, { handed, sharedEdge }]) => handed !== null && sharedEdge !== null);
}
