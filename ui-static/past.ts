import type { HistoryWire } from '../app/status/wire-history.ts';
import { setAttribute, svg } from './dom.ts';
import { barOf, SPARK_HEIGHT, sparkOf } from './spark.ts';
import { ask } from './token.ts';

const HOURS = 24;
const TIMEOUT_MS = 5000;

/** The last day, drawn on each card. What no answer is had for is not drawn; a card is whole without. */
export async function drawPast(cards: ReadonlyMap<string, HTMLElement>): Promise<void> {
  const answer = await ask(`/api/v1/history?hours=${HOURS}`, AbortSignal.timeout(TIMEOUT_MS));
  const { from, to, slots, personas } = (await answer.json()) as HistoryWire;
  const ms = Date.parse(to) - Date.parse(from);
  for (const [id, card] of cards) {
    const past = Object.hasOwn(personas, id) ? personas[id] : undefined;
    if (past === undefined) continue;
    const place = card.querySelector('.times');
    const drawn = card.querySelector('.past') ?? document.createElement('div');
    drawn.className = 'past';
    drawn.replaceChildren(...[sparkline(past.unread, slots), bar(past.states, ms)].filter((one) => one !== null));
    if (!drawn.isConnected) place?.before(drawn);
  }
}

function sparkline(unread: readonly (number | null)[], slots: number): SVGElement | null {
  const spark = sparkOf(unread);
  if (spark === null) return null;
  const drawing = picture('spark', `0 0 ${slots} ${SPARK_HEIGHT}`, spark.words);
  drawing.append(svg('path', { class: 'area', d: spark.area }), svg('path', { class: 'line', d: spark.line }));
  return drawing;
}

/** A slot a mark, as on public status pages. */
export function bar(states: string, ms: number): SVGElement {
  const { paths, words } = barOf(states, ms);
  const drawing = picture('bar90', `0 0 ${states.length} 10`, words);
  drawing.append(...paths.map(({ name, d }) => svg('path', { class: name, d })));
  return drawing;
}

function picture(name: string, viewBox: string, words: string): SVGElement {
  const drawing = svg('svg', { class: name, viewBox, preserveAspectRatio: 'none', role: 'img' });
  setAttribute(drawing, 'aria-label', words);
  const title = svg('title', {});
  title.textContent = words;
  drawing.append(title);
  return drawing;
}
