import { isPressing } from '../../core/board/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Notification, NotificationKey, NotifyKind } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import { hasPermission, PERMISSION } from './permissions.ts';
import type { AskKey, AskKind, AskState } from './state.ts';
import {
  buildDecisionNotification,
  buildDecisionsNotification,
  buildPermissionNotification,
  buildPermissionsNotification,
  buildQuestionNotification,
  buildQuestionsNotification,
  buildWaitNotification,
  buildWaitsNotification,
} from './texts.ts';

/**
 * What needs a person at once: open decisions, permission prompts, other agents that wait, and mail that asks a question. Each has its own banner, more than
 * a few of a kind share one, and it is withdrawn when nobody is needed any more.
 */

const KINDS: readonly AskKind[] = ['decision', 'permission', 'wait', 'question'];

/** The key of the banner that several of a kind share. */
const SHARED = {
  decision: 'decisions',
  permission: 'permissions',
  wait: 'waits',
  question: 'questions',
} as const satisfies Record<AskKind, NotificationKey>;

const isAskKey = (key: NotificationKey): boolean => KINDS.some((kind) => key === SHARED[kind] || isOwn(kind, key));

const isOwn = (kind: AskKind, key: NotificationKey): boolean => key.startsWith(`${kind}:`);

/** Removes banners that cover nothing any more, or whose personas are all muted or hidden. */
export function withdrawIdle(draft: PolicyDraft): void {
  for (const key of Object.keys(draft.state.open) as NotificationKey[]) {
    if (!isAskKey(key) || isHeldOver(draft, key)) continue;
    if (findCovered(draft, key).every(({ persona }) => draft.isHushed(persona))) draft.take(key);
  }
}

/** Returns whether the banner is from before a restart, and nobody has said since what its agent does. */
function isHeldOver(draft: PolicyDraft, key: NotificationKey): boolean {
  const { announcedWaits, asks } = draft.state;
  return Object.values(announcedWaits).some(
    (wait) =>
      wait.isResumed === true &&
      asks[`wait:${wait.persona}`] === undefined &&
      key === (wait.banner === 'own' ? `wait:${wait.persona}` : SHARED.wait),
  );
}

/** While notifications are paused, these are left to the menu and the mark on the icon, as mail is left to the badge. */
export function swallowAll(draft: PolicyDraft): void {
  for (const ask of Object.values(draft.state.asks)) if (ask.announceState === 'not yet') markAnnounced(draft, ask);
}

/**
 * Shows a banner for each that was not announced. More than a few of a kind at once share one banner. In quiet hours (`only`
 * urgent) those that do not break them wait. After an interruption all wait until its backlog was worked off.
 */
export function announce(draft: PolicyDraft, only: 'all' | 'urgent'): void {
  remind(draft);
  const waiting = Object.values(draft.state.asks).filter(({ announceState }) => announceState === 'not yet');
  for (const ask of waiting) if (isUnwanted(draft, ask)) markAnnounced(draft, ask);
  giveWay(draft);
  for (const kind of KINDS) {
    announceKind(
      draft,
      kind,
      waiting.filter((ask) => ask.kind === kind && isDue(draft, ask, only)),
    );
  }
}

/** The kind of each in the setting `notify`. */
const NOTIFY_KIND = {
  decision: 'questions',
  permission: 'permissions',
  wait: 'waits',
  question: 'questions',
} as const satisfies Record<AskKind, NotifyKind>;

/** Returns whether it is left to the menu: its persona is muted or hidden, or a rule leaves out its kind. */
function isUnwanted(draft: PolicyDraft, ask: AskState): boolean {
  if (draft.isHushed(ask.persona)) return true;
  const isUrgent = ask.kind === 'decision' && ask.urgency === 'high';
  return !draft.wants(ask.persona, NOTIFY_KIND[ask.kind]) && !(isUrgent && draft.wants(ask.persona, 'urgent'));
}

