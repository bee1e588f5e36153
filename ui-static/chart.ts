import type { PersonaHistoryWire } from '../app/status/wire.ts';
import { formatDuration } from '../core/format/index.ts';
import { ask } from './token.ts';
import uPlot from './uplot.js';

const HEIGHT = 200;
const TIMEOUT_MS = 5000;

export interface Chart extends Disposable {
  /**
   * Draws the chart and returns a description of it. Null: fewer than two numbers are known, which make no chart.
   * @throws TokenNeededError, RefusalError
   */
  draw(fragment: string, hours: number): Promise<string | null>;
}

/**
 * Draws unread mail over time, with the outages behind it. The chart follows the width of its place and the colours of the page.
 */
export function startChart(place: HTMLElement): Chart {
  let plot: uPlot | null = null;
  let shownHistory: PersonaHistoryWire | null = null;
  let requestCount = 0;

  const measureWidth = (): number => Math.max(200, place.clientWidth);
  const redraw = (): void => {
    if (shownHistory === null) return;
    plot?.destroy();
    plot = createPlot(place, shownHistory, measureWidth());
  };
  const resized = new ResizeObserver(() => plot?.setSize({ width: measureWidth(), height: HEIGHT }));
  resized.observe(place);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', redraw);

  return {
    async draw(fragment, hours) {
      requestCount += 1;
      const mine = requestCount;
      const path = `/api/v1/personas/${fragment}/history?hours=${hours}`;
      const answer = await ask(path, AbortSignal.timeout(TIMEOUT_MS));
      const past = (await answer.json()) as PersonaHistoryWire;
      if (mine === requestCount) {
        shownHistory = past;
        redraw();
      }
      return describeHistory(past);
    },
    [Symbol.dispose]: () => {
      requestCount += 1;
      resized.disconnect();
      dark.removeEventListener('change', redraw);
      plot?.destroy();
      plot = null;
    },
  };
}

function describeHistory({ from, to, points, states }: PersonaHistoryWire): string | null {
  const known = points.flatMap(([, n]) => (n === null ? [] : [n]));
  if (known.length < 2) return null;
  const length = Date.parse(to) - Date.parse(from);
  const span = formatDuration(length);
  const outages = states.filter(({ state }) => state === 'down');
  const ms = outages.reduce((sum, outage) => sum + Date.parse(outage.to) - Date.parse(outage.from), 0);
  const down =
    outages.length === 0
      ? 'never down'
      : `down ${outages.length === 1 ? 'once' : `${outages.length} times`} for ${formatDuration(ms)} in total`;
  return `Last ${span}: at most ${Math.max(...known)}, now ${known.at(-1)} unread; ${down}.`;
}

/** Formats times as this person writes them: the time of day for up to two days, else dates, each once. */
function formatTimes(at: readonly number[], span: number): readonly string[] {
  const ofDay = span <= 2 * 86_400;
  const words = at.map((second) =>
    ofDay
      ? new Date(second * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
      : new Date(second * 1000).toLocaleDateString([], { day: 'numeric', month: 'short' }),
  );
  return words.map((text, i) => (text === words[i - 1] ? '' : text));
}

function createPlot(place: HTMLElement, { from, to, points, states }: PersonaHistoryWire, width: number): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const [soft, line, news, down] = [colour('--soft'), colour('--line'), colour('--news'), colour('--down')];
  const seconds = (iso: string): number => Date.parse(iso) / 1000;
  const end = seconds(to);
  const xs = points.map(([at]) => seconds(at));
  const ys = points.map(([, unread]) => unread);
  if ((xs.at(-1) ?? end) < end) {
    xs.push(end);
    ys.push(ys.at(-1) ?? null);
  }
  const axis = {
    stroke: soft,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    font: '12px system-ui',
  };
  const outages = (u: uPlot): void => {
    u.ctx.save();
    u.ctx.globalAlpha = 0.16;
    u.ctx.fillStyle = down;
    for (const outage of states.filter(({ state }) => state === 'down')) {
      const left = Math.max(u.bbox.left, u.valToPos(seconds(outage.from), 'x', true));
      const right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(seconds(outage.to), 'x', true));
      u.ctx.fillRect(left, u.bbox.top, Math.max(2, right - left), u.bbox.height);
    }
    u.ctx.restore();
  };
  const options = {
    width,
    height: HEIGHT,
    padding: [8, 32, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true, range: () => [seconds(from), end] },
      y: { range: (_: uPlot, __: number, most: number | null) => [0, Math.max(4, Math.ceil((most ?? 0) * 1.1))] },
    },
    axes: [
      { ...axis, space: 90, values: (_: uPlot, at: readonly number[]) => formatTimes(at, end - seconds(from)) },
      { ...axis, size: 56, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6, 1e7] },
    ],
    series: [
      {},
      {
        stroke: news,
        width: 2,
        fill: `${news}22`,
        paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: ys.filter((n) => n !== null).length < 4, size: 6 }, // too short a time to be visible as a line
      },
    ],
    hooks: { drawClear: [outages] },
  };
  return new uPlot(options, [xs, ys], place);
}
