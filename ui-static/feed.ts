import type { FoundMessageWire, StatusWire } from '../app/status/wire.ts';
import { displayLine, displayName, displayText, formatFullTime } from '../core/format/index.ts';
import { loadStyle } from './dom.ts';
import { createElement } from './element.ts';
import { addKeys } from './keyboard.ts';
import type { PlaceView } from './place-view.ts';
import { formatAgo, toFragment, truncate } from './present.ts';
import { formatSearch, type Route } from './route.ts';
import { ask, createTokenButton, hasToken, TokenNeededError } from './token.ts';

/** All mail, newest first, or the mail with some words. */

interface FeedPage {
  readonly messages: readonly FoundMessageWire[];
  readonly next: number | null;
  readonly complete: boolean;
}

const LIMIT = 50;
const TIMEOUT_MS = 10_000;
const NAME_CHARS = 100;

export function startFeed(root: HTMLElement, needToken: () => void): PlaceView {
  loadStyle('feed.css');
  const heading = createElement('h1');
  heading.tabIndex = -1;
  const form = createSearchForm();
  const note = createElement('p', { class: 'soft' });
  note.role = 'status';
  const list = createElement('ol', { class: 'mail-rows' });
  const more = createElement('button', { class: 'more' });
  more.type = 'button';
  more.textContent = 'Show older';
  more.hidden = true;
  root.append(heading, form.element, note, list, more);
  let words: string | null = null;
  let messages: readonly FoundMessageWire[] = [];
  let next: number | null = null;
  let labels: ReadonlyMap<string, string> = new Map();
  /** The last event of each persona: when one changes, there may be new mail. */
  let delivered: string | null = null;
  let removeKeys = (): void => {};
  /** The request whose answer counts: an older one is dropped. */
  let request = new AbortController();
  let isLoading = false;
  let isStale = false;

  more.addEventListener('click', async () => {
    const shown = messages.length;
    await load(next);
    (list.children[shown]?.querySelector('a') ?? heading).focus();
  });

  /** @param before null: the newest, which are put in front of those that are shown */
  async function load(before: number | null): Promise<void> {
    if (!hasToken()) return showToken();
    isLoading = true;
    isStale = false;
    const { signal } = request;
    const query = new URLSearchParams({ limit: String(LIMIT) });
    if (words !== null) query.set('q', words);
    if (before !== null) query.set('before', String(before));
    try {
      const path = `/api/v1/${words === null ? 'feed' : 'search'}?${query}`;
      const answer = await ask(path, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
      const page = (await answer.json()) as FeedPage;
      if (signal.aborted) return;
      take(page, before);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof TokenNeededError) showToken();
      else note.textContent = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      if (!signal.aborted) isLoading = false;
    }
    if (isStale && !signal.aborted) void load(null);
  }

  function take(page: FeedPage, before: number | null): void {
    const last = page.messages.at(-1)?.place ?? 0;
    if (before !== null) messages = [...messages, ...page.messages];
    else {
      // What is older than this page stays, unless a whole page of new ones came and nobody knows what is between.
      const older = page.next === null ? [] : messages.filter(({ place }) => place < last);
      const joins = messages.some(({ place }) => place >= last);
      messages = joins ? [...page.messages, ...older] : page.messages;
      if (!joins || older.length === 0) next = page.next;
    }
    if (before !== null) next = page.next;
    more.hidden = next === null;
    note.textContent = describe(page);
    drawRows();
  }

  function describe({ complete }: FeedPage): string {
    const rest = complete ? '' : ' Older mail is still being indexed.';
    if (messages.length > 0) return rest.trim();
    return `${words === null ? 'No mail yet.' : `No message has ${displayLine(words)}.`}${rest}`;
  }

  function drawRows(): void {
    const known = new Map([...list.children].map((row) => [(row as HTMLElement).dataset.place, row]));
    const rows = messages.map((message) => known.get(String(message.place)) ?? createRow(message));
    for (const [i, row] of rows.entries())
      if (list.children[i] !== row) list.insertBefore(row, list.children[i] ?? null);
    while (list.children.length > rows.length) list.lastElementChild?.remove();
    for (const [i, message] of messages.entries()) {
      const row = list.children[i] as HTMLElement;
      row.classList.toggle('unread', message.unread === true);
      fill(row.querySelector('.to'), formatRecipient(message));
      const ago = message.at === null ? '' : formatAgo(Date.now() - Date.parse(message.at));
      fill(row.querySelector('time'), ago);
    }
  }

  function formatRecipient({ persona, to }: FoundMessageWire): string {
    return persona === '' ? 'everybody' : displayName(truncate(labels.get(persona) ?? to, NAME_CHARS));
  }

  function showToken(): void {
    messages = [];
    drawRows();
    more.hidden = true;
    if (note.querySelector('button') === null)
      note.replaceChildren('Enter the token to see messages. ', createTokenButton(needToken));
  }

  function moveFocus(step: 1 | -1): boolean {
    const links = [...list.querySelectorAll<HTMLElement>('a')];
    const target = links[links.indexOf(document.activeElement as HTMLElement) + step] ?? links[0];
    target?.focus();
    return target !== undefined;
  }

  return {
    open(route: Route) {
      words = route.is === 'search' ? route.words : null;
      heading.textContent = words === null ? 'All mail' : 'Search';
      form.field.value = words ?? '';
      request.abort();
      request = new AbortController();
      messages = [];
      next = null;
      drawRows();
      more.hidden = true;
      note.textContent = 'Loading';
      removeKeys();
      removeKeys = addKeys(words === null ? 'All mail' : 'Search', [
        { keys: '/', words: 'Search messages', run: () => form.field.select() },
        { keys: 'j', words: 'Next message', run: () => moveFocus(1) },
        { keys: 'k', words: 'Previous message', run: () => moveFocus(-1) },
      ]);
      heading.focus();
      void load(null);
    },
    draw(status: StatusWire) {
      drawRows();
      const now = status.personas.map(({ lastEventId }) => lastEventId).join();
      if (now === delivered) return;
      const isFirst = delivered === null;
      delivered = now;
      labels = new Map(status.personas.map(({ id, label }) => [id, label]));
      if (isFirst) return;
      if (isLoading) isStale = true;
      else void load(null);
    },
    tokenCame: () => void load(null),
    close() {
      request.abort();
      removeKeys();
    },
  };
}

