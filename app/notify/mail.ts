import { type Count, exactly, type Instant, sameCount } from '../../core/model/index.ts';
import { type BannerKey, mailKey } from './banner.ts';
import type { Draft } from './draft.ts';
import type { MailState, PersonaState, Urgency } from './state.ts';
import { crowdBanner, mailBanner } from './words.ts';

type News = Extract<MailState, { is: 'news' }>;

/** New mail was told, which a look found at `lookedAt`. */
export function arrived(
  draft: Draft,
  persona: PersonaState,
  { count, latest, came }: Pick<News, 'count' | 'latest' | 'came'>,
  lookedAt: Instant | null,
): void {
  const before = persona.mail;
  const mail: MailState =
    before.is === 'news'
      ? {
          ...before,
          count: before.count + count,
          fresh: before.fresh + count,
          latest,
          came: before.fresh > 0 ? before.came : came,
        }
      : { is: 'news', count, fresh: count, latest, came, shownAt: before.shownAt, banner: 'own' };
  const { known, untold, firstAt } = persona.urgency;
  // While nobody watched, nobody saw the number rise; a first number came from the same look as this mail, or it did not.
  const isFirst = firstAt !== null && lookedAt !== null && Math.abs(firstAt - lookedAt) < 1; // a text holds microseconds
  const unseen = (came === 'away' || isFirst) && known !== null && untold < known;
  const urgency: Urgency = unseen
    ? { known, untold: known, roseAt: draft.at, firstAt: null }
    : firstAt === null
      ? persona.urgency
      : { ...persona.urgency, firstAt: null };
  draft.setPersona({ ...persona, mail, urgency });
}

/**
 * The inbox says how much is unread. Nothing unread: what came was read meanwhile, whoever read it.
 * A fact that changes nothing costs nothing.
 */
export function levels(
  draft: Draft,
  persona: PersonaState,
  { unread, urgent, at }: { readonly unread: Count; readonly urgent: Count; readonly at: Instant },
): PersonaState {
  const read = isZero(unread) && persona.mail.is === 'news';
  const urgency = urgencyAfter(persona, isZero(unread) ? exactly(0) : urgent, draft.at, at);
  if (sameCount(persona.unread, unread) && urgency === persona.urgency && !read) return persona;
  const mail: MailState = read ? { is: 'quiet', shownAt: persona.mail.shownAt } : persona.mail;
  const next: PersonaState = { ...persona, unread, urgency, mail };
  draft.setPersona(next);
  return next;
}

/** What rose was not told yet. A first number says nothing of when it rose, unless there is news that it may belong to. */
function urgencyAfter({ urgency, mail }: PersonaState, urgent: Count, at: Instant, lookedAt: Instant): Urgency {
  if (urgent.is === 'unknown' || urgent.n === urgency.known) return urgency;
  const known = urgent.n;
  const before = urgency.known;
  if (before === null) {
    const isNews = mail.is === 'news' && mail.fresh > 0;
    return { known, untold: isNews ? known : 0, roseAt: at, firstAt: isNews ? null : lookedAt };
  }
  if (known < before) return { ...urgency, known, untold: Math.min(known, urgency.untold) };
  return { known, untold: urgency.untold + known - before, roseAt: at, firstAt: null };
}

/** A person closed or clicked the banner: what it counted is no news any more, what came since is. */
export function dismissed(draft: Draft, key: BannerKey): void {
  for (const [persona, mail] of spokenOfBy(draft, key)) {
    draft.setPersona({
      ...persona,
      mail: mail.fresh === 0 ? { is: 'quiet', shownAt: mail.shownAt } : { ...mail, count: mail.fresh },
    });
  }
}

/** The desktop did not show the banner: all of it is still to be shown, and need not wait. */
export function refused(draft: Draft, key: BannerKey): void {
  for (const [persona, mail] of spokenOfBy(draft, key)) {
    draft.setPersona({ ...persona, mail: { ...mail, fresh: mail.count, shownAt: null } });
  }
  if (key === 'crowd') draft.set({ crowd: { ...draft.state.crowd, shownAt: null } });
}

/** Banners whose mail was read, or whose personas left, or are to be silent from now on. */
export function withdrawIdle(draft: Draft): void {
  for (const key of Object.keys(draft.state.open) as BannerKey[]) {
    if (key !== 'crowd' && !key.startsWith('mail:')) continue;
    if (spokenOfBy(draft, key).every(([persona]) => draft.isHushed(persona.id))) draft.take(key);
  }
}

/** While notifications are paused, mail is not kept for later: the badge tells of it, as whoever paused them knows. */
export function swallowAll(draft: Draft): void {
  for (const persona of Object.values(draft.state.personas)) swallow(draft, persona);
}

/**
 * Quiet hours come by themselves, so what came in them and is unread at their end is told then, as what came while
 * Hivebar was away: one banner in all.
 */
export function keepForLater(draft: Draft): void {
  for (const persona of Object.values(draft.state.personas)) {
    const { mail } = persona;
    if (mail.is !== 'news' || mail.fresh === 0 || mail.came === 'away') continue;
    draft.setPersona({ ...persona, mail: { ...mail, came: 'away' } });
  }
}

