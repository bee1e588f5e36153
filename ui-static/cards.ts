import type { PersonaWire } from '../app/status/wire.ts';
import { byId, cloneOf, fill, mark, part, setAttribute, wear } from './dom.ts';
import { cardOf, groupsOf, MARKS } from './present.ts';

const list = byId('personas');
const cards = new Map<string, HTMLElement>();
const groups = new Map<string, HTMLElement>();

for (const card of list.querySelectorAll<HTMLElement>('.card')) cards.set(card.dataset.id ?? '', card);
for (const group of list.querySelectorAll<HTMLElement>('.group')) groups.set(group.dataset.source ?? '', group);

/** Every card there is, by id of its persona, also those that are not on the page now. */
export function allCards(): ReadonlyMap<string, HTMLElement> {
  return cards;
}

/** The links of the cards on the page, in reading order. */
export function cardLinks(): readonly HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(':is(.card h2, .project h2, .agent) a[href]')];
}

/**
 * Shows these and nobody else. `known`: whoever is watched at all; the others' cards are thrown away. `boards`: what stands
 * in the place of a source and all its cards.
 */
export function drawCards(
  shown: readonly PersonaWire[],
  known: readonly PersonaWire[],
  boards: ReadonlyMap<string, HTMLElement>,
  now: number,
): void {
  const order = groupsOf(shown).flatMap(({ source, slots, personas }) => {
    const board = boards.get(source);
    if (board !== undefined) return [board];
    return [
      ...(slots === null ? [] : [drawn(groups, source, 'group', (group) => fill(group, slots))]),
      ...personas.map((persona) => drawCard(persona, now)),
    ];
  });
  const ids = new Set(known.map(({ id }) => id));
  for (const id of cards.keys()) if (!ids.has(id)) cards.delete(id);
  place(order);
}

function drawCard(persona: PersonaWire, now: number): HTMLElement {
  const { id, fragment, look, flags, slots } = cardOf(persona, now);
  return drawn(cards, id, 'card', (card) => {
    setAttribute(card, 'data-id', id);
    const link = card.querySelector('a');
    if (link !== null) setAttribute(link, 'href', `#persona=${fragment}`);
    wear(card, look, flags);
    mark(part(card, '.marks'), MARKS, slots);
    fill(card, slots);
  });
}

function drawn(
  of: Map<string, HTMLElement>,
  key: string,
  template: string,
  draw: (element: HTMLElement) => void,
): HTMLElement {
  const element = of.get(key) ?? cloneOf(template);
  of.set(key, element);
  draw(element);
  return element;
}

/** Cards do not move away under a pointer or a keyboard; they find their place when it has left. */
function place(order: readonly HTMLElement[]): void {
  if (order.length === list.children.length && order.every((one, i) => list.children[i] === one)) return;
  const here = new Set(order);
  for (const one of [...list.children]) if (!here.has(one as HTMLElement)) one.remove();
  const busy = list.matches(':hover') || list.contains(document.activeElement);
  if (busy) list.append(...order.filter((one) => !one.isConnected));
  else list.replaceChildren(...order);
}
