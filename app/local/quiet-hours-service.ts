import type { Board } from '../../core/board/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { evaluateHours, type Hours, type PreferenceStore } from '../actions/index.ts';

export interface QuietHoursServiceOptions {
  /** The hours of the settings now; null when there are none. */
  readonly hours: () => Hours | null;
  readonly preferences: PreferenceStore;
  readonly board: Pick<Board, 'put'>;
  readonly clock: Clock;
}

export interface QuietHoursService extends Service {
  /** Switches quiet hours on or off, at once and for later starts. */
  turn(on: boolean): void;
  /** Called when the hours of the settings are others: they are on from now on, and none are off. */
  follow(): void;
}

/** Used when a person switches quiet hours on in the menu and the settings have none. */
const USUAL: Hours = { from: '22:00', to: '07:00' };
/** After at most this time a changed clock, or a machine that slept, is noticed. */
const AT_MOST_MS = 60_000;
/** While switched off, nothing changes by itself. */
const NEVER_MS = 365 * 86_400_000;

/**
 * Puts on the board when quiet hours begin and end, by local time. Hours in the settings are on unless a person switched them
 * off.
 */
export function createQuietHoursService(options: QuietHoursServiceOptions): QuietHoursService {
  const { hours, preferences, board, clock } = options;
  let on = preferences.quietHours(hours() !== null);
  let reported = '';
  let changesAt = 0;

  function report(): void {
    const now = clock.now();
    const state = evaluateHours(now, hours() ?? USUAL);
    changesAt = state.changesAt;
    const until = on && state.within ? ({ is: 'at', at: changesAt } as const) : ({ is: 'never' } as const);
    const { from, to } = hours() ?? USUAL;
    const text = JSON.stringify([on, until, from, to]);
    if (text !== reported) board.put({ is: 'quiet', at: now, on, until, hours: { from, to } });
    reported = text;
  }

  /** Null: as the settings say. */
  function turn(isEnabled: boolean | null): void {
    preferences.setQuietHours(isEnabled);
    on = isEnabled ?? hours() !== null;
    report();
    service.wake();
  }

  const ms = (): number => (on ? Math.min(Math.max(1, changesAt - clock.now()), AT_MOST_MS) : NEVER_MS);
  const service = every({ name: 'quiet hours', ms, clock, round: report });
  return {
    ...service,
    turn,
    follow: () => turn(null),
  };
}
