import { formatDuration } from '../core/format/index.ts';

/** Turns the history into shapes and words. Pure. Widths are in slots, so that any number of slots fits one drawing. */

export const SPARK_HEIGHT = 24;
const TOP = 2;

export interface Spark {
  /** SVG path data of the line. */
  readonly line: string;
  /** SVG path data of the area below the line. */
  readonly area: string;
  readonly words: string;
}

/** Builds the line of unread mail by slot. A null slot is not known and leaves a gap. Returns null when no slot is known. */
export function buildSpark(unread: readonly (number | null)[]): Spark | null {
  const known = unread.filter((n) => n !== null);
  if (known.length === 0) return null;
  const most = Math.max(...known);
  const base = SPARK_HEIGHT - 1;
  const y = (n: number): string => (base - (most === 0 ? 0 : (n / most) * (base - TOP))).toFixed(1);
  let line = '';
  let area = '';
  unread.forEach((n, x) => {
    if (n === null) return;
    const begins = x === 0 || unread[x - 1] === null;
    line += begins ? `M${x} ${y(n)}H${x + 1}` : `V${y(n)}H${x + 1}`;
    area += `M${x} ${base}V${y(n)}H${x + 1}V${base}z`;
  });
  return { line, area, words: `Unread: ${known.at(-1)} now, ${most} at most, ${Math.min(...known)} at least` };
}

/**
 * The letter of a slot, its class in the style sheet and its height out of 10: a state is shown by shape as well as by colour.
 */
const STATES = [
  { letter: 'U', name: 'up', height: 7 },
  { letter: 'F', name: 'failing', height: 8.5 },
  { letter: 'D', name: 'down', height: 10 },
  { letter: '-', name: 'unknown', height: 2 },
] as const;

export interface Bar {
  readonly paths: readonly { readonly name: string; readonly d: string }[];
  readonly words: string;
}

/** Builds the bar. `states` has one letter per slot, and `ms` is the time of all slots together. */
export function buildBar(states: string, ms: number): Bar {
  const letters = [...states];
  const paths = STATES.map(({ letter, name, height }) => ({
    name,
    d: letters.map((is, x) => (is === letter ? `M${x} ${10 - height}h.72v${height}h-.72z` : '')).join(''),
  })).filter(({ d }) => d !== '');
  return { paths, words: `Last ${formatDuration(ms)}: ${formatBar(states, ms / Math.max(1, letters.length))}` };
}

function formatBar(states: string, slotMs: number): string {
  const count = (letter: string): number => states.split(letter).length - 1;
  const [down, failing] = [count('D'), count('F')];
  const known = states.length - count('-');
  if (known === 0) return 'no data';
  const outages = states.match(/D+/g)?.length ?? 0;
  const parts = [`up in ${Math.round(((known - down) / known) * 100)} % of the known time`];
  if (down > 0)
    parts.push(`down ${outages === 1 ? 'once' : `${outages} times`}, within ${formatDuration(down * slotMs)}`);
  if (failing > 0) parts.push(`failing within ${formatDuration(failing * slotMs)}`);
  return parts.join('; ');
}
