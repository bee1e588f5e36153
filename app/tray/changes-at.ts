import type { PersonaView, Snapshot, Until } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { msUntilAgeChanges } from './age.ts';
import { plainOf } from './plain-letter.ts';

/** Ages may lag this much: a hundred of them, each at its own second, are no reason to draw a hundred times a minute. */
const AGES_EVERY_MS = 60_000;

/**
 * When time alone changes the model: exactly at the end of a pause, a mute and a quiet hour, and at most once a minute
 * for the ages of outages, messages and numbers. Null: never.
 */
export function changesAt(snapshot: Snapshot, now: Instant): Instant | null {
  let at = Number.POSITIVE_INFINITY;
  const ends = (until: Until): void => {
    if (until.is === 'at' && until.at > now) at = Math.min(at, until.at);
  };
  ends(snapshot.paused);
  ends(snapshot.quiet);
  for (const p of snapshot.personas) {
    if (p.hidden) continue;
    ends(p.muted);
    const { staleAfter } = p.unread;
    if (staleAfter !== null && staleAfter > now) at = Math.min(at, Math.max(now + AGES_EVERY_MS, staleAfter));
    for (const since of agesOf(p)) at = Math.min(at, now + Math.max(AGES_EVERY_MS, msUntilAgeChanges(now - since)));
  }
  return at === Number.POSITIVE_INFINITY ? null : at;
}

function agesOf({ reach, latest }: PersonaView): Instant[] {
  const written = latest.flatMap((letter) => plainOf(letter).at ?? []);
  return reach.is === 'down' ? [reach.since, ...written] : written;
}
