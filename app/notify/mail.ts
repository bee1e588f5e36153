import { type Event, isMail, type MailEvent, readMailExtras } from '../../core/events/index.ts';
import { type Count, exactly, type Instant, isSameCount } from '../../core/model/index.ts';
import { type NotificationKey, toMailKey } from './channels/index.ts';
import type { PolicyDraft } from './draft.ts';
import type { MailPreview, MailState, PersonaState, UrgentMailState } from './state.ts';
import { buildCrowdNotification, buildMailNotification } from './texts.ts';

type News = Extract<MailState, { is: 'news' }>;

/**
 * Returns whether a person may want a banner about this mail. Messages from Hivebar itself to the agent do not count: a person who
 * answers a question needs no banner about the answer.
 */
export function isNews(event: Event): event is MailEvent {
  return isMail(event) && event.self !== true && event.origin === undefined;
}

/** The text is cut, since a mail may be a megabyte and this is stored. */
export function toMailPreview(event: MailEvent): MailPreview {
  const { id, from, content } = event;
  const text = content === undefined ? null : content.slice(0, 4000);
  return { id, from: (from ?? '').slice(0, 400), ...readMailExtras(event), text };
}

/** Adds new mail that was delivered, and that a poll found at `polledAt`. */
export function addArrived(
  draft: PolicyDraft,
  persona: PersonaState,
  { count, latestMessage, came }: Pick<News, 'count' | 'latestMessage' | 'came'>,
  polledAt: Instant | null,
): void {
  const before = persona.mail;
  const mail: MailState =
    before.is === 'news'
      ? {
          ...before,
          count: before.count + count,
          fresh: before.fresh + count,
          latestMessage,
          came: before.fresh > 0 ? before.came : came,
        }
      : { is: 'news', count, fresh: count, latestMessage, came, shownAt: before.shownAt, banner: 'own' };
  const { known, unannounced, firstAt } = persona.urgency;
  // During an interruption nobody saw the urgent count rise. A first count belongs to this mail only if it is from the same poll.
  const isFirst = firstAt !== null && polledAt !== null && Math.abs(firstAt - polledAt) < 1; // a text holds microseconds
  const unseen = (came === 'away' || isFirst) && known !== null && unannounced < known;
  const urgency: UrgentMailState = unseen
    ? { known, unannounced: known, roseAt: draft.at, firstAt: null }
    : firstAt === null
      ? persona.urgency
      : { ...persona.urgency, firstAt: null };
  draft.setPersona({ ...persona, mail, urgency });
}

/**
 * Takes the counts of the inbox. When nothing is unread, the new mail was read in the meantime, by anybody. A fact that changes
 * nothing costs nothing.
 */
export function updateCounts(
  draft: PolicyDraft,
  persona: PersonaState,
  { unread, urgent }: { readonly unread: Count; readonly urgent: Count },
  at: Instant,
): PersonaState {
  const read = isZero(unread) && persona.mail.is === 'news';
  const urgency = computeUrgency(persona, isZero(unread) ? exactly(0) : urgent, draft.at, at);
  if (isSameCount(persona.unread, unread) && urgency === persona.urgency && !read) return persona;
  const mail: MailState = read ? { is: 'quiet', shownAt: persona.mail.shownAt } : persona.mail;
  const next: PersonaState = { ...persona, unread, urgency, mail };
  draft.setPersona(next);
  return next;
}

/**
 * Whatever the count rose by was not announced yet. A first count does not say when it rose, unless there is new mail that it may
 * belong to.
 */
function computeUrgency(
  { urgency, mail }: PersonaState,
  urgent: Count,
  at: Instant,
  polledAt: Instant,
): UrgentMailState {
  if (urgent.is === 'unknown' || urgent.n === urgency.known) return urgency;
  const known = urgent.n;
  const before = urgency.known;
  if (before === null) {
    const isNews = mail.is === 'news' && mail.fresh > 0;
    return { known, unannounced: isNews ? known : 0, roseAt: at, firstAt: isNews ? null : polledAt };
  }
  if (known < before) return { ...urgency, known, unannounced: Math.min(known, urgency.unannounced) };
  return { known, unannounced: urgency.unannounced + known - before, roseAt: at, firstAt: null };
}

