import { isDeepStrictEqual } from 'node:util';
import { hour } from '../soak/hour.ts';
import { type Burden, trayOnAFakeClock } from '../soak/tray-on-a-fake-clock.ts';
import { bench } from './harness.ts';

const PERSONAS = Array.from({ length: 100 }, (_, i) => `persona-${String(i).padStart(3, '0')}`);
const HOURS = 24;

export const benches = [
  bench(
    '24 h simulated, 100 personas: handles, listeners, timers, heap at hour 1 and 24',
    'same count; within 5 MiB',
    day,
  ),
];

const shown = ({ handles, listeners, timers, questions }: Burden): string => {
  const open = Object.values(handles).reduce((sum, n) => sum + n, 0);
  return `${open} handles, ${listeners} listeners, ${timers} timers, ${questions} questions`;
};

async function day() {
  await using tray = await trayOnAFakeClock({ personas: PERSONAS });
  await hour(tray, PERSONAS, 0);
  const { heapMib: heapFirst, ...first } = tray.burden();
  for (let n = 1; n < HOURS; n++) await hour(tray, PERSONAS, n);
  const { heapMib: heapLast, ...last } = tray.burden();
  const isSame = isDeepStrictEqual(first, last);
  const counts = isSame ? shown(tray.burden()) : `${shown(tray.burden())} (${JSON.stringify(first)} before)`;
  return {
    figure: `${counts}; heap ${heapFirst.toFixed(1)} -> ${heapLast.toFixed(1)} MiB`,
    floor: 'none: the clock is a fake',
    met: isSame && heapLast - heapFirst <= 5,
  };
}
