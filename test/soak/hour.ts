import type { TrayOnAFakeClock } from './tray-on-a-fake-clock.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What one hour brought, beside its mail. */
export const PER_HOUR = { outages: 2, gaps: 2 } as const;

/**
 * An hour of a bad day: mail every minute, all of it read twice, a hive that refuses for seven minutes and one that
 * swallows questions for eight, ten minutes asleep with mail meanwhile, and a clock that is set back. It ends quiet.
 */
export async function hour({ clock, hive }: TrayOnAFakeClock, personas: readonly string[], n: number): Promise<void> {
  const personaAt = (k: number): string => personas[(n * 61 + k * 7) % personas.length] ?? '';
  for (let minute = 0; minute < 50; minute++) {
    if (minute === 10) hive.weather = { is: 'refuses', code: 'refused' };
    if (minute === 17) hive.weather = { is: 'well' };
    if (minute === 25) hive.weather = { is: 'hangs' };
    if (minute === 33) hive.weather = { is: 'well' };
    if (minute === 22 || minute === 48) {
      hive.markAllRead();
      await clock.advance(SECOND); // a count that fell and rose again between two answers is found by the floor only
    }
    if (minute === 40) {
      clock.stopFor(10 * MINUTE);
      for (let k = 0; k < 20; k++) hive.deliver(personaAt(k));
    }
    if (minute === 45) clock.setBy(-2 * MINUTE);
    for (let k = 0; k < 3; k++) hive.deliver(personaAt(minute + k));
    await clock.advance(MINUTE);
  }
}