/** A person closed or clicked the banner: the mail that it counted is no news any more, but later mail is. */
export function handleDismissed(draft: PolicyDraft, key: NotificationKey): void {
  for (const [persona, mail] of findCoveredMail(draft, key)) {
    draft.setPersona({
      ...persona,
      mail: mail.fresh === 0 ? { is: 'quiet', shownAt: mail.shownAt } : { ...mail, count: mail.fresh },
    });
  }
}

/** The channel did not show the banner, so all of its mail must still be shown, without a wait. */
export function handleRefused(draft: PolicyDraft, key: NotificationKey): void {
  for (const [persona, mail] of findCoveredMail(draft, key)) {
    draft.setPersona({ ...persona, mail: { ...mail, fresh: mail.count, shownAt: null } });
  }
  if (key === 'crowd') draft.set({ crowd: { ...draft.state.crowd, shownAt: null } });
}

/** Removes banners whose mail was read, or whose personas left, or are all muted or hidden. */
export function withdrawIdle(draft: PolicyDraft): void {
  for (const key of Object.keys(draft.state.open) as NotificationKey[]) {
    if (key !== 'crowd' && !key.startsWith('mail:')) continue;
    if (findCoveredMail(draft, key).every(([persona]) => draft.isHushed(persona.id))) draft.take(key);
  }
}

/**
 * While notifications are paused, mail is not saved for a later banner. The badge shows it, as the person who paused them knows.
 */
export function swallowAll(draft: PolicyDraft): void {
  for (const persona of Object.values(draft.state.personas)) swallow(draft, persona);
}

/**
 * Quiet hours begin without a person's action. So mail that came in them and is still unread at their end is announced then, in
 * one banner, like mail that came while Hivebar was not running.
 */
export function deferAll(draft: PolicyDraft): void {
  for (const persona of Object.values(draft.state.personas)) {
    const { mail } = persona;
    if (mail.is !== 'news' || mail.fresh === 0 || mail.came === 'away') continue;
    draft.setPersona({ ...persona, mail: { ...mail, came: 'away' } });
  }
}

/**
 * Shows new mail: one banner per persona, replaced in place and not too often. When too many personas get their first banner at
 * once, the rest share one. Mail of several personas that came while Hivebar was not running is one banner in all (field report
 * S17). With `only` urgent, personas without new urgent mail wait.
 */
export function announce(draft: PolicyDraft, only: 'all' | 'urgent'): void {
  const waiting: [PersonaState, News][] = [];
  const { reservedForNeeds, bubbleEveryMs, crowdAbove } = draft.rules;
  let bubbles = draft.state.bubbles.filter((at) => draft.at - at < draft.rules.crowdWithinMs && at <= draft.at);
  for (const persona of listUrgentFirst(draft)) {
    const { mail } = persona;
    if (mail.is !== 'news' || mail.fresh === 0) continue;
    if (draft.isHushed(persona.id)) {
      swallow(draft, persona);
      continue;
    }
    const isUrgentOnly = !draft.wants(persona.id, 'mail');
    if (isUrgentOnly && !draft.wants(persona.id, 'urgent')) {
      swallow(draft, persona);
      continue;
    }
    if ((only === 'urgent' || isUrgentOnly) && !hasNewUrgent(draft, persona)) continue;
    // The mail was delivered, but nothing is unread: it was read in between, or the counts are about to come. The next counts
    // decide.
    if (isZero(persona.unread)) continue;
    if (mail.shownAt !== null && !draft.hasPassed(mail.shownAt, bubbleEveryMs)) continue;
    const reserved = isUrgent(persona) ? 0 : reservedForNeeds;
    const hasRoom = draft.countRoom(reserved) > 0;
    if (draft.isOpen(toMailKey(persona.id))) {
      if (hasRoom) announceOwn(draft, persona, mail);
      else draft.wakeForRoom(reserved);
    } else if ((mail.came === 'away' && only === 'all') || bubbles.length >= crowdAbove || !hasRoom) {
      waiting.push([persona, mail]);
    } else {
      bubbles = [...bubbles, draft.at];
      announceOwn(draft, persona, mail);
    }
  }
  draft.set({ bubbles });
  announceCrowd(draft, waiting);
}

/** Whoever has urgent mail comes before the others, while there is room. */
function listUrgentFirst({ state }: PolicyDraft): readonly PersonaState[] {
  const personas = Object.values(state.personas);
  const urgent = personas.filter(isUrgent);
  return urgent.length === 0 ? personas : [...urgent, ...personas.filter((persona) => !isUrgent(persona))];
}

