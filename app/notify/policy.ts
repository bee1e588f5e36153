import type { Fact } from '../../core/board/index.ts';
import type { Event, NewEvent } from '../../core/events/index.ts';
import { type Instant, instantOfIso } from '../../core/model/index.ts';
import * as asked from './asked.ts';
import type { Banner, BannerKey } from './banner.ts';
import { Draft } from './draft.ts';
import * as mail from './mail.ts';
import * as outage from './outage.ts';
import { type PersonaState, type PolicyState, RULES, type Rules, type Voice } from './state.ts';
import { NAME_POINTS } from './text.ts';
import type { Latest } from './words.ts';

export type PolicyInput = { readonly at: Instant } & (
  | { readonly is: 'facts'; readonly facts: readonly Fact[] }
  | { readonly is: 'tick' }
  /** The desktop took, or refused, a banner that the policy asked to show. */
  | { readonly is: 'shown' | 'refused'; readonly banner: Banner }
  /** The desktop can show banners, now or again. */
  | { readonly is: 'ready' }
  /** A person clicked the banner: it has done its work, and some desktops leave it there. */
  | { readonly is: 'clicked'; readonly key: BannerKey }
  /** A banner went away: a person closed it, or the desktop dropped it. */
  | { readonly is: 'closed'; readonly key: BannerKey; readonly by: 'person' | 'desktop' }
);

export interface Decision {
  readonly state: PolicyState;
  /** To hand to the desktop in this order; each wants a `shown` or `refused` in return. */
  readonly show: readonly Banner[];
  readonly withdraw: readonly BannerKey[];
  /** When to come again with a `tick`, if nothing else comes before; null: never. */
  readonly wakeAt: Instant | null;
}

/**
 * What to show, replace and withdraw: all that notifications decide, as a function. Time comes in with the input and
 * nothing is remembered outside the state.
 */
export function decide(state: PolicyState, input: PolicyInput, rules: Rules = RULES): Decision {
  const draft = new Draft(state, input.at, rules);
  take(draft, input);
  mail.withdrawIdle(draft);
  asked.withdrawIdle(draft);
  const voice = voiceOf(draft);
  outage.settle(draft, voice);
  if (voice === 'all' || voice === 'urgent') {
    asked.announce(draft, voice);
    mail.announce(draft, voice);
  }
  return { state: draft.state, show: draft.show, withdraw: draft.withdraw, wakeAt: draft.wakeAt };
}

function take(draft: Draft, input: PolicyInput): void {
  switch (input.is) {
    case 'facts':
      for (const fact of input.facts) fold(draft, fact);
      return;
    case 'tick':
      return;
    case 'ready':
      draft.set({ desktop: { is: 'hears' } });
      return;
    case 'shown':
      shown(draft, input.banner);
      return;
    case 'refused':
      draft.set({ desktop: { is: 'deaf', until: input.at + draft.rules.deafMs } });
      // It stays open: the banner it should have replaced may still be there, and withdrawing none does no harm.
      refused(draft, input.banner);
      return;
    case 'clicked':
      draft.take(input.key);
      mail.dismissed(draft, input.key);
      return;
    case 'closed':
      draft.closed(input.key);
      if (input.by === 'person') mail.dismissed(draft, input.key);
  }
}

function shown(draft: Draft, banner: Banner): void {
  switch (banner.is) {
    case 'outage':
    case 'recovery':
      outage.shown(draft, banner);
      return;
    case 'decision':
      asked.shown(draft, banner.key);
      return;
    case 'mail': // it counts as told once it was handed over
    case 'failed': // an answer to a person's own click: it concerns nobody else
    case 'test':
  }
}

function refused(draft: Draft, banner: Banner): void {
  switch (banner.is) {
    case 'outage':
    case 'recovery':
      outage.refused(draft, banner);
      return;
    case 'decision':
      asked.refused(draft, banner.key);
      return;
    case 'mail':
      mail.refused(draft, banner.key);
      return;
    case 'failed':
    case 'test':
  }
}

