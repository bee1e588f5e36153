import type { Fact } from '../../core/board/index.ts';
import type { Event, MailEvent } from '../../core/events/index.ts';
import { type Instant, type PersonaCounts, parseIso, UNKNOWN } from '../../core/model/index.ts';
import * as asks from './asks.ts';
import type { Notification, NotificationKey } from './channels/index.ts';
import * as decisions from './decisions.ts';
import { PolicyDraft } from './draft.ts';
import * as mail from './mail.ts';
import * as outage from './outage.ts';
import * as permissions from './permissions.ts';
import * as questions from './questions.ts';
import { NOTIFY_RULES, type NotifyRules, type PersonaState, type PolicyState, type Voice } from './state.ts';
import { NAME_POINTS } from './texts.ts';
import * as waits from './waits.ts';

export type PolicyInput = {
  readonly at: Instant;
} /** `agents`: what agents do now, where that differs from before. It applies after the facts. Absent for none. */ & (
  | { readonly is: 'facts'; readonly facts: readonly Fact[]; readonly agents?: readonly waits.AgentChange[] }
  | { readonly is: 'tick' }
  /** The channel accepted or refused a notification that the policy asked to show. */
  | { readonly is: 'shown' | 'refused'; readonly notification: Notification }
  /** The channel can show notifications, for the first time or again. */
  | { readonly is: 'ready' }
  /** A person clicked the notification, on this channel or another. It is done, but it may still be on the screen. */
  | { readonly is: 'clicked'; readonly key: NotificationKey }
  /** A banner is gone: a person closed it, or the channel dropped it. */
  | { readonly is: 'closed'; readonly key: NotificationKey; readonly by: 'person' | 'channel' }
);

export interface PolicyOutcome {
  readonly state: PolicyState;
  /** The banners to hand to the channel, in this order. Each needs a `shown` or `refused` as answer. */
  readonly show: readonly Notification[];
  readonly withdraw: readonly NotificationKey[];
  /** When to call again with a `tick`, if no other input comes before; null for never. */
  readonly wakeAt: Instant | null;
}

/**
 * Decides what to show, replace and withdraw. All decisions about notifications are in this function. Time comes with the input,
 * and nothing is remembered outside the state.
 */
export function decide(state: PolicyState, input: PolicyInput, rules: NotifyRules = NOTIFY_RULES): PolicyOutcome {
  const draft = new PolicyDraft(state, input.at, rules);
  take(draft, input);
  mail.withdrawIdle(draft);
  asks.withdrawIdle(draft);
  const voice = decideVoice(draft);
  outage.announceEdges(draft, voice);
  if (voice === 'all' || voice === 'urgent') {
    asks.announce(draft, voice);
    mail.announce(draft, voice);
  }
  return { state: draft.state, show: draft.show, withdraw: draft.withdraw, wakeAt: draft.wakeAt };
}

function take(draft: PolicyDraft, input: PolicyInput): void {
  switch (input.is) {
    case 'facts':
      for (const fact of input.facts) fold(draft, fact);
      for (const agent of input.agents ?? []) waits.updateAgent(draft, agent);
      return;
    case 'tick':
      return;
    case 'ready':
      draft.set({ channel: { is: 'hears' } });
      return;
    case 'shown':
      handleShown(draft, input.notification);
      return;
    case 'refused':
      draft.set({ channel: { is: 'deaf', until: input.at + draft.rules.deafMs } });
      // The banner stays in `open`: the one it should have replaced may still be on the screen, and a withdrawal without effect
      // does no harm.
      handleRefused(draft, input.notification);
      return;
    case 'clicked':
      draft.take(input.key);
      mail.handleDismissed(draft, input.key);
      return;
    case 'closed':
      draft.markClosed(input.key);
      if (input.by === 'person') mail.handleDismissed(draft, input.key);
  }
}

function handleShown(draft: PolicyDraft, notification: Notification): void {
  switch (notification.is) {
    case 'outage':
    case 'recovery':
      outage.handleShown(draft, notification);
      return;
    case 'decision':
    case 'permission':
    case 'wait':
    case 'question':
      asks.handleShown(draft, notification.key);
      return;
    case 'mail': // mail counts as announced once it was handed over
    case 'wake':
    case 'failed': // an answer to a person's own click, so nothing is announced
    case 'test':
  }
}

function handleRefused(draft: PolicyDraft, notification: Notification): void {
  switch (notification.is) {
    case 'outage':
    case 'recovery':
      outage.handleRefused(draft, notification);
      return;
    case 'decision':
    case 'permission':
    case 'wait':
    case 'question':
      asks.handleRefused(draft, notification.key);
      return;
    case 'mail':
      mail.handleRefused(draft, notification.key);
      return;
    case 'wake':
    case 'failed':
    case 'test':
  }
}

