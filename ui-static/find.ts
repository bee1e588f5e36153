import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import {
  cloneTemplate,
  createSlices,
  fillSlots,
  getById,
  getPart,
  isSeen,
  setAttribute,
  showMarks,
  showShape,
} from './dom.ts';
import { FILTERS, type Filter, type FilterQuery, isInFilter, isMatch } from './filter.ts';
import { groupBySource, hasQuestion, MARKS, type Slots, toCard } from './present.ts';

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
const cards = new Map<string, PersonaCard>();
const groups = new Map<string, HTMLElement>();

for (const card of list.querySelectorAll<HTMLElement>('.card')) cards.set(card.dataset.id ?? '', createCard(card));
for (const group of list.querySelectorAll<HTMLElement>('.group')) groups.set(group.dataset.source ?? '', group);

/** Returns every card with the id of its persona, including cards that are not on the page now. */
export function listCards(): readonly (readonly [id: string, card: HTMLElement])[] {
  return [...cards].map(([id, { element }]) => [id, element]);
}

/** Lists the links of the cards on the page, in reading order. */
export function listCardLinks(): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(':is(.card h2, .project h2, .agent) a[href]')];
}

/** A card, what it has to say, and when it was last drawn. */
interface PersonaCard {
  readonly element: HTMLElement;
  persona: PersonaWire | null;
  isAsking: boolean;
  drawnAt: number;
}

function createCard(element: HTMLElement): PersonaCard {
  return { element, persona: null, isAsking: false, drawnAt: Number.NEGATIVE_INFINITY };
}

/** Of more cards than this, those that nobody sees are drawn only when they change, and now and then for their ages. */
const CROWD = 200;
const UNSEEN_EVERY_MS = 30_000;
/** Cards that nobody sees and that have something else to say. */
const outdated = new Set<PersonaCard>();
let drawingLater = false;

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
  const isCrowd = visible.length > CROWD;
  const order = groupBySource(visible).flatMap(({ source, slots, personas }) => {
    const board = boards.get(source);
    if (board !== undefined) return [board];
    return [
      ...(slots === null ? [] : [drawGroup(source, slots)]),
      ...personas.map((persona) => updateCard(persona, hasQuestion(status, persona), isCrowd, now)),
    ];
  });
  const ids = new Set(status.personas.map(({ id }) => id));
  for (const id of cards.keys()) if (!ids.has(id)) cards.delete(id);
  placeCards(order);
  if (drawingLater || outdated.size === 0) return;
  drawingLater = true;
  void drawOutdated();
}

function updateCard(persona: PersonaWire, isAsking: boolean, isCrowd: boolean, now: number): HTMLElement {
  const card = cards.get(persona.id) ?? createCard(cloneTemplate('card'));
  cards.set(persona.id, card);
  const isChanged = card.isAsking !== isAsking || !isSamePersona(card.persona, persona);
  card.persona = persona;
  card.isAsking = isAsking;
  if (!isCrowd || !card.element.isConnected || isSeen(card.element)) drawCard(card, now);
  else if (isChanged || now - card.drawnAt >= UNSEEN_EVERY_MS) outdated.add(card);
  return card.element;
}

/** Each status is another object, also where it says the same. */
function isSamePersona(a: PersonaWire | null, b: PersonaWire): boolean {
  if (a === b || a === null) return a === b;
  for (const key of Object.keys(b) as (keyof PersonaWire)[]) {
    if (a[key] !== b[key] && (typeof b[key] !== 'object' || JSON.stringify(a[key]) !== JSON.stringify(b[key])))
      return false;
  }
  return true;
}

async function drawOutdated(): Promise<void> {
  const slices = createSlices();
  try {
    for (const card of outdated) {
      drawCard(card, Date.now());
      await slices.pauseIfDue();
    }
  } finally {
    drawingLater = false;
  }
}

function drawCard(card: PersonaCard, now: number): void {
  const { element, persona, isAsking } = card;
  outdated.delete(card);
  card.drawnAt = now;
  if (persona === null) return;
  const { id, fragment, shape, flags, slots } = toCard(persona, now, isAsking);
  setAttribute(element, 'data-id', id);
  const link = element.querySelector('a');
  if (link !== null) setAttribute(link, 'href', `#persona=${fragment}`);
  showShape(element, shape, flags);
  showMarks(getPart(element, '.marks'), MARKS, slots);
  fillSlots(element, slots);
}

function drawGroup(source: string, slots: Slots): HTMLElement {
  const group = groups.get(source) ?? cloneTemplate('group');
  groups.set(source, group);
  fillSlots(group, slots);
  return group;
}

/** Cards do not move while the pointer or the focus is on them. They are moved when it has left. */
function placeCards(order: readonly HTMLElement[]): void {
  if (order.length === list.children.length && order.every((element, i) => list.children[i] === element)) return;
  const staying = new Set<Element>(order);
  for (const child of [...list.children]) if (!staying.has(child)) child.remove();
  if (list.matches(':hover') || list.contains(document.activeElement)) {
    list.append(...order.filter((element) => !element.isConnected));
    return;
  }
  let next = list.firstElementChild;
  for (const element of order) {
    if (next?.nextElementSibling === element) next = element; // what stood before it has its turn later
    if (next === element) next = element.nextElementSibling;
    else list.insertBefore(element, next);
  }
}
