import type { MessageWire, StatusWire } from '../app/status/wire.ts';
import {
  arrange,
  cloneTemplate,
  fillSlots,
  getById,
  getPart,
  glideFrom,
  setAttribute,
  showMarks,
  showShape,
} from './dom.ts';
import { type GroupItem, isCrowd, type ListItem } from './inbox-order.ts';
import { type Card, MARKS, ROW_MARKS, toOverviewCard } from './present.ts';

/**
 * Draws the overview: a card for each persona, or from twenty on a row of one line. Of rows, only those near the window are in the document,
 * so a thousand cost as much as forty.
 */

/** The height of a row, as in rows.css. */
const ROW_PX = 36;
/** Rows this far above and below the window are in the document: a person may scroll, or go on with Tab. */
const NEAR_PX = 400;

/** However fast mail comes, nothing moves more often than this. */
const REORDER_MS = 900;

/** What is drawn beside the items. */
export interface ListFrame {
  readonly status: StatusWire;
  readonly newest: ReadonlyMap<string, MessageWire>;
  readonly now: number;
  /** The person asked for another order: rows move also under the pointer. */
  readonly isAsked: boolean;
}

export interface InboxList {
  draw(items: readonly ListItem[], frame: ListFrame): void;
  /** Returns every card with the id of its persona. Rows are left out. */
  listCards(): readonly (readonly [id: string, card: HTMLElement])[];
  /** Moves the focus to the persona, if it is in the list. */
  focus(id: string): void;
  /** Moves the focus in this direction, from where it is in the list. Returns false at its end. */
  move(way: MoveDirection): boolean;
  openFirst(): void;
}

export type MoveDirection = 'up' | 'down' | 'left' | 'right';

/** @param toggle called with the source whose group the person opens or closes */
export function startInboxList(toggle: (group: GroupItem) => void): InboxList {
  const list = getById('personas');
  /** Everything that is in the document now, by the key of its item. */
  const elements = new Map<string, HTMLElement>();
  let items: readonly ListItem[] = [];
  let frame: ListFrame | null = null;
  let orderedAt = 0;
  let hasRows = list.classList.contains('inbox-rows');
  for (const element of list.querySelectorAll<HTMLElement>('[data-key]'))
    elements.set(element.dataset.key ?? '', element);

  function drawItem(item: ListItem, { newest, now }: ListFrame, marked: MarkedPersonas): HTMLElement {
    const element = elements.get(item.key) ?? createElement(item);
    if (item.is === 'group') {
      setAttribute(getPart(element, 'button'), 'aria-expanded', String(item.isOpen));
      fillSlots(element, item.slots);
      return element;
    }
    const { persona } = item;
    const facts = { isAsking: marked.asking.has(persona.id), isExplained: marked.explained.has(persona.id) };
    drawCard(element, toOverviewCard(persona, { ...facts, newest: newest.get(persona.id) ?? null }, now), hasRows);
    return element;
  }

  function createElement(item: ListItem): HTMLElement {
    const element = cloneTemplate(item.is === 'group' ? 'group' : hasRows ? 'inbox-row' : 'card');
    setAttribute(element, 'data-key', item.key);
    elements.set(item.key, element);
    return element;
  }

  /** Draws what is near the window, and keeps what has the focus. */
  function drawNear(): void {
    if (frame === null) return;
    const { status } = frame;
    const marked = {
      asking: new Set(status.decisions.map(({ persona }) => persona)),
      explained: new Set(status.causes.flatMap(({ personas }) => personas)),
    };
    const top = hasRows ? list.getBoundingClientRect().top : 0;
    const from = hasRows ? Math.floor((-top - NEAR_PX) / ROW_PX) : 0;
    const to = hasRows ? Math.ceil((window.innerHeight - top + NEAR_PX) / ROW_PX) : items.length;
    const focused = findFocused();
    const shown: HTMLElement[] = [];
    const keys = new Set<string>();
    for (const [i, item] of items.entries()) {
      if ((i < from || i >= to) && item.key !== focused) continue;
      const element = drawItem(item, frame, marked);
      if (hasRows) {
        setAttribute(element, 'aria-setsize', String(items.length));
        setAttribute(element, 'aria-posinset', String(i + 1));
        placeRow(element, i);
      }
      shown.push(element);
      keys.add(item.key);
    }
    for (const key of elements.keys()) if (!keys.has(key)) elements.delete(key);
    list.style.height = hasRows ? `${items.length * ROW_PX}px` : '';
    list.classList.toggle('placed', hasRows);
    const isMoved = shown.some((element, i) => list.children[i] !== element);
    if (isMoved && !hasRows) glide(shown, () => arrange(list, shown));
    else arrange(list, shown);
  }

  const findFocused = (): string | null =>
    document.activeElement?.closest<HTMLElement>('#personas > *')?.dataset.key ?? null;

  function focusItem(at: number): void {
    const item = items[at];
    if (item === undefined) return;
    if (hasRows) {
      const y = list.getBoundingClientRect().top + at * ROW_PX;
      const isSeen = y > 2 * ROW_PX && y < window.innerHeight - 3 * ROW_PX;
      if (!isSeen) window.scrollBy({ top: y - window.innerHeight / 2, behavior: 'instant' });
      drawNear();
    }
    elements.get(item.key)?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: hasRows });
  }

  let isScrolling = false;
  const follow = (): void => {
    if (isScrolling || !hasRows) return;
    isScrolling = true;
    requestAnimationFrame(() => {
      isScrolling = false;
      drawNear();
    });
  };
  window.addEventListener('scroll', follow, { passive: true });
  window.addEventListener('resize', follow);
  list.addEventListener('click', ({ target }) => {
    const key =
      target instanceof Element ? target.closest('button')?.closest<HTMLElement>('.group')?.dataset.key : null;
    const group = items.find((item) => item.key === key);
    if (group?.is === 'group') toggle(group);
  });

  return {
    draw(next, drawn) {
      const inboxes = next.filter(({ is }) => is === 'persona').length;
      const isRead = list.matches(':hover') || list.contains(document.activeElement);
      const isHeld = !drawn.isAsked && (isRead || drawn.now - orderedAt < REORDER_MS);
      items = isHeld ? mergeInOrder(items, next) : next;
      if (!isHeld) orderedAt = drawn.now;
      frame = drawn;
      const wantsRows = isCrowd(drawn.status.personas);
      if (wantsRows !== hasRows && (inboxes > 0 || elements.size > 0)) {
        hasRows = wantsRows;
        elements.clear();
        list.classList.toggle('inbox-rows', hasRows);
        list.classList.toggle('cards', !hasRows);
      }
      drawNear();
    },
    listCards: () =>
      hasRows
        ? []
        : items.flatMap((item) => {
            const element = elements.get(item.key);
            return item.is === 'persona' && element !== undefined ? [[item.persona.id, element] as const] : [];
          }),
    focus(id) {
      focusItem(items.findIndex((item) => item.is === 'persona' && item.persona.id === id));
    },
    move(way) {
      const key = findFocused();
      const at = items.findIndex((item) => item.key === key);
      const step = way === 'up' || way === 'left' ? -1 : 1;
      if (at >= 0 && !hasRows && (way === 'up' || way === 'down')) {
        const next = findVertical(
          items.map((item) => elements.get(item.key)),
          at,
          step,
        );
        if (next !== undefined) focusItem(next);
        return next !== undefined;
      }
      for (let next = at + step; next >= 0 && next < items.length; next += step) {
        const item = items[next];
        if (item === undefined || (item.is === 'group' && item.isOpen)) continue;
        focusItem(next);
        return true;
      }
      return false;
    },
    openFirst: () =>
      elements
        .get(items.find(({ is }) => is === 'persona')?.key ?? '')
        ?.querySelector('a')
        ?.click(),
  };
}

