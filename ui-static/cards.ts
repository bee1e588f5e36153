import type { PersonaWire, StatusWire } from '../app/status/wire.ts';
import { cloneTemplate, fillSlots, getById, getPart, setAttribute, showLook, showMarks } from './dom.ts';
import { groupBySource, hasQuestion, MARKS, toCard } from './present.ts';

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
  const { id, fragment, look, flags, slots } = toCard(persona, now, isAsking);
  return drawKeyed(cards, id, 'card', (card) => {
    setAttribute(card, 'data-id', id);
    const link = card.querySelector('a');
    if (link !== null) setAttribute(link, 'href', `#persona=${fragment}`);
    showLook(card, look, flags);
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
