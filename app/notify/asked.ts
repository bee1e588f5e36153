import { isPressing, type OpenDecision } from '../../core/board/index.ts';
import { type BannerKey, decisionKey } from './banner.ts';
import type { Draft } from './draft.ts';
import type { DecisionState, PolicyState } from './state.ts';
import { decisionBanner, decisionsBanner, MOST_ANSWERS } from './words.ts';

/** What a person is asked is kept short; the page has all of it. */
const PROMPT_KEPT = 4000;
const SHORT_KEPT = 400;

type Key = `decision:${number}`;

/** All that is open now: what is not any more, however it ended, is forgotten. The same again costs nothing. */
export function asked(draft: Draft, decisions: readonly OpenDecision[]): void {
  if (isKnown(draft.state, decisions)) return;
  const open = new Set(decisions.map(({ id }) => decisionKey(id)));
  for (const key of Object.keys(draft.state.decisions) as Key[]) {
    if (!open.has(key)) draft.setDecision(key, null);
  }
  for (const key of Object.keys(draft.state.toldDecisions) as Key[]) if (!open.has(key)) draft.setTold(key, false);
  for (const decision of decisions) {
    const key = decisionKey(decision.id);
    const { persona, blocking } = decision;
    const before = draft.state.decisions[key] ?? stateOf(draft, decision);
    draft.setDecision(key, { ...before, persona, blocking });
  }
}

function isKnown({ decisions: known, toldDecisions }: PolicyState, decisions: readonly OpenDecision[]): boolean {
  return (
    Object.keys(known).length === decisions.length &&
    decisions.every(({ id, persona, blocking }) => {
      const before = known[decisionKey(id)];
      return before?.persona === persona && before.blocking === blocking;
    }) &&
    Object.keys(toldDecisions).every((key) => key in known)
  );
}

function stateOf(draft: Draft, { id, persona, prompt, options, urgency, blocking, created }: OpenDecision) {
  const isTold = draft.state.toldDecisions[decisionKey(id)] === true;
  return {
    id,
    persona,
    prompt: prompt.slice(0, PROMPT_KEPT),
    options: options
      .slice(0, MOST_ANSWERS)
      .map((option) => ({ id: option.id, short: option.short.slice(0, SHORT_KEPT) })),
    urgency,
    blocking,
    created,
    heardAt: draft.at,
    said: isTold ? 'done' : 'not yet',
    banner: 'own',
  } as const satisfies DecisionState;
}

/** Banners of which nothing is open any more, or whose personas are to be silent from now on. */
export function withdrawIdle(draft: Draft): void {
  for (const key of Object.keys(draft.state.open) as BannerKey[]) {
    if (key !== 'decisions' && !key.startsWith('decision:')) continue;
    if (spokenOfBy(draft, key).every(({ persona }) => draft.isHushed(persona))) draft.take(key);
  }
}

/** While notifications are paused a decision is left to the menu and the mark on the icon, as mail is to the badge. */
export function swallowAll(draft: Draft): void {
  for (const one of Object.values(draft.state.decisions)) if (one.said === 'not yet') done(draft, one);
}

/**
 * A banner for each decision that nobody was told of; more than a few at once share one. In quiet hours (`only` urgent)
 * those of high urgency alone, the others wait; and all wait until what a sleep held up is caught up with.
 */
export function announce(draft: Draft, only: 'all' | 'urgent'): void {
  const waiting = Object.values(draft.state.decisions).filter(({ said }) => said === 'not yet');
  for (const one of waiting) if (draft.isHushed(one.persona)) done(draft, one);
  const fresh = waiting.filter((one) => isDue(draft, one, only));
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
  for (const one of fresh.sort(byNeed)) announceOwn(draft, one);
  draft.set({ asking: { ...asking, waitingSince: null, bubbles: [...bubbles, ...fresh.map(() => draft.at)] } });
}

function isDue(draft: Draft, one: DecisionState, only: 'all' | 'urgent'): boolean {
  if (draft.isHushed(one.persona) || (only === 'urgent' && one.urgency !== 'high')) return false;
  // Who joins brings its name, its mute and its page; who has no inbox never joins.
  return draft.persona(one.persona) !== undefined || draft.passed(one.heardAt, draft.rules.holdMs);
}

function announceOwn(draft: Draft, one: DecisionState): void {
  const { id, persona, prompt, options } = one;
  const joined = draft.persona(persona);
  draft.setDecision(decisionKey(id), { ...one, said: 'handed', banner: 'own' });
  draft.put(
    decisionBanner({
      id,
      persona,
      label: joined?.label ?? persona,
      isWatched: joined !== undefined,
      prompt,
      options,
      isPressing: isPressing(one),
    }),
  );
}

function announceCrowd(draft: Draft, fresh: readonly DecisionState[]): void {
  const { asking } = draft.state;
  const waitingSince = asking.waitingSince ?? draft.at;
  const held = draft.passed(waitingSince, draft.rules.holdMs);
  const rested = asking.shownAt === null || draft.passed(asking.shownAt, draft.rules.bubbleEveryMs);
  if (!held || !rested) {
    if (asking.waitingSince === null) draft.set({ asking: { ...asking, waitingSince } });
    return;
  }
  for (const one of fresh) draft.setDecision(decisionKey(one.id), { ...one, said: 'handed', banner: 'crowd' });
  const all = spokenOfBy(draft, 'decisions').filter(({ persona }) => !draft.isHushed(persona));
  draft.set({ asking: { ...asking, waitingSince: null, shownAt: draft.at } });
  draft.put(
    decisionsBanner(
      [...new Set(all.sort(byNeed).map(({ persona }) => draft.persona(persona)?.label ?? persona))],
      all.length,
      all.some(isPressing),
      Object.keys(draft.state.open).some((key) => key.startsWith('decision:')),
    ),
  );
}

/** The desktop took the banner: only now is a person taken to know. */
export function shown(draft: Draft, key: BannerKey): void {
  for (const one of spokenOfBy(draft, key)) if (one.said === 'handed') done(draft, one);
}

/** The desktop did not show it: it is still to be shown, and need not wait. */
export function refused(draft: Draft, key: BannerKey): void {
  for (const one of spokenOfBy(draft, key)) {
    if (one.said === 'handed') draft.setDecision(decisionKey(one.id), { ...one, said: 'not yet' });
  }
  if (key === 'decisions') draft.set({ asking: { ...draft.state.asking, shownAt: null } });
}

function done(draft: Draft, one: DecisionState): void {
  draft.setDecision(decisionKey(one.id), { ...one, said: 'done' });
  draft.setTold(decisionKey(one.id), true);
}

/** The open decisions that the banner `key` stands for. */
function spokenOfBy(draft: Draft, key: BannerKey): DecisionState[] {
  const { decisions } = draft.state;
  if (key === 'decisions')
    return Object.values(decisions).filter(({ banner, said }) => banner === 'crowd' && said !== 'not yet');
  const one = decisions[key as Key];
  return one === undefined || one.banner !== 'own' ? [] : [one];
}

function byNeed(a: DecisionState, b: DecisionState): number {
  return Number(isPressing(b)) - Number(isPressing(a)) || a.created - b.created || a.id - b.id;
}
