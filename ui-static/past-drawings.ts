import type { HistoryWire } from '../app/status/wire.ts';
import { createSlices, createSvg, isSeen, setAttribute } from './dom.ts';
import { buildBar, buildSpark, SPARK_HEIGHT } from './spark.ts';
import { ask } from './token.ts';

export { drawAlerts } from './alerts.ts';

const HOURS = 24;
const TIMEOUT_MS = 5000;
const CHECK_EVERY_MS = 200;

/** Of a shorter time there is no drawing: on the first day most of it would be empty. */
const LEAST_KNOWN = 1 / 6;

/** Draws the last day on each card, first on those that are seen. Without data nothing is drawn, and the card is complete without it. */
export async function drawPast(cards: readonly (readonly [id: string, card: HTMLElement])[]): Promise<void> {
  const answer = await ask(`/api/v1/history?hours=${HOURS}`, AbortSignal.timeout(TIMEOUT_MS));
  const history = (await answer.json()) as HistoryWire;
  const waiting = new Map(cards);
  const draw = (id: string, card: HTMLElement): void => {
    waiting.delete(id);
    drawLastDay(id, card, history);
  };
  const drawSeen = (): void => {
    for (const [id, card] of [...waiting].filter(([, card]) => isSeen(card))) draw(id, card);
  };
  drawSeen();
  const slices = createSlices();
  let checkedAt = performance.now();
  for (const [id, card] of waiting) {
    draw(id, card);
    if (!(await slices.pauseIfDue()) || performance.now() - checkedAt < CHECK_EVERY_MS) continue;
    drawSeen(); // a person may have scrolled
    checkedAt = performance.now();
  }
}

function drawLastDay(id: string, card: HTMLElement, { from, to, slots, personas }: HistoryWire): void {
  const past = Object.hasOwn(personas, id) ? personas[id] : undefined;
  if (past === undefined || countKnown(past.states) < slots * LEAST_KNOWN) return;
  const drawn = card.querySelector('.past') ?? document.createElement('div');
  drawn.className = 'past';
  drawn.replaceChildren(
    ...[createSparkline(past.unread, slots), createBar(past.states, Date.parse(to) - Date.parse(from))].filter(
      (element) => element !== null,
    ),
  );
  if (!drawn.isConnected) card.querySelector('.newest')?.after(drawn);
}

function countKnown(states: string): number {
  return states.length - states.split('-').length + 1;
}

function createSparkline(unread: readonly (number | null)[], slots: number): SVGElement | null {
  const spark = buildSpark(unread);
  if (spark === null) return null;
  const drawing = createDrawing('spark', `0 0 ${slots} ${SPARK_HEIGHT}`, spark.words);
  drawing.append(
    createSvg('path', { class: 'area', d: spark.area }),
    createSvg('path', { class: 'line', d: spark.line }),
  );
  return drawing;
}

/** Draws one mark per slot, like public status pages. */
export function createBar(states: string, ms: number): SVGElement {
  const { paths, words } = buildBar(states, ms);
  const drawing = createDrawing('bar90', `0 0 ${states.length} 10`, words);
  drawing.append(...paths.map(({ name, d }) => createSvg('path', { class: name, d })));
  return drawing;
}

function createDrawing(name: string, viewBox: string, words: string): SVGElement {
  const drawing = createSvg('svg', { class: name, viewBox, preserveAspectRatio: 'none', role: 'img' });
  setAttribute(drawing, 'aria-label', words);
  const title = createSvg('title', {});
  title.textContent = words;
  drawing.append(title);
  return drawing;
}
