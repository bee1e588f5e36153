import type { Board } from '../../core/board/index.ts';
import type { Clock } from '../../core/ports/index.ts';
import { type Hours, hoursAt, type Preferences } from '../actions/index.ts';

export interface QuietHoursOptions {
  /** From the settings; null: none given there. */
  readonly hours: Hours | null;
  readonly preferences: Preferences;
  readonly board: Pick<Board, 'put'>;
  readonly clock: Clock;
}

export interface QuietHours extends Disposable {
  /** Keeps them, or not, from now on and after a restart. */
  turn(on: boolean): void;
}

/** For who switches them on in the menu and has no settings. */
const USUAL: Hours = { from: '22:00', to: '07:00' };
/** A clock that was set, or a machine that slept, is noticed by then. */
const LOOK_AGAIN_MS = 60_000;

/** Tells the board when quiet hours begin and end, by the clock on the wall. Hours in the settings are kept unless switched off. */
export function keepQuietHours({ hours, preferences, board, clock }: QuietHoursOptions): QuietHours {
  let on = preferences.quietHours(hours !== null);
  let told = '';
  let timer: Disposable | null = null;

  function look(): void {
    timer?.[Symbol.dispose]();
    const now = clock.now();
    const { within, changesAt } = hoursAt(now, hours ?? USUAL);
    const until = on && within ? ({ is: 'at', at: changesAt } as const) : ({ is: 'never' } as const);
    const text = JSON.stringify([on, until]);
    if (text !== told) board.put({ is: 'quiet', at: now, on, until });
    told = text;
    timer = on ? clock.after(Math.min(Math.max(1, changesAt - now), LOOK_AGAIN_MS), look) : null;
  }

  look();
  return {
    turn(wanted) {
      preferences.setQuietHours(wanted);
      on = wanted;
      look();
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}