/** Decides what may be shown now, from the state of the channel and what the person wants. */
function decideVoice(draft: PolicyDraft): Voice {
  const { channel, paused, quiet } = draft.state;
  if (draft.isSilent(paused)) {
    mail.swallowAll(draft);
    asks.swallowAll(draft);
    if (paused.is === 'at') draft.wake(paused.at);
    return 'none';
  }
  const isQuiet = draft.isSilent(quiet);
  if (isQuiet) {
    mail.deferAll(draft);
    if (quiet.is === 'at') draft.wake(quiet.at);
  }
  if (channel.is === 'deaf') {
    if (draft.at < channel.until) {
      draft.wake(channel.until);
      return 'unheard';
    }
    draft.set({ channel: { is: 'hears' } });
  }
  if (!isQuiet) return 'all';
  return draft.rules.urgentBreaksQuiet ? 'urgent' : 'none';
}

/** The key on the board of the only fault of the machine that is announced. */
const FULL_DISK = 'disk';

function fold(draft: PolicyDraft, fact: Fact): void {
  switch (fact.is) {
    case 'surface':
    case 'held': // this mail is not delivered yet; it is announced when it is
    case 'published':
    case 'recalled':
    case 'remembered':
    case 'autostart':
    case 'reported':
    case 'agent': // the board chooses which report counts, and `agents` of the input says it
    case 'project':
    case 'withdrawn':
      return;
    case 'machine':
      // Other faults are shown by icon and page while they last, because nobody can repair them at once.
      if (fact.key === FULL_DISK) outage.handleMachine(draft, fact);
      return;
    case 'decisions':
      decisions.updateDecisions(draft, fact.decisions);
      return;
    case 'permissions':
      permissions.updatePermissions(draft, fact.permissions);
      return;
    case 'gap':
      // If the clock was set back, refusals of the channel must not last until the clock has caught up.
      draft.set({ catchingUpUntil: fact.until, channel: { is: 'hears' } });
      return;
    case 'quiet':
      draft.set({ quiet: fact.until });
      return;
    case 'hidden':
      draft.setHidden(fact.persona, fact.hidden);
      return;
    case 'source':
      outage.handleSource(draft, fact);
      return;
    case 'joined':
      outage.addPersona(draft, toPersonaState(fact, draft.findPersona(fact.persona)));
      return;
    case 'counted':
      for (const entry of fact.counts) {
        const persona = draft.findPersona(entry.persona);
        if (persona !== undefined) updateCounts(draft, persona, entry, fact.at);
      }
      return;
    case 'muted':
      if (fact.persona === null) draft.set({ paused: fact.until });
      else draft.setMuted(fact.persona, fact.until);
      return;
    default:
  }
  const persona = draft.findPersona(fact.persona);
  if (persona === undefined) return; // it left before its last fact was handled
  switch (fact.is) {
    case 'left':
      outage.handleLeft(draft, persona);
      waits.handleLeft(draft, persona.id);
      questions.handleOver(draft, persona.id);
      draft.dropPersona(persona.id);
      return;
    case 'polled':
      outage.handleUp(draft, updateCounts(draft, persona, fact, fact.at));
      return;
    case 'failed':
      if (fact.health.is === 'down') outage.handleDown(draft, persona, fact.health.since, fact.fault);
      return;
    case 'delivered': {
      questions.handleDelivered(draft, persona.id, fact.events);
      const news = fact.events.filter((event): event is MailEvent => event.event === 'new' && mail.isNews(event));
      const last = news.at(-1);
      if (last === undefined) return;
      const came = findArrival(draft, fact);
      mail.addArrived(
        draft,
        persona,
        { count: news.length, latestMessage: mail.toMailPreview(last), came },
        parseIso(last.ts),
      );
      return;
    }
  }
}

/** Takes the counts of an inbox. When nothing is unread any more, somebody has seen the questions in it. */
function updateCounts(
  draft: PolicyDraft,
  before: PersonaState,
  counts: Pick<PersonaCounts, 'unread' | 'urgent'>,
  at: Instant,
): PersonaState {
  const after = mail.updateCounts(draft, before, counts, at);
  if (after !== before && mail.isZero(after.unread) && !mail.isZero(before.unread)) {
    questions.handleOver(draft, before.id);
  }
  return after;
}

// Shared by thousands of personas.
const UNSEEN: PersonaState['health'] = { is: 'unseen', causes: [] };
const NO_NEWS: PersonaState['mail'] = { is: 'quiet', shownAt: null };

function toPersonaState(fact: Extract<Fact, { is: 'joined' }>, before: PersonaState | undefined): PersonaState {
  const label = fact.label.slice(0, NAME_POINTS * 4);
  const canMarkRead = fact.canMarkRead === true;
  if (before !== undefined) return { ...before, source: fact.source, label, canMarkRead };
  return {
    id: fact.persona,
    source: fact.source,
    label,
    unread: UNKNOWN,
    urgency: { known: null, unannounced: 0, roseAt: fact.at, firstAt: null },
    canMarkRead,
    ...{ health: UNSEEN, mail: NO_NEWS },
  };
}

/**
 * Mail that is delivered together with the `armed` event of its watcher was there before, unless the persona was born in the
 * meantime. Mail that is delivered soon after an interruption came during it.
 */
function findArrival(draft: PolicyDraft, { events }: Extract<Fact, { is: 'delivered' }>): 'away' | 'live' {
  if (draft.isCatchingUp) return 'away';
  const has = (name: Event['event']): boolean => events.some(({ event }) => event === name);
  return has('armed') && !has('persona_added') ? 'away' : 'live';
}
