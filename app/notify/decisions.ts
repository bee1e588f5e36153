import { isPressing, type OpenDecision } from '../../core/board/index.ts';
import { type NotificationKey, toDecisionKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import type { DecisionState, PolicyState } from './state.ts';
import { buildDecisionNotification, buildDecisionsNotification, MOST_ANSWERS } from './texts.ts';

/** Questions in banners are cut; the page has the whole text. */
const PROMPT_CHARS = 4000;
const SHORT_CHARS = 400;

type DecisionKey = `decision:${number}`;

/**
 * Takes the list of all open decisions. A decision that is not in it has ended and is forgotten. The same list again costs
 * nothing.
 */
export function updateDecisions(draft: PolicyDraft, decisions: readonly OpenDecision[]): void {
  if (isKnown(draft.state, decisions)) return;
  const open = new Set(decisions.map(({ id }) => toDecisionKey(id)));
  for (const key of Object.keys(draft.state.decisions) as DecisionKey[]) {
    if (!open.has(key)) draft.setDecision(key, null);
  }
  for (const key of Object.keys(draft.state.announcedDecisions) as DecisionKey[])
    if (!open.has(key)) draft.setDecisionAnnounced(key, false);
  for (const decision of decisions) {
    const key = toDecisionKey(decision.id);
    const { persona, blocking } = decision;
    const before = draft.state.decisions[key] ?? toDecisionState(draft, decision);
    draft.setDecision(key, { ...before, persona, blocking });
  }
}

function isKnown({ decisions: known, announcedDecisions }: PolicyState, decisions: readonly OpenDecision[]): boolean {
  return (
    Object.keys(known).length === decisions.length &&
    decisions.every(({ id, persona, blocking }) => {
      const before = known[toDecisionKey(id)];
      return before?.persona === persona && before.blocking === blocking;
    }) &&
    Object.keys(announcedDecisions).every((key) => key in known)
  );
}

function toDecisionState(
  draft: PolicyDraft,
  { id, persona, prompt, options, urgency, blocking, created }: OpenDecision,
) {
  const isAnnounced = draft.state.announcedDecisions[toDecisionKey(id)] === true;
  return {
    id,
    persona,
    prompt: prompt.slice(0, PROMPT_CHARS),
    options: options
      .slice(0, MOST_ANSWERS)
      .map((option) => ({ id: option.id, short: option.short.slice(0, SHORT_CHARS) })),
    urgency,
    blocking,
    created,
    receivedAt: draft.at,
    announceState: isAnnounced ? 'done' : 'not yet',
    banner: 'own',
  } as const satisfies DecisionState;
}

/** Removes banners without open decisions, or whose personas are all muted or hidden. */
export function withdrawIdle(draft: PolicyDraft): void {
  for (const key of Object.keys(draft.state.open) as NotificationKey[]) {
    if (key !== 'decisions' && !key.startsWith('decision:')) continue;
    if (findCoveredDecisions(draft, key).every(({ persona }) => draft.isHushed(persona))) draft.take(key);
  }
}

/** While notifications are paused, decisions are left to the menu and the mark on the icon, as mail is left to the badge. */
export function swallowAll(draft: PolicyDraft): void {
  for (const decision of Object.values(draft.state.decisions))
    if (decision.announceState === 'not yet') markAnnounced(draft, decision);
}

/**
 * Shows a banner for each decision that was not announced. More than a few at once share one banner. In quiet hours (`only`
 * urgent) only those of high urgency are shown and the others wait. After an interruption all wait until its backlog was worked
 * off.
 */
export function announce(draft: PolicyDraft, only: 'all' | 'urgent'): void {
  const waiting = Object.values(draft.state.decisions).filter(({ announceState }) => announceState === 'not yet');
  for (const decision of waiting) if (draft.isHushed(decision.persona)) markAnnounced(draft, decision);
  const fresh = waiting.filter((decision) => isDue(draft, decision, only));
  const { asking, catchingUpUntil } = draft.state;
  if (fresh.length === 0) {
    if (asking.waitingSince !== null) draft.set({ asking: { ...asking, waitingSince: null } });
    return;
  }
  if (draft.isCatchingUp && catchingUpUntil !== null) {
    draft.wake(catchingUpUntil);
    return;
  }
  const { crowdWithinMs, decisionsAbove } = draft.rules;
  const bubbles = asking.bubbles.filter((at) => draft.at - at < crowdWithinMs && at <= draft.at);
  if (bubbles.length + fresh.length > decisionsAbove) {
    announceCrowd(draft, fresh);
    return;
  }
  for (const decision of fresh.sort(compareNeed)) announceOwn(draft, decision);
  draft.set({ asking: { ...asking, waitingSince: null, bubbles: [...bubbles, ...fresh.map(() => draft.at)] } });
}

function isDue(draft: PolicyDraft, decision: DecisionState, only: 'all' | 'urgent'): boolean {
  if (draft.isHushed(decision.persona) || (only === 'urgent' && decision.urgency !== 'high')) return false;
  // A persona that joins brings its name, its mute and its page. One without an inbox never joins, so the wait is limited.
  return draft.findPersona(decision.persona) !== undefined || draft.hasPassed(decision.receivedAt, draft.rules.holdMs);
}

function announceOwn(draft: PolicyDraft, decision: DecisionState): void {
  const { id, persona, prompt, options } = decision;
  const joined = draft.findPersona(persona);
  draft.setDecision(toDecisionKey(id), { ...decision, announceState: 'handed', banner: 'own' });
  draft.put(
    buildDecisionNotification({
      id,
      persona,
      label: joined?.label ?? persona,
      isWatched: joined !== undefined,
      prompt,
      options,
      isPressing: isPressing(decision),
    }),
  );
}

function announceCrowd(draft: PolicyDraft, fresh: readonly DecisionState[]): void {
  const { asking } = draft.state;
  const waitingSince = asking.waitingSince ?? draft.at;
  const held = draft.hasPassed(waitingSince, draft.rules.holdMs);
  const rested = asking.shownAt === null || draft.hasPassed(asking.shownAt, draft.rules.bubbleEveryMs);
  if (!held || !rested) {
    if (asking.waitingSince === null) draft.set({ asking: { ...asking, waitingSince } });
    return;
  }
  for (const decision of fresh)
    draft.setDecision(toDecisionKey(decision.id), { ...decision, announceState: 'handed', banner: 'crowd' });
  const covered = findCoveredDecisions(draft, 'decisions').filter(({ persona }) => !draft.isHushed(persona));
  draft.set({ asking: { ...asking, waitingSince: null, shownAt: draft.at } });
  draft.put(
    buildDecisionsNotification(
      [...new Set(covered.sort(compareNeed).map(({ persona }) => draft.findPersona(persona)?.label ?? persona))],
      covered.length,
      covered.some(isPressing),
      Object.keys(draft.state.open).some((key) => key.startsWith('decision:')),
    ),
  );
}

/** The channel accepted the banner: only now the decision counts as announced. */
export function handleShown(draft: PolicyDraft, key: NotificationKey): void {
  for (const decision of findCoveredDecisions(draft, key))
    if (decision.announceState === 'handed') markAnnounced(draft, decision);
}

/** The channel did not show the banner, so the decision must still be shown, without a wait. */
export function handleRefused(draft: PolicyDraft, key: NotificationKey): void {
  for (const decision of findCoveredDecisions(draft, key)) {
    if (decision.announceState === 'handed')
      draft.setDecision(toDecisionKey(decision.id), { ...decision, announceState: 'not yet' });
  }
  if (key === 'decisions') draft.set({ asking: { ...draft.state.asking, shownAt: null } });
}

function markAnnounced(draft: PolicyDraft, decision: DecisionState): void {
  draft.setDecision(toDecisionKey(decision.id), { ...decision, announceState: 'done' });
  draft.setDecisionAnnounced(toDecisionKey(decision.id), true);
}

/** Returns the open decisions that the banner `key` covers. */
function findCoveredDecisions(draft: PolicyDraft, key: NotificationKey): DecisionState[] {
  const { decisions } = draft.state;
  if (key === 'decisions')
    return Object.values(decisions).filter(
      ({ banner, announceState }) => banner === 'crowd' && announceState !== 'not yet',
    );
  const decision = decisions[key as DecisionKey];
  return decision === undefined || decision.banner !== 'own' ? [] : [decision];
}

function compareNeed(a: DecisionState, b: DecisionState): number {
  return Number(isPressing(b)) - Number(isPressing(a)) || a.created - b.created || a.id - b.id;
}
