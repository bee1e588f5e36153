import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import { cloneTemplate, fillSlots, getById, getPart, setAttribute, showMarks, showShape } from './dom.ts';
import { FILTERS, type Filter, type FilterQuery, isInFilter, isMatch } from './filter.ts';
import { groupBySource, hasQuestion, MARKS, toCard } from './present.ts';

const search = getById('search') as HTMLInputElement;
const nothing = getById('nothing');
const buttons = new Map<Filter, HTMLButtonElement>();
let filter: Filter = 'all';

interface InboxSearch {
  /** Returns the personas that match the search. The filters show how many each has. */
  among(personas: readonly PersonaWire[]): readonly PersonaWire[];
}

/** Runs the filters, the search and the keys of the overview: `/` searches, arrows or j and k move, Enter opens. */
export function startInboxSearch(changed: () => void): InboxSearch {
  for (const name of FILTERS) {
    const button = document.createElement('button');
    button.type = 'button';
    button.addEventListener('click', () => {
      filter = name;
      changed();
    });
    buttons.set(name, button);
  }
  getById('filters').append(...buttons.values());
  search.addEventListener('input', changed);
  document.addEventListener('keydown', (event) => {
    if (handleKey(event, changed)) event.preventDefault();
  });
  return {
    among(personas) {
      getById('find').hidden = personas.length === 0;
      for (const [name, button] of buttons) {
        const count = personas.filter((persona) => isInFilter(persona, name)).length;
        const text = `${name[0]?.toUpperCase()}${name.slice(1)} ${count}`;
        if (button.textContent !== text) button.textContent = text;
        button.hidden = name !== 'all' && name !== filter && count === 0;
        button.setAttribute('aria-pressed', String(name === filter));
      }
      const query: FilterQuery = { filter, text: search.value.slice(0, 200) };
      const matches = personas.filter((persona) => isMatch(persona, query));
      const words = matches.length > 0 || personas.length === 0 ? '' : 'No inbox matches. Press Escape to show all.';
      nothing.hidden = words === '';
      if (nothing.textContent !== words) nothing.textContent = words;
      return matches;
    },
  };
}

/** Returns whether the key had an effect here. */
function handleKey(event: KeyboardEvent, changed: () => void): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || getById('overview').hidden) return false;
  const { activeElement } = document;
  const searching = activeElement === search;
  if (!searching && activeElement?.matches('input, textarea, select') === true) return false;
  const links = listCardLinks();
  switch (event.key) {
    case '/':
      if (searching) return false;
      search.focus();
      search.select();
      return true;
    case 'Escape':
      if (search.value === '' && filter === 'all') {
        if (searching) search.blur();
        return searching;
      }
      search.value = '';
      filter = 'all';
      changed();
      return true;
    case 'Enter':
      if (!searching) return false;
      links[0]?.click();
      return true;
    case 'ArrowDown':
    case 'ArrowRight':
    case 'ArrowUp':
    case 'ArrowLeft':
      return moveFocus(event.key, searching, links);
    case 'j':
    case 'k':
      return searching ? false : moveFocus(event.key === 'j' ? 'ArrowRight' : 'ArrowLeft', false, links);
    default:
      return false;
  }
}

/**
 * Left and right follow the reading order, up and down go to the card above or below. Without a focused card the page scrolls.
 */
function moveFocus(to: string, searching: boolean, links: readonly HTMLElement[]): boolean {
  const from = links.indexOf(document.activeElement as HTMLElement);
  if (searching && to !== 'ArrowDown') return false;
  if (from < 0) {
    if (!searching && to !== 'ArrowRight' && document.activeElement !== document.body) return false;
    links[0]?.focus();
    return links.length > 0;
  }
  const step = to === 'ArrowLeft' ? -1 : to === 'ArrowRight' ? 1 : 0;
  const next = step === 0 ? findVertical(links, from, to === 'ArrowDown' ? 1 : -1) : links[from + step];
  if (next === undefined && to === 'ArrowUp') search.focus();
  next?.focus();
  return true;
}

/** Finds the nearest card in this direction, preferring the same column. */
function findVertical(links: readonly HTMLElement[], from: number, way: 1 | -1): HTMLElement | undefined {
  const origin = links[from]?.getBoundingClientRect();
  if (origin === undefined) return undefined;
  let best: HTMLElement | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let i = from + way; i >= 0 && i < links.length; i += way) {
    const box = links[i]?.getBoundingClientRect();
    if (box === undefined) break;
    const down = (box.top - origin.top) * way;
    if (down < 20) continue;
    const far = down * 4 + Math.abs(box.left - origin.left);
    if (far < least) {
      least = far;
      best = links[i];
    }
  }
  return best;
}

const list = getById('personas');
const cards = new Map<string, HTMLElement>();
const groups = new Map<string, HTMLElement>();

for (const card of list.querySelectorAll<HTMLElement>('.card')) cards.set(card.dataset.id ?? '', card);
for (const group of list.querySelectorAll<HTMLElement>('.group')) groups.set(group.dataset.source ?? '', group);

/** Returns every card by the id of its persona, including cards that are not on the page now. */
export function getCards(): ReadonlyMap<string, HTMLElement> {
  return cards;
}

/** Lists the links of the cards on the page, in reading order. */
export function listCardLinks(): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(':is(.card h2, .project h2, .agent) a[href]')];
}

/**
 * Shows exactly these personas. Cards of personas that are not in `status` are dropped. `boards` has the elements that
 * replace a source and all its cards.
 */
export function drawCards(
  visible: readonly PersonaWire[],
  status: StatusWire,
  boards: ReadonlyMap<string, HTMLElement>,
  now: number,
): void {
  const order = groupBySource(visible).flatMap(({ source, slots, personas }) => {
    const board = boards.get(source);
    if (board !== undefined) return [board];
    return [
      ...(slots === null ? [] : [drawKeyed(groups, source, 'group', (group) => fillSlots(group, slots))]),
      ...personas.map((persona) => drawCard(persona, hasQuestion(status, persona), now)),
    ];
  });
  const ids = new Set(status.personas.map(({ id }) => id));
  for (const id of cards.keys()) if (!ids.has(id)) cards.delete(id);
  placeCards(order);
}

function drawCard(persona: PersonaWire, isAsking: boolean, now: number): HTMLElement {
  const { id, fragment, shape, flags, slots } = toCard(persona, now, isAsking);
  return drawKeyed(cards, id, 'card', (card) => {
    setAttribute(card, 'data-id', id);
    const link = card.querySelector('a');
    if (link !== null) setAttribute(link, 'href', `#persona=${fragment}`);
    showShape(card, shape, flags);
    showMarks(getPart(card, '.marks'), MARKS, slots);
    fillSlots(card, slots);
  });
}

function drawKeyed(
  elements: Map<string, HTMLElement>,
  key: string,
  template: string,
  draw: (element: HTMLElement) => void,
): HTMLElement {
  const element = elements.get(key) ?? cloneTemplate(template);
  elements.set(key, element);
  draw(element);
  return element;
}

/** Cards do not move while the pointer or the focus is on them. They are moved when it has left. */
function placeCards(order: readonly HTMLElement[]): void {
  if (order.length === list.children.length && order.every((element, i) => list.children[i] === element)) return;
  const staying = new Set(order);
  for (const child of [...list.children]) if (!staying.has(child as HTMLElement)) child.remove();
  const busy = list.matches(':hover') || list.contains(document.activeElement);
  if (busy) list.append(...order.filter((element) => !element.isConnected));
  else list.replaceChildren(...order);
}