/** Lets decisions be announced again that were announced long ago and are still open. */
function remind(draft: PolicyDraft): void {
  const { remindMs } = draft.rules;
  if (remindMs === 0) return;
  for (const ask of Object.values(draft.state.asks)) {
    if (ask.kind !== 'decision' || ask.announceState !== 'done' || !draft.hasPassed(ask.announcedAt, remindMs))
      continue;
    draft.take(ask.key); // a banner that is replaced in place is not noticed
    draft.setAsk(ask.key, { ...ask, announceState: 'not yet' });
  }
}

/** Withdraws the banner of an agent that waits at a permission prompt which has a banner of its own. */
function giveWay(draft: PolicyDraft): void {
  for (const ask of Object.values(draft.state.asks))
    if (ask.kind === 'wait' && ask.announceState !== 'not yet' && ask.banner === 'own' && givesWay(draft, ask))
      draft.take(ask.key);
}

const givesWay = (draft: PolicyDraft, { kind, persona, ...ask }: AskState): boolean =>
  kind === 'wait' &&
  'why' in ask &&
  ask.why === PERMISSION &&
  draft.wants(persona, 'permissions') &&
  hasPermission(draft, persona);

function announceKind(draft: PolicyDraft, kind: AskKind, fresh: readonly AskState[]): void {
  const asking = draft.state.asking[kind];
  const { catchingUpUntil } = draft.state;
  if (fresh.length === 0) {
    if (asking.waitingSince !== null) draft.setAsking(kind, { waitingSince: null });
    return;
  }
  if (draft.isCatchingUp && catchingUpUntil !== null) {
    draft.wake(catchingUpUntil);
    return;
  }
  const { crowdWithinMs, asksAbove } = draft.rules;
  const bubbles = asking.bubbles.filter((at) => draft.at - at < crowdWithinMs && at <= draft.at);
  if (bubbles.length + fresh.length > asksAbove || fresh.length > draft.countRoom()) {
    announceShared(draft, kind, fresh);
    return;
  }
  for (const ask of fresh.toSorted(compareNeed)) announceOwn(draft, ask);
  draft.setAsking(kind, { waitingSince: null, bubbles: [...bubbles, ...fresh.map(() => draft.at)] });
}

function isDue(draft: PolicyDraft, ask: AskState, only: 'all' | 'urgent'): boolean {
  if (isUnwanted(draft, ask) || (only === 'urgent' && !breaksQuiet(ask))) return false;
  if (ask.kind === 'wait' && ask.isHeld === true && !draft.hasPassed(ask.receivedAt, draft.rules.holdMs)) return false;
  if (givesWay(draft, ask)) return false;
  // A persona that joins brings its name, its mute and its page. One without an inbox never joins, so the wait is limited.
  return draft.findPersona(ask.persona) !== undefined || draft.hasPassed(ask.receivedAt, draft.rules.holdMs);
}

/** An agent that waits, and a question, are as urgent as a decision of high urgency. */
function breaksQuiet(ask: AskState): boolean {
  return ask.kind !== 'decision' || ask.urgency === 'high';
}

function isCritical(ask: AskState): boolean {
  switch (ask.kind) {
    case 'decision':
      return isPressing(ask);
    case 'permission':
    case 'wait':
      return true;
    case 'question':
      return false;
  }
}

function announceOwn(draft: PolicyDraft, ask: AskState): void {
  draft.setAsk(ask.key, { ...ask, announceState: 'handed', banner: 'own' });
  draft.putOwn(buildOwn(draft, ask));
}

function buildOwn(draft: PolicyDraft, ask: AskState): Notification {
  const joined = draft.findPersona(ask.persona);
  const label = joined?.label ?? ask.persona;
  switch (ask.kind) {
    case 'decision':
      return buildDecisionNotification(
        {
          ...{
            id: ask.id,
            persona: ask.persona,
            label,
            prompt: ask.prompt,
            options: ask.options,
            byItself: ask.byItself,
          },
          isWatched: joined !== undefined,
          isPressing: isPressing(ask),
        },
        draft.at,
      );
    case 'permission':
      return buildPermissionNotification({ ...ask, label });
    case 'wait':
      return buildWaitNotification({ persona: ask.persona, label, why: ask.why, cwd: ask.cwd });
    case 'question':
      return buildQuestionNotification({ persona: ask.persona, label, message: ask.message, key: ask.key });
  }
}