/** What may be shown now: as the desktop takes banners, and as the person wants them. */
function voiceOf(draft: Draft): Voice {
  const { desktop, paused, quiet } = draft.state;
  if (draft.silent(paused)) {
    mail.swallowAll(draft);
    asked.swallowAll(draft);
    if (paused.is === 'at') draft.wake(paused.at);
    return 'none';
  }
  const isQuiet = draft.silent(quiet);
  if (isQuiet) {
    mail.keepForLater(draft);
    if (quiet.is === 'at') draft.wake(quiet.at);
  }
  if (desktop.is === 'deaf') {
    if (draft.at < desktop.until) {
      draft.wake(desktop.until);
      return 'unheard';
    }
    draft.set({ desktop: { is: 'hears' } });
  }
  if (!isQuiet) return 'all';
  return draft.rules.urgentBreaksQuiet ? 'urgent' : 'none';
}

/** Trouble of the machine that a person is told of, by its key on the board. */
const FULL_DISK = 'disk';

function fold(draft: Draft, fact: Fact): void {
  switch (fact.is) {
    case 'surface':
    case 'held': // the mail is not handed over yet; it is told when it is
    case 'published':
    case 'recalled':
    case 'autostart':
    case 'local':
    case 'daemon':
    case 'project':
    case 'withdrawn':
      return;
    case 'machine':
      // Of others the icon and the page say it for as long as it lasts: nobody can mend them at once.
      if (fact.key === FULL_DISK) outage.machine(draft, fact);
      return;
    case 'asked':
      asked.asked(draft, fact.decisions);
      return;
    case 'gap':
      // A clock that was set back must not keep the desktop deaf until it has caught up.
      draft.set({ catchingUpUntil: fact.until, desktop: { is: 'hears' } });
      return;
    case 'quiet':
      draft.set({ quiet: fact.until });
      return;
    case 'hidden':
      draft.setHidden(fact.persona, fact.hidden);
      return;
    case 'source':
      outage.source(draft, fact);
      return;
    case 'joined':
      outage.joined(draft, personaOf(fact, draft.persona(fact.persona)));
      return;
    case 'muted':
      if (fact.persona === null) draft.set({ paused: fact.until });
      else draft.setMuted(fact.persona, fact.until);
      return;
    default:
  }
  const persona = draft.persona(fact.persona);
  if (persona === undefined) return; // it left before its last fact was heard
  switch (fact.is) {
    case 'left':
      outage.left(draft, persona);
      draft.dropPersona(persona.id);
      return;
    case 'looked':
      outage.up(draft, mail.levels(draft, persona, fact));
      return;
    case 'counted':
      mail.levels(draft, persona, fact);
      return;
    case 'failed':
      if (fact.reach.is === 'down') outage.down(draft, persona, fact.reach.since, fact.fault);
      return;
    case 'told': {
      // Nor what Hivebar itself tells the agent: a person who answers a question is not alarmed by the answer.
      const isNews = (e: Event): e is NewEvent => e.event === 'new' && e.self !== true && e.origin === undefined;
      const news = fact.events.filter(isNews);
      const last = news.at(-1);
      if (last === undefined) return;
      const came = cameWhile(draft, fact);
      mail.arrived(draft, persona, { count: news.length, latest: latestOf(last), came }, instantOfIso(last.ts));
      return;
    }
  }
}

function personaOf(fact: Extract<Fact, { is: 'joined' }>, before: PersonaState | undefined): PersonaState {
  const label = fact.label.slice(0, NAME_POINTS * 4);
  const canMarkRead = fact.canMarkRead === true;
  if (before !== undefined) return { ...before, source: fact.source, label, canMarkRead };
  return {
    id: fact.persona,
    source: fact.source,
    label,
    unread: { is: 'unknown' },
    urgency: { known: null, untold: 0, roseAt: fact.at, firstAt: null },
    canMarkRead,
    reach: { is: 'unseen', causes: [] },
    mail: { is: 'quiet', shownAt: null },
  };
}

/**
 * Mail told together with the arming of its watch was there before; that of a persona born meanwhile was not. What is told
 * soon after a gap came in it.
 */
function cameWhile(draft: Draft, { events }: Extract<Fact, { is: 'told' }>): 'away' | 'live' {
  if (draft.isCatchingUp) return 'away';
  const has = (name: Event['event']): boolean => events.some(({ event }) => event === name);
  return has('armed') && !has('persona_added') ? 'away' : 'live';
}

/** Bounded, since a mail may be a megabyte and this is kept. */
function latestOf({ id, from, content }: NewEvent): Latest {
  return { id, from: (from ?? '').slice(0, 400), text: content === undefined ? null : content.slice(0, 4000) };
}