function createSearchForm(): { readonly element: HTMLFormElement; readonly field: HTMLInputElement } {
  const element = createElement('form', { class: 'mail-search' });
  element.role = 'search';
  const field = createElement('input');
  field.type = 'search';
  field.maxLength = 200;
  field.placeholder = 'Words in messages';
  field.autocomplete = 'off';
  field.ariaLabel = 'Search messages';
  const button = createElement('button');
  button.textContent = 'Search';
  element.append(field, button);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = field.value.trim() === '' ? '#feed' : formatSearch(field.value.trim());
  });
  return { element, field };
}

/** A row leads to the message in the inbox that has it; a broadcast is in many. */
function createRow(message: FoundMessageWire): HTMLElement {
  const row = createElement('li');
  row.dataset.place = String(message.place);
  const link = createElement('a');
  if (message.persona !== '') link.href = `#persona=${toFragment(message.persona)}&message=${message.id}`;
  const head = createElement('p', { class: 'mail-who' });
  const from = createElement('bdi', { class: 'from' });
  appendMarked(from, displayName(message.from.slice(0, NAME_CHARS)) || 'unknown', message.from, message.marks.from);
  const to = createElement('bdi', { class: 'to' });
  head.append(from, createHidden(' to '), createArrow(), to);
  if (message.urgent) head.append(createLabel('Urgent', 'urgent'));
  if (message.question) head.append(createLabel('Question', 'question'));
  if (message.unread === true) head.append(createLabel('Unread', 'new'));
  const time = createElement('time');
  if (message.at !== null) {
    time.dateTime = message.at;
    time.title = formatFullTime(Date.parse(message.at));
  }
  head.append(time);
  link.append(head);
  if (message.subject !== '') {
    const subject = createElement('p', { class: 'mail-subject' });
    subject.dir = 'auto';
    appendMarked(subject, displayText(message.subject), message.subject, message.marks.subject);
    link.append(subject);
  }
  const text = createElement('p', { class: 'mail-excerpt' });
  text.dir = 'auto';
  appendMarked(text, displayText(message.text), message.text, message.marks.text);
  link.append(text);
  row.append(link);
  return row;
}

/** Marks the matches, unless characters that cannot be seen were taken out and so nothing is where it was. */
function appendMarked(place: HTMLElement, shown: string, raw: string, marks: readonly (readonly number[])[]): void {
  if (shown !== raw) {
    place.append(shown);
    return;
  }
  let at = 0;
  for (const [start = 0, end = 0] of marks) {
    const mark = createElement('mark');
    mark.textContent = raw.slice(start, end);
    place.append(raw.slice(at, start), mark);
    at = end;
  }
  place.append(raw.slice(at));
}

function fill(place: Element | null, words: string): void {
  if (place !== null && place.textContent !== words) place.textContent = words;
}

function createLabel(words: string, kind: string): HTMLElement {
  const label = createElement('b', { class: `label ${kind}` });
  label.textContent = words;
  return label;
}

function createArrow(): HTMLElement {
  const arrow = createElement('span', { class: 'arrow' });
  arrow.ariaHidden = 'true';
  arrow.textContent = '→';
  return arrow;
}

function createHidden(words: string): HTMLElement {
  const element = createElement('span', { class: 'unseen' });
  element.textContent = words;
  return element;
}