/** The personas that ask a person, and those whose outage is said elsewhere. */
interface MarkedPersonas {
  readonly asking: ReadonlySet<string>;
  readonly explained: ReadonlySet<string>;
}

function drawCard(element: HTMLElement, { id, fragment, shape, flags, slots }: Card, isRow: boolean): void {
  setAttribute(element, 'data-id', id);
  setAttribute(getPart(element, 'a'), 'href', `#persona=${fragment}`);
  showShape(element, shape, flags);
  showMarks(getPart(element, '.marks'), isRow ? ROW_MARKS : MARKS, slots);
  fillSlots(element, slots);
}

/** A row is where it came first, and moves from there: what moves by a transform can glide, and is no shift of the layout. */
function placeRow(element: HTMLElement, at: number): void {
  if (element.style.top === '') element.style.top = `${at * ROW_PX}px`;
  const moved = at * ROW_PX - Number.parseInt(element.style.top, 10);
  element.style.transform = moved === 0 ? '' : `translateY(${moved}px)`;
}

/** Lets cards glide to the places that `move` gives them, so that the eye can follow. */
function glide(cards: readonly HTMLElement[], move: () => void): void {
  const before = cards.map((card) => [card, card.isConnected ? card.getBoundingClientRect() : null] as const);
  move();
  for (const [card, from] of before) {
    if (from === null || !card.isConnected) continue;
    const to = card.getBoundingClientRect();
    const [x, y] = [from.left - to.left, from.top - to.top];
    if (x !== 0 || y !== 0) glideFrom(card, x, y);
  }
}

/** Nothing moves while the pointer or the focus is on the list: who is new comes last. */
function mergeInOrder(before: readonly ListItem[], items: readonly ListItem[]): readonly ListItem[] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  const earlier = before.flatMap(({ key }) => byKey.get(key) ?? []);
  for (const { key } of earlier) byKey.delete(key);
  return [...earlier, ...byKey.values()];
}

/** Finds the nearest card in this direction, preferring the same column. */
function findVertical(cards: readonly (HTMLElement | undefined)[], from: number, step: number): number | undefined {
  const origin = cards[from]?.getBoundingClientRect();
  let best: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let i = from + step; i >= 0 && i < cards.length; i += step) {
    const box = cards[i]?.getBoundingClientRect();
    if (box === undefined || origin === undefined) continue;
    const down = (box.top - origin.top) * step;
    const far = down * 4 + Math.abs(box.left - origin.left);
    if (down < 20 || far >= least) continue;
    least = far;
    best = i;
  }
  return best;
}
