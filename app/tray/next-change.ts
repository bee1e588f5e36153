import type { PersonaView, Snapshot, Until } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { computeMsUntilAgeChange } from './age.ts';
import { toMessageRowText } from './message-row-text.ts';

/** Ages may be this much behind. A hundred ages that change at different seconds must not cause a hundred drawings per minute. */
const AGES_EVERY_MS = 60_000;

/**
 * Returns when the model changes by time alone: exactly at the end of a pause, a mute and a quiet hour, and at most once per
 * minute for the ages of outages, messages and numbers. Null for never.
 */
export function computeNextChange(snapshot: Snapshot, now: Instant): Instant | null {
  let at = Number.POSITIVE_INFINITY;
  const considerEnd = (until: Until): void => {
    if (until.is === 'at' && until.at > now) at = Math.min(at, until.at);
  };
  considerEnd(snapshot.paused);
  considerEnd(snapshot.quiet);
  for (const p of snapshot.personas) {
    if (p.hidden) continue;
    considerEnd(p.muted);
    const { staleAfter } = p;
    if (staleAfter !== null && staleAfter > now) at = Math.min(at, Math.max(now + AGES_EVERY_MS, staleAfter));
    for (const since of listAges(p))
      at = Math.min(at, now + Math.max(AGES_EVERY_MS, computeMsUntilAgeChange(now - since)));
  }
  return at === Number.POSITIVE_INFINITY ? null : at;
}

function listAges({ health, latestMessages }: PersonaView): Instant[] {
  const written = latestMessages.flatMap((message) => toMessageRowText(message).at ?? []);
  return health.is === 'down' ? [health.since, ...written] : written;
}
