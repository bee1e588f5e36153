import type { PersonaWire } from '../app/status/wire.ts';
import { formatDuration } from '../core/format/index.ts';
import { type Acts, startActs } from './acts.ts';
import type { Chart } from './chart.ts';
import { cloneOf, copies, fill, mark, part, wear } from './dom.ts';
import { drawLocal } from './local.ts';
import { cardOf, MARKS } from './present.ts';
import { type Story, startStory } from './story.ts';

export interface View {
  /** Shows another inbox, empty until it is drawn. */
  open(fragment: string): void;
  /** Null: nobody of this name is watched. `isBoard`: its number counts what asks for a person in a project. */
  draw(persona: PersonaWire | null, isBoard: boolean, now: number): void;
  /** The person gave a token: what needs one is asked for anew. */
  tokenCame(): void;
  close(): void;
}

const SPANS = [
  { hours: 24, words: '24 h' },
  { hours: 7 * 24, words: '7 d' },
  { hours: 30 * 24, words: '30 d' },
] as const;
/** The chart is drawn anew after so much time, or when the number changes. */
const CHART_EVERY_MS = 60_000;

/** One inbox: how it stands, what can be done, what was, what it was told. `needToken` asks the person for the token. */
export function startView(root: HTMLElement, needToken: () => void): View {
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = '/assets/view.css';
  document.head.append(sheet);
  let shown: Shown | null = null;
  return {
    open(fragment) {
      shown?.[Symbol.dispose]();
      shown = showOne(root, fragment, needToken);
    },
    draw: (persona, isBoard, now) => shown?.draw(persona, isBoard, now),
    tokenCame: () => shown?.tokenCame(),
    close() {
      shown?.[Symbol.dispose]();
      shown = null;
      root.replaceChildren();
    },
  };
}

interface Shown extends Disposable {
  draw(persona: PersonaWire | null, isBoard: boolean, now: number): void;
  tokenCame(): void;
}

function showOne(root: HTMLElement, fragment: string, needToken: () => void): Shown {
  const body = cloneOf('inbox');
  root.replaceChildren(body);
  const command = part(body, '[data-slot="command"]');
  const heading = part(body, 'h1');
  copies(part<HTMLButtonElement>(body, '.copy'), () => command.textContent ?? '');
  const acts: Acts = startActs(part(body, '#acts'), part(body, '#done'), needToken);
  const story: Story = startStory(body, fragment, needToken, acts);
  const chart: Promise<Chart | null> = import('./chart.ts').then(
    ({ startChart }) => startChart(part(body, '#chart')),
    () => null, // the library is not to be had: what it would draw is left out
  );
  let hours: number = SPANS[0].hours;
  let chartAt = Number.NEGATIVE_INFINITY;
  let unread: number | null = null;
  let begun = false;
  fill(body, { name: decodeURIComponent(fragment).slice(0, 200), state: 'Asking …', since: null, where: null });

  const drawChart = async (): Promise<void> => {
    chartAt = performance.now();
    const panel = part(body, '#past');
    const drawing = await chart;
    if (drawing === null) return;
    panel.hidden = false; // it has no width to draw in before
    try {
      part(body, '#past-words').textContent = await drawing.draw(fragment, hours);
    } catch {
      panel.hidden = true; // there is no history of it; the rest of the view is whole without
    }
  };
  const spans = SPANS.map((span) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = span.words;
    button.setAttribute('aria-pressed', String(span.hours === hours));
    button.addEventListener('click', () => {
      hours = span.hours;
      for (const other of spans) other.setAttribute('aria-pressed', String(other === button));
      void drawChart();
    });
    return button;
  });
  part(body, '#spans').append(...spans);
  heading.focus();

  return {
    draw(persona, isBoard, now) {
      if (persona === null) {
        fill(body, { state: 'Nobody of this name is watched', unread: null, unreadWord: null, command: null });
        return;
      }
      const { look, flags, slots } = cardOf(persona, now);
      wear(body, look, flags);
      const unreadWord = isBoard ? 'for attention' : (slots.unreadWord ?? null);
      const words = { ...slots, unreadWord, muted: mutedWords(persona.muted, now), where: `in ${persona.source}` };
      mark(part(body, '.marks'), MARKS, words);
      fill(body, words);
      drawLocal(body, persona);
      acts.draw(persona);
      story.draw(persona, now);
      const due = !begun || persona.unread !== unread || performance.now() - chartAt > CHART_EVERY_MS;
      begun = true;
      unread = persona.unread;
      if (due) void drawChart();
    },
    tokenCame() {
      story.again();
    },
    [Symbol.dispose]: () => {
      story[Symbol.dispose]();
      void chart.then((drawing) => drawing?.[Symbol.dispose]());
    },
  };
}

function mutedWords(muted: string | null, now: number): string | null {
  if (muted === null) return null;
  if (muted === 'forever') return 'Muted for ever';
  const until = new Date(muted).toLocaleString([], { weekday: 'short', hour: '2-digit', minute: '2-digit' });
  return `Muted until ${until}, for ${formatDuration(Date.parse(muted) - now)} more`;
}
