import { type Board, isSameValue, type PersonaView, type Snapshot, type Until } from '../../core/board/index.ts';
import { formatClockTime } from '../../core/format/index.ts';
import type { Instant } from '../../core/model/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { buildTrayModel, listDrawnPersonas } from './menu.ts';
import type { TrayDriver, TrayModel } from './model.ts';
import { computeMsUntilAgeChange, findAgentSince, toMessageRowText } from './persona-row.ts';

/** At most two drawings per second. The last change is always drawn. */
const APART_MS = 500;

/** Timers stop while a machine sleeps. What ended in the meantime is noticed after at most this time. */
const REDRAW_MS = 60_000;

/** Keeps the driver up to date with the board: draws at once, then after each change that a person would see. */
export function renderTray(board: Pick<Board, 'snapshot' | 'changes'>, driver: TrayDriver, clock: Clock): Disposable {
  let shown: TrayModel | null = null;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let waiting: Disposable | null = null;
  let byTime: Disposable | null = null;

  const draw = (): void => {
    waiting = null;
    byTime?.[Symbol.dispose]();
    const now = clock.now();
    const snapshot = board.snapshot();
    const model = buildTrayModel(snapshot, now, formatClockTime);
    if (!isSameValue(model, shown)) {
      shown = model;
      drawnAt = clock.monotonic();
      driver.show(model);
    }
    const next = computeNextChange(snapshot, now);
    if (next !== null) waitForTime(now, next);
  };

  /** Draws at `next`. In between it only looks at the clock, because the machine may have slept, or the clock was set back. */
  const waitForTime = (drawn: Instant, next: Instant): void => {
    byTime = clock.after(Math.min(next - clock.now(), REDRAW_MS), () => {
      const now = clock.now();
      if (now < next && now >= drawn) waitForTime(drawn, next);
      else changed();
    });
  };

  const changed = (): void => {
    if (waiting !== null) return;
    const wait = drawnAt + APART_MS - clock.monotonic();
    if (wait <= 0) draw();
    else waiting = clock.after(wait, draw);
  };

  draw();
  const subscription = board.changes(changed);
  return {
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      waiting?.[Symbol.dispose]();
      byTime?.[Symbol.dispose]();
    },
  };
}

/** Ages may be this much behind. A hundred ages that change at different seconds must not cause a hundred drawings per minute. */
const AGES_EVERY_MS = 60_000;

/**
 * Returns when the model changes by time alone: exactly at the end of a pause, a mute and a quiet hour, and at most once per
 * minute for the ages of outages, messages, agents and numbers, and for the time until an option is chosen by itself. Null for
 * never.
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
  }
  if (snapshot.decisions.some(({ fallback, expires }) => fallback !== null && expires !== null && expires > now))
    at = Math.min(at, now + AGES_EVERY_MS);
  // Nobody sees the messages of the others, and to read their times would keep the texts of them all.
  for (const since of listDrawnPersonas(snapshot).flatMap(listAges))
    at = Math.min(at, now + Math.max(AGES_EVERY_MS, computeMsUntilAgeChange(now - since)));
  return at === Number.POSITIVE_INFINITY ? null : at;
}

function listAges(persona: PersonaView): Instant[] {
  const { health, latestMessages } = persona;
  const written = latestMessages.flatMap((message) => toMessageRowText(message).at ?? []);
  const since = findAgentSince(persona);
  const ages = since === null ? written : [since, ...written];
  return health.is === 'down' ? [health.since, ...ages] : ages;
}