/**
 * Shows what is fresh: a banner a persona, replaced in place and not too often; when too many personas get their first
 * one at once, the rest share one. Mail of several personas that came while Hivebar was away is one banner in all (field
 * report S17). With `only` urgent, who has none that is new waits.
 */
export function announce(draft: Draft, only: 'all' | 'urgent'): void {
  const waiting: [PersonaState, News][] = [];
  let bubbles = draft.state.bubbles.filter((at) => draft.at - at < draft.rules.crowdWithinMs && at <= draft.at);
  for (const persona of Object.values(draft.state.personas)) {
    const { mail } = persona;
    if (mail.is !== 'news' || mail.fresh === 0) continue;
    if (draft.isHushed(persona.id)) {
      swallow(draft, persona);
      continue;
    }
    if (only === 'urgent' && !hasNewUrgent(draft, persona)) continue;
    // Told, and yet nothing unread: it was read in between, or the level is about to come. The next level decides.
    if (isZero(persona.unread)) continue;
    if (mail.shownAt !== null && !draft.passed(mail.shownAt, draft.rules.bubbleEveryMs)) continue;
    const key = mailKey(persona.id);
    if (!draft.isOpen(key)) {
      if ((mail.came === 'away' && only === 'all') || bubbles.length >= draft.rules.crowdAbove) {
        waiting.push([persona, mail]);
        continue;
      }
      bubbles = [...bubbles, draft.at];
    }
    announceOwn(draft, persona, mail);
  }
  if (bubbles.length !== draft.state.bubbles.length) draft.set({ bubbles });
  announceCrowd(draft, waiting);
}

function announceOwn(draft: Draft, persona: PersonaState, mail: News): void {
  draft.setPersona({
    ...persona,
    mail: { ...mail, fresh: 0, shownAt: draft.at, banner: 'own' },
    urgency: { ...persona.urgency, untold: 0 },
  });
  draft.put(
    mailBanner({
      persona: persona.id,
      label: persona.label,
      count: unreadOf(persona, mail),
      urgent: isUrgent(persona),
      latest: mail.latest,
      canMarkRead: persona.canMarkRead,
    }),
  );
}

function announceCrowd(draft: Draft, waiting: readonly [PersonaState, News][]): void {
  const { crowd } = draft.state;
  if (waiting.length === 0) {
    if (crowd.waitingSince !== null) draft.set({ crowd: { ...crowd, waitingSince: null } });
    return;
  }
  const waitingSince = crowd.waitingSince ?? draft.at;
  const held = draft.passed(waitingSince, draft.rules.holdMs);
  const rested = crowd.shownAt === null || draft.passed(crowd.shownAt, draft.rules.bubbleEveryMs);
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
      urgency: { ...persona.urgency, untold: 0 },
    });
  }
  draft.set({ crowd: { waitingSince: null, shownAt: draft.at } });
  const all = spokenOfBy(draft, 'crowd').filter(([persona]) => !draft.isHushed(persona.id));
  const count = all.reduce((sum, [persona, mail]) => sum + unreadOf(persona, mail), 0);
  draft.put(
    crowdBanner(
      all.map(([persona]) => persona.label),
      count,
      all.some(([persona]) => isUrgent(persona)),
      Object.keys(draft.state.open).some((key) => key.startsWith('mail:')),
    ),
  );
}

/** The personas with news that the banner `key` stands for. */
function spokenOfBy(draft: Draft, key: BannerKey): [PersonaState, News][] {
  const { personas } = draft.state;
  const one = personas[key as `mail:${string}`];
  const asked = key === 'crowd' ? Object.values(personas) : one === undefined ? [] : [one];
  const banner = key === 'crowd' ? 'crowd' : 'own';
  return asked.flatMap((persona): [PersonaState, News][] =>
    persona.mail.is === 'news' && persona.mail.banner === banner ? [[persona, persona.mail]] : [],
  );
}

function swallow(draft: Draft, persona: PersonaState): void {
  if (persona.mail.is !== 'news' || persona.mail.fresh === 0) return;
  draft.setPersona({
    ...persona,
    mail: { ...persona.mail, fresh: 0 },
    urgency: { ...persona.urgency, untold: 0 },
  });
}

/** The number comes before the mail: with what is there already, it would be about another one. */
function hasNewUrgent(draft: Draft, { urgency }: PersonaState): boolean {
  return urgency.untold > 0 && draft.passed(urgency.roseAt, draft.rules.holdMs);
}

function isUrgent({ urgency }: PersonaState): boolean {
  return urgency.known !== null && urgency.known > 0;
}

/** Some of what came may be read by now. */
function unreadOf(persona: PersonaState, mail: News): number {
  return persona.unread.is === 'exact' ? Math.min(mail.count, persona.unread.n) : mail.count;
}

function isZero(count: Count): boolean {
  return count.is === 'exact' && count.n === 0;
}
