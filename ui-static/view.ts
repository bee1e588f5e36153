import type { PersonaWire } from '../app/status/wire.ts';
import { displayLine } from '../core/format/index.ts';
import { drawAbout } from './about.ts';
import type { Chart } from './chart.ts';
import { enableCopy, fillSlots, getPart, loadStyle, showMarks, showShape } from './dom.ts';
import { createButton } from './element.ts';
import { type MailList, startMailList } from './mail-list.ts';
import { type PersonaActions, startPersonaActions } from './persona-actions.ts';
import { describeState, MARKS, toCard } from './present.ts';
import { type ReplyForm, startReply } from './reply.ts';
import { startTimeline } from './timeline.ts';
import { startUndoLine } from './undo-line.ts';
import { loadUptime } from './uptime.ts';
import { createViewParts } from './view-parts.ts';

/** What a view shows that the persona itself does not say. */
interface PersonaFacts {
  /** Whether it stands for the board of a project. */
  readonly isBoard: boolean;
  readonly isAsking: boolean;
  /** The source of a persona by its id; null for one that is not watched. */
  readonly findSource: (id: string) => string | null;
}

export interface InboxView {
  /** Shows another inbox, empty until it is drawn, and opens this message in it; null for none. */
  open(fragment: string, message: number | null): void;
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

/** Shows one inbox: its messages, its actions and what its agent does. `needToken` asks the person for the token. */
export function startView(root: HTMLElement, needToken: () => void): InboxView {
  loadStyle('view.css');
  let openInbox: OpenInbox | null = null;
  return {
    open(fragment, message) {
      openInbox?.[Symbol.dispose]();
      openInbox = showInbox(root, { fragment, message }, needToken);
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

interface ShownInbox {
  readonly fragment: string;
  readonly message: number | null;
}

function showInbox(root: HTMLElement, { fragment, message }: ShownInbox, needToken: () => void): OpenInbox {
  const body = createViewParts();
  root.replaceChildren(body);
  const command = getPart(body, '[data-slot="command"]');
  enableCopy(getPart<HTMLButtonElement>(body, '.copy'), () => command.textContent ?? '');
  const undoLine = startUndoLine(getPart(body, '#done'));
  const acts: PersonaActions = startPersonaActions(
    getPart(body, '#main-acts'),
    getPart(body, '#acts'),
    undoLine,
    needToken,
  );
  const reply: ReplyForm = startReply(getPart(body, '#reply-home'), fragment, acts, () => list.again());
  const list: MailList = startMailList({
    ...{ body, fragment, message, acts, undoLine, needToken },
    reply: reply.answerMessage,
    compose: reply.compose,
  });
  const timeline = startTimeline(body, fragment);
  const past = startPast(body, fragment);
  const readAll = getPart<HTMLButtonElement>(body, '#read-all');
  readAll.addEventListener('click', () => void list.markAllRead());
  closeMenuOutside(getPart<HTMLDetailsElement>(body, '.menu'));
  fillSlots(body, { name: decodeURIComponent(fragment).slice(0, 200), state: 'Loading', since: null, command: null });
  getPart(body, 'h1').focus();

  return {
    draw(persona, { isBoard, isAsking, findSource }, now) {
      getPart(body, '.columns').hidden = persona === null;
      if (persona === null) {
        fillSlots(body, { state: 'No persona of this name is watched', unread: null, unreadWord: null, command: null });
        return;
      }
      const { shape, flags, slots } = toCard(persona, now, isAsking);
      showShape(body, shape, flags);
      const folder = persona.cwd === null ? null : displayLine(persona.cwd);
      const words = { ...slots, ...describeState(persona, shape, now, folder) };
      const unreadWord = isBoard ? 'for attention' : (slots.unreadWord ?? null);
      showMarks(getPart(body, '.marks'), MARKS, { ...words, id: null });
      fillSlots(body, { ...words, unreadWord });
      getPart(body, '.set-up').hidden = (slots.command ?? null) === null;
      drawAbout(body, persona, { ...slots, uptime: past.getUptime() }, now);
      readAll.hidden = !persona.canMarkRead || (persona.unread ?? 0) === 0;
      acts.draw(persona);
      reply.draw(persona);
      list.draw(persona);
      timeline.draw(persona, findSource);
      past.draw(persona.unread);
    },
    tokenCame() {
      list.again();
      timeline.again();
    },
    [Symbol.dispose]: () => {
      undoLine[Symbol.dispose]();
      list[Symbol.dispose]();
      timeline[Symbol.dispose]();
      past[Symbol.dispose]();
    },
  };
}

/** Closes a menu when the person goes on elsewhere, and on Escape. */
function closeMenuOutside(menu: HTMLDetailsElement): void {
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    event.stopPropagation(); // the inbox stays open
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
  });
  menu.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('#acts button') !== null) menu.open = false;
  });
}

interface PastPanel extends Disposable {
  draw(unread: number | null): void;
  /** The uptime in words, loaded with the chart; null before that. */
  getUptime(): string | null;
}

/** Draws the chart of unread mail, where the library and a history are there. */
function startPast(body: HTMLElement, fragment: string): PastPanel {
  const chart: Promise<Chart | null> = import('./chart.ts').then(
    ({ startChart }) => startChart(getPart(body, '#chart')),
    () => null, // the library is not available: the chart is left out
  );
  let hours: number = SPANS[0].hours;
  let at = Number.NEGATIVE_INFINITY;
  let drawnUnread: number | null | undefined;
  let uptime: string | null = null;
  const draw = async (): Promise<void> => {
    at = performance.now();
    uptime = await loadUptime(fragment).catch(() => uptime); // it has no history
    const panel = getPart(body, '#past');
    const drawing = await chart;
    if (drawing === null) return;
    const wasHidden = panel.hidden;
    panel.hidden = false; // before that it has no width to draw in
    try {
      const words = await drawing.draw(fragment, hours);
      getPart(body, '#past-words').textContent = words;
      panel.hidden = words === null && (wasHidden || hours === SPANS[0].hours);
    } catch {
      panel.hidden = true; // it has no history; the rest of the view is complete without
    }
  };
  const spans = SPANS.map((span) => {
    const button = createButton(span.words, () => {
      hours = span.hours;
      for (const other of spans) other.setAttribute('aria-pressed', String(other === button));
      void draw();
    });
    button.setAttribute('aria-pressed', String(span.hours === hours));
    return button;
  });
  getPart(body, '#spans').append(...spans);
  return {
    getUptime: () => uptime,
    draw(unread) {
      const due = unread !== drawnUnread || performance.now() - at > CHART_EVERY_MS;
      drawnUnread = unread;
      if (due) void draw();
    },
    [Symbol.dispose]: () => void chart.then((drawing) => drawing?.[Symbol.dispose]()),
  };
}