function announceShared(draft: PolicyDraft, kind: AskKind, fresh: readonly AskState[]): void {
  const asking = draft.state.asking[kind];
  const waitingSince = asking.waitingSince ?? draft.at;
  const held = draft.hasPassed(waitingSince, draft.rules.holdMs);
  const rested = asking.shownAt === null || draft.hasPassed(asking.shownAt, draft.rules.bubbleEveryMs);
  if (!held || !rested) {
    if (asking.waitingSince === null) draft.setAsking(kind, { waitingSince });
    return;
  }
  for (const ask of fresh) {
    draft.take(ask.key); // the banner of an earlier wait of the same persona
    draft.setAsk(ask.key, { ...ask, announceState: 'handed', banner: 'crowd' });
  }
  const covered = findCovered(draft, SHARED[kind]).filter(({ persona }) => !draft.isHushed(persona));
  draft.setAsking(kind, { waitingSince: null, shownAt: draft.at });
  const labels = [...new Set(covered.sort(compareNeed).map((ask) => findLabel(draft, ask.persona)))];
  const isBesideOthers = Object.keys(draft.state.open).some((key) => isOwn(kind, key as NotificationKey));
  draft.put(buildShared(kind, labels, covered, isBesideOthers));
}

function buildShared(
  kind: AskKind,
  labels: readonly string[],
  covered: readonly AskState[],
  isBesideOthers: boolean,
): Notification {
  switch (kind) {
    case 'decision':
      return buildDecisionsNotification(labels, covered.length, covered.some(isCritical), isBesideOthers);
    case 'permission':
      return buildPermissionsNotification(labels, covered.length, isBesideOthers);
    case 'wait':
      return buildWaitsNotification(labels, covered.length, isBesideOthers);
    case 'question':
      return buildQuestionsNotification(labels, covered.length, isBesideOthers);
  }
}

function findLabel(draft: PolicyDraft, persona: PersonaId): string {
  return draft.findPersona(persona)?.label ?? persona;
}

/** The channel accepted the banner: only now what it covers counts as announced. */
export function handleShown(draft: PolicyDraft, key: NotificationKey): void {
  for (const ask of findCovered(draft, key)) if (ask.announceState === 'handed') markAnnounced(draft, ask);
}

/** The channel did not show the banner, so what it covers must still be shown, without a wait. */
export function handleRefused(draft: PolicyDraft, key: NotificationKey): void {
  for (const ask of findCovered(draft, key)) {
    if (ask.announceState === 'handed') draft.setAsk(ask.key, { ...ask, announceState: 'not yet' });
  }
  const kind = KINDS.find((name) => SHARED[name] === key);
  if (kind !== undefined) draft.setAsking(kind, { shownAt: null });
}

function markAnnounced(draft: PolicyDraft, ask: AskState): void {
  const next: AskState =
    ask.kind === 'decision'
      ? { ...ask, announceState: 'done', announcedAt: draft.at }
      : { ...ask, announceState: 'done' };
  draft.setAsk(ask.key, next);
  if (next.kind === 'decision') draft.setDecisionAnnounced(next.key, true);
  else if (next.kind === 'wait') {
    const { persona, since, why, banner } = next;
    draft.setWaitAnnounced(next.key, { persona, since, why, banner, at: draft.at });
  }
}

/** Returns what the banner `key` covers. */
function findCovered(draft: PolicyDraft, key: NotificationKey): AskState[] {
  const { asks } = draft.state;
  const shared = KINDS.find((kind) => SHARED[kind] === key);
  if (shared !== undefined) {
    return Object.values(asks).filter(
      ({ kind, banner, announceState }) => kind === shared && banner === 'crowd' && announceState !== 'not yet',
    );
  }
  const ask = asks[key as AskKey];
  return ask === undefined || ask.banner !== 'own' ? [] : [ask];
}

function compareNeed(a: AskState, b: AskState): number {
  return Number(isCritical(b)) - Number(isCritical(a)) || a.created - b.created; // stable: then in the order they came
}
