import type { DecisionWire, StatusWire } from '../app/status/wire.ts';
import { displayName, displayText, formatFullTime } from '../core/format/index.ts';
import { loadStyle } from './dom.ts';
import { createButton, createElement, createIsolated } from './element.ts';
import type { PlaceView } from './place-view.ts';
import { formatAgo, truncate } from './present.ts';
import { formatOutcome } from './question.ts';
import { ask, createTokenButton, hasToken, TokenNeededError } from './token.ts';

/** The view of all decisions: what is asked now, which the decisions panel shows, then what was asked before and its answers. */

const AT_ONCE = 20;
const LIMIT = 1000;
const TIMEOUT_MS = 10_000;
const PROMPT_CHARS = 400;
/** Where the decisions panel puts those that are open. */
const OPEN = 'open-decisions';

export function startDecisionsView(root: HTMLElement, needToken: () => void): PlaceView {
  loadStyle('feed.css');
  const heading = createElement('h1', { tabindex: '-1' }, 'Decisions');
  const open = createElement('div', { id: OPEN });
  const nothing = createElement('p', { class: 'soft' }, 'Nothing is asked now.');
  const title = createElement('h2', { id: 'answered-title' }, 'Answered');
  const note = createElement('p', { class: 'soft', role: 'status' });
  const list = createElement('ol', { class: 'answered' });
  const more = createButton('Show older', showOlder, { class: 'more' });
  const sections = { class: 'answered-decisions', 'aria-labelledby': title.id };
  root.append(heading, open, nothing, createElement('section', sections, title, note, list, more));
  let decisions: readonly DecisionWire[] = [];
  let shown = AT_ONCE;
  /** The open decisions when the list was loaded: it is loaded again when one of them is answered. */
  let known: string | null = null;
  let labels: ReadonlyMap<string, string> = new Map();

  function showOlder(): void {
    shown += AT_ONCE;
    drawList();
  }

  async function load(): Promise<void> {
    if (!hasToken()) return showToken();
    try {
      const answer = await ask(`/api/v1/decisions?state=all&limit=${LIMIT}`, AbortSignal.timeout(TIMEOUT_MS));
      const all = ((await answer.json()) as { decisions: readonly DecisionWire[] }).decisions;
      decisions = all
        .filter(({ state }) => state !== 'open')
        .toSorted((a, b) => Date.parse(b.closed ?? b.created) - Date.parse(a.closed ?? a.created));
      note.textContent = decisions.length === 0 ? 'None yet.' : '';
    } catch (error) {
      if (error instanceof TokenNeededError) return showToken();
      note.textContent = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    }
    drawList();
  }

  function showToken(): void {
    decisions = [];
    drawList();
    if (note.querySelector('button') === null)
      note.replaceChildren('Enter the token to see answers. ', createTokenButton(needToken));
  }

  function drawList(): void {
    list.replaceChildren(...decisions.slice(0, shown).map((decision) => createRow(decision, labels)));
    more.hidden = decisions.length <= shown;
  }

  return {
    open() {
      heading.focus();
      void load();
    },
    draw(status: StatusWire) {
      nothing.hidden = status.decisions.length > 0;
      const now = status.decisions.map(({ id }) => id).join();
      if (now === known) return;
      labels = new Map(status.personas.map(({ id, label }) => [id, label]));
      known = now;
      void load();
    },
    tokenCame: () => void load(),
    close() {},
  };
}

function createRow(decision: DecisionWire, labels: ReadonlyMap<string, string>): HTMLElement {
  const at = decision.closed ?? decision.created;
  const name = createElement('bdi', {}, displayName(labels.get(decision.persona) ?? decision.persona));
  const times = { datetime: at, title: formatFullTime(Date.parse(at)) };
  const time = createElement('time', times, formatAgo(Date.now() - Date.parse(at)));
  return createElement(
    'li',
    {},
    createElement('p', { class: 'who' }, name, ' asked', time),
    createIsolated('p', truncate(displayText(decision.prompt), PROMPT_CHARS)),
    createIsolated('p', formatOutcome(decision), { class: 'outcome' }),
  );
}
