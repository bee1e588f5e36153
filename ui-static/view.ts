import type { PersonaWire } from '../app/status/wire.ts';
import { displayName, formatDuration, formatSilence } from '../core/format/index.ts';
import type { Chart } from './chart.ts';
import { cloneTemplate, enableCopy, fillSlots, getPart, showMarks, showShape } from './dom.ts';
import { type PersonaActions, startPersonaActions } from './persona-actions.ts';
import { describeState, formatPendingCount, MARKS, toCard, truncate } from './present.ts';
import { type ReplyForm, startReply } from './reply.ts';
import { type Story, startStory } from './story.ts';

/** What a view shows that the persona itself does not say. */
interface PersonaFacts {
  /** Whether it stands for the board of a project. */
  readonly isBoard: boolean;
  readonly isAsking: boolean;
}

export interface InboxView {
  /** Shows another inbox, empty until it is drawn. */
  open(fragment: string): void;
  /**
   * A null `persona` means that nobody of this name is watched. With `isBoard` its number counts what needs a person in a
   * project.
   */
  draw(persona: PersonaWire | null, facts: PersonaFacts, now: number): void;
  /** Called when the person entered a token: what needs one is loaded again. */
  tokenCame(): void;
  close(): void;
}

const SPANS = [
  { hours: 24, words: '24 h' },
  { hours: 7 * 24, words: '7 d' },
  { hours: 30 * 24, words: '30 d' },
] as const;
/** The chart is drawn again after this time, or when the number changes. */
const CHART_EVERY_MS = 60_000;

/** Shows one inbox: its state, its actions, its history and its events. `needToken` asks the person for the token. */
export function startView(root: HTMLElement, needToken: () => void): InboxView {
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = '/assets/view.css';
  document.head.append(sheet);
  let openInbox: OpenInbox | null = null;
  return {
    open(fragment) {
      openInbox?.[Symbol.dispose]();
      openInbox = showInbox(root, fragment, needToken);
    },
    draw: (persona, facts, now) => openInbox?.draw(persona, facts, now),
    tokenCame: () => openInbox?.tokenCame(),
    close() {
      openInbox?.[Symbol.dispose]();
      openInbox = null;
      root.replaceChildren();
    },
  };
}

interface OpenInbox extends Disposable {
  draw(persona: PersonaWire | null, facts: PersonaFacts, now: number): void;
  tokenCame(): void;
}

function showInbox(root: HTMLElement, fragment: string, needToken: () => void): OpenInbox {
  const body = cloneTemplate('inbox');
  root.replaceChildren(body);
  const command = getPart(body, '[data-slot="command"]');
  const heading = getPart(body, 'h1');
  enableCopy(getPart<HTMLButtonElement>(body, '.copy'), () => command.textContent ?? '');
  const acts: PersonaActions = startPersonaActions(getPart(body, '#acts'), getPart(body, '#done'), needToken);
  const reply: ReplyForm = startReply(getPart<HTMLFormElement>(body, '#reply'), acts);
  const story: Story = startStory(body, fragment, needToken, acts, reply.answerMessage);
  const chart: Promise<Chart | null> = import('./chart.ts').then(
    ({ startChart }) => startChart(getPart(body, '#chart')),
    () => null, // the library is not available: the chart is left out
  );
  let hours: number = SPANS[0].hours;
  let chartAt = Number.NEGATIVE_INFINITY;
  let unread: number | null = null;
  let begun = false;
  fillSlots(body, { name: decodeURIComponent(fragment).slice(0, 200), state: 'Sending …', since: null, where: null });

  const drawChart = async (): Promise<void> => {
    chartAt = performance.now();
    const panel = getPart(body, '#past');
    const drawing = await chart;
    if (drawing === null) return;
    panel.hidden = false; // before that it has no width to draw in
    try {
      getPart(body, '#past-words').textContent = await drawing.draw(fragment, hours);
    } catch {
      panel.hidden = true; // it has no history; the rest of the view is complete without
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
  getPart(body, '#spans').append(...spans);
  heading.focus();

  return {
    draw(persona, { isBoard, isAsking }, now) {
      if (persona === null) {
        fillSlots(body, { state: 'No persona of this name is watched', unread: null, unreadWord: null, command: null });
        return;
      }
      const { shape, flags, slots } = toCard(persona, now, isAsking);
      showShape(body, shape, flags);
      const unreadWord = isBoard ? 'for attention' : (slots.unreadWord ?? null);
      const words = {
        ...{ ...slots, ...describeState(persona, shape, now, persona.cwd) },
        ...{ unreadWord, muted: formatMuted(persona.muted, now), where: formatWhere(persona) },
      };
      showMarks(getPart(body, '.marks'), MARKS, words);
      fillSlots(body, words);
      drawLocal(body, persona);
      acts.draw(persona);
      reply.draw(persona);
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

/** Formats the source. Where a folder or a model stands before it, "in" would be read as a place in that. */
function formatWhere({ source, cwd, model }: PersonaWire): string {
  return `${cwd === null && model === null ? 'in' : '·'} ${source}`;
}

function formatMuted(muted: string | null, now: number): string | null {
  if (muted === null) return null;
  if (muted === 'forever') return 'Muted until unmuted';
  const end = Date.parse(muted);
  return `${formatSilence('Muted', end, now)}, for ${formatDuration(end - now)} more`;
}

type PersonaGate = PersonaWire['gates'][number];

const NAME_CHARS = 200;
const MODES = { strict: 'blocks', soft: 'warns' } as const;

/** Draws what only the local hive knows of an inbox: its unread mail by priority, and its open gates. */
export function drawLocal(body: HTMLElement, { pending, gates }: PersonaWire): void {
  const hasPending = pending?.some((n) => n > 0) ?? false;
  getPart(body, '#local').hidden = !hasPending && gates.length === 0;
  getPart(body, '#priorities').hidden = !hasPending;
  getPart(body, '#gates').hidden = gates.length === 0;
  if (pending !== null) fillSlots(body, Object.fromEntries(pending.map((n, at) => [`p${at}`, formatPendingCount(n)])));
  const list = getPart(body, '#gates ul');
  const key = JSON.stringify(gates);
  if (list.dataset.shown === key) return;
  list.dataset.shown = key;
  list.replaceChildren(...gates.map(createGateItem));
}

function createGateItem({ id, hook, mode }: PersonaGate): HTMLElement {
  const entry = document.createElement('li');
  entry.dataset.mode = mode;
  const name = document.createElement('bdi');
  name.textContent = truncate(displayName(id), NAME_CHARS);
  const where = document.createElement('span');
  where.textContent = `${MODES[mode]} at ${truncate(displayName(hook), NAME_CHARS)}`;
  entry.append(name, where);
  return entry;
}
