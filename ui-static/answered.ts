import type { DecisionWire, StatusWire } from '../app/status/wire.ts';
import { displayName, displayText, formatFullTime } from '../core/format/index.ts';
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
  const sheet = document.createElement('link');
  sheet.rel = 'stylesheet';
  sheet.href = '/assets/feed.css';
  document.head.append(sheet);
  const heading = document.createElement('h1');
  heading.tabIndex = -1;
  heading.textContent = 'Decisions';
  const open = document.createElement('div');
  open.id = OPEN;
  const nothing = document.createElement('p');
  nothing.className = 'soft';
  nothing.textContent = 'Nothing is asked now.';
  const answered = document.createElement('section');
  answered.className = 'answered-decisions';
  const title = document.createElement('h2');
  title.id = 'answered-title';
  title.textContent = 'Answered';
  answered.setAttribute('aria-labelledby', title.id);
  const note = document.createElement('p');
  note.className = 'soft';
  note.role = 'status';
  const list = document.createElement('ol');
  list.className = 'answered';
  const more = document.createElement('button');
  more.type = 'button';
  more.className = 'more';
  more.textContent = 'Show older';
  answered.append(title, note, list, more);
  root.append(heading, open, nothing, answered);
  let decisions: readonly DecisionWire[] = [];
  let shown = AT_ONCE;
  /** The open decisions when the list was loaded: it is loaded again when one of them is answered. */
  let known: string | null = null;
  let labels: ReadonlyMap<string, string> = new Map();

  more.addEventListener('click', () => {
    shown += AT_ONCE;
    drawList();
  });

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
  const row = document.createElement('li');
  const asker = document.createElement('p');
  asker.className = 'who';
  const name = document.createElement('bdi');
  name.textContent = displayName(labels.get(decision.persona) ?? decision.persona);
  const time = document.createElement('time');
  const at = decision.closed ?? decision.created;
  time.dateTime = at;
  time.title = formatFullTime(Date.parse(at));
  time.textContent = formatAgo(Date.now() - Date.parse(at));
  asker.append(name, ' asked', time);
  const prompt = document.createElement('p');
  prompt.dir = 'auto';
  prompt.textContent = truncate(displayText(decision.prompt), PROMPT_CHARS);
  const outcome = document.createElement('p');
  outcome.className = 'outcome';
  outcome.dir = 'auto';
  outcome.textContent = formatOutcome(decision);
  row.append(asker, prompt, outcome);
  return row;
}