function announceOwn(draft: PolicyDraft, persona: PersonaState, mail: News): void {
  draft.setPersona({
    ...persona,
    mail: { ...mail, fresh: 0, shownAt: draft.at, banner: 'own' },
    urgency: { ...persona.urgency, unannounced: 0 },
  });
  draft.putOwn(
    buildMailNotification({
      persona: persona.id,
      label: persona.label,
      count: countUnread(persona, mail),
      urgent: isUrgent(persona),
      latestMessage: mail.latestMessage,
      canMarkRead: persona.canMarkRead,
    }),
  );
}

function announceCrowd(draft: PolicyDraft, waiting: readonly [PersonaState, News][]): void {
  const { crowd } = draft.state;
  if (waiting.length === 0) {
    if (crowd.waitingSince !== null) draft.set({ crowd: { ...crowd, waitingSince: null } });
    return;
  }
  const waitingSince = crowd.waitingSince ?? draft.at;
  const held = draft.hasPassed(waitingSince, draft.rules.holdMs);
  const rested = crowd.shownAt === null || draft.hasPassed(crowd.shownAt, draft.rules.bubbleEveryMs);
  if (!held || !rested) {
    if (crowd.waitingSince === null) draft.set({ crowd: { ...crowd, waitingSince } });
    return;
  }
  const [first] = waiting;
  if (waiting.length === 1 && first?.[1].came === 'away' && !draft.isOpen('crowd')) {
    announceOwn(draft, ...first);
    draft.set({ crowd: { ...crowd, waitingSince: null }, bubbles: [...draft.state.bubbles, draft.at] });
    return;
  }
  for (const [persona, mail] of waiting) {
    draft.setPersona({
      ...persona,
      mail: { ...mail, fresh: 0, shownAt: draft.at, banner: 'crowd' },
      urgency: { ...persona.urgency, unannounced: 0 },
    });
  }
  draft.set({ crowd: { waitingSince: null, shownAt: draft.at } });
  const covered = findCoveredMail(draft, 'crowd')
    .filter(([persona]) => !draft.isHushed(persona.id))
    .sort(([a], [b]) => Number(isUrgent(b)) - Number(isUrgent(a)));
  const count = covered.reduce((sum, [persona, mail]) => sum + countUnread(persona, mail), 0);
  draft.put(
    buildCrowdNotification(
      covered.map(([persona]) => persona.label),
      count,
      covered.some(([persona]) => isUrgent(persona)),
      Object.keys(draft.state.open).some((key) => key.startsWith('mail:')),
    ),
  );
}

/** Returns the personas whose new mail the banner `key` covers. */
function findCoveredMail(draft: PolicyDraft, key: NotificationKey): [PersonaState, News][] {
  const { personas } = draft.state;
  const owner = personas[key as `mail:${string}`];
  const candidates = key === 'crowd' ? Object.values(personas) : owner === undefined ? [] : [owner];
  const banner = key === 'crowd' ? 'crowd' : 'own';
  return candidates.flatMap((persona): [PersonaState, News][] =>
    persona.mail.is === 'news' && persona.mail.banner === banner ? [[persona, persona.mail]] : [],
  );
}

function swallow(draft: PolicyDraft, persona: PersonaState): void {
  if (persona.mail.is !== 'news' || persona.mail.fresh === 0) return;
  draft.setPersona({
    ...persona,
    mail: { ...persona.mail, fresh: 0 },
    urgency: { ...persona.urgency, unannounced: 0 },
  });
}

/** The count rises before its mail is delivered. Until then, a banner would show older mail. */
function hasNewUrgent(draft: PolicyDraft, { urgency }: PersonaState): boolean {
  return urgency.unannounced > 0 && draft.hasPassed(urgency.roseAt, draft.rules.holdMs);
}

function isUrgent({ urgency }: PersonaState): boolean {
  return urgency.known !== null && urgency.known > 0;
}

/** Some of the new mail may have been read by now. */
function countUnread(persona: PersonaState, mail: News): number {
  return persona.unread.is === 'exact' ? Math.min(mail.count, persona.unread.n) : mail.count;
}

export function isZero(count: Count): boolean {
  return count.is === 'exact' && count.n === 0;
}
