import { formatFullTime } from '../core/format/index.ts';
import { cloneTemplate, fillSlots, getPart, setAttribute } from './dom.ts';
import type { ItemActions } from './item-actions.ts';
import { formatAgo } from './present.ts';
import { describeRow, getSectionName, type SheetRow, type SheetSection } from './sheet.ts';
import { browserStorage } from './token.ts';

/** A part of a project's board that can be opened and closed. Its rows are drawn while it is open. */
export interface Section {
  readonly element: HTMLElement;
  /** `withheld` means that its rows need the token. `actions` is null where nothing can be done. */
  draw(rows: SectionRows, withheld: boolean, actions: ItemActions | null): void;
}

type SectionRows = Pick<SheetSection, 'rows' | 'rest' | 'total'>;

/** The number of rows that are shown at first. */
const FIRST = 8;

/** @param load loads the rows after the first ones; null when they cannot be loaded */
export function startSection(
  project: string,
  id: string,
  load: ((from: number) => Promise<SectionRows>) | null = null,
): Section {
  const element = cloneTemplate('section') as HTMLDetailsElement;
  const list = getPart(element, '.rows');
  const moreButton = getPart<HTMLButtonElement>(element, '.more');
  let drawn = '';
  let current: SectionRows | null = null;
  let isWithheld = false;
  let currentActions: ItemActions | null = null;
  let isExpanded = false;
  let trouble: string | null = null;

  const redraw = (): void => {
    if (current === null || !element.open) return;
    const { rows, rest, total } = current;
    drawRows(list, isExpanded ? rows : rows.slice(0, FIRST), currentActions, getPart(element, 'summary'), Date.now());
    list.hidden = rows.length === 0;
    moreButton.hidden = rows.length <= FIRST;
    const isEnd = load === null || rest === 0;
    const words = !isExpanded ? `Show ${rows.length - FIRST} more` : isEnd ? 'Show fewer' : `Show more (${rest} left)`;
    if (moreButton.textContent !== words) moreButton.textContent = words;
    const left = load === null && (isExpanded || rows.length <= FIRST) ? rest : 0;
    fillSlots(element, { rest: trouble ?? formatRest(total, left, isWithheld) });
  };

  /** Loads the next page. The result is dropped if the board was drawn again in the meantime. */
  const loadNext = async (): Promise<void> => {
    const before = current;
    if (before === null || load === null) return;
    moreButton.disabled = true;
    try {
      const next = await load(before.rows.length);
      if (current !== before) return;
      current = { rows: [...before.rows, ...next.rows], rest: next.rest, total: next.total };
      trouble = null;
    } catch (error) {
      trouble = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      moreButton.disabled = false;
      redraw();
    }
  };

  setAttribute(element, 'data-section', id);
  element.open = isOpen(project, id);
  element.addEventListener('toggle', () => {
    saveOpen(project, id, element.open);
    redraw();
  });
  moreButton.addEventListener('click', () => {
    if (isExpanded && load !== null && current !== null && current.rest > 0) {
      void loadNext();
      return;
    }
    isExpanded = !isExpanded;
    redraw();
  });
  fillSlots(element, { section: getSectionName(id), rest: null });

  return {
    element,
    draw(section, withheld, actions) {
      const now = JSON.stringify([section, withheld, actions !== null]);
      if (now === drawn) return;
      drawn = now;
      current = section;
      isWithheld = withheld;
      currentActions = actions;
      element.hidden = section.total === 0 && id !== 'attention';
      fillSlots(element, { total: String(section.total) });
      redraw();
    },
  };
}

function formatRest(total: number, rest: number, withheld: boolean): string | null {
  if (total === 0) return 'Nothing needs a person.';
  if (withheld) return 'Enter the token to see them.';
  return rest > 0 ? `and ${rest} more, not shown here` : null;
}

/** Which sections a person opened or closed, when that differs from the default. Stored in this browser. */

const KEY = 'hivebar-sections';
/** The limit for stored entries. Those of removed projects stay, so the oldest are dropped. */
const MOST = 400;
/** These sections are open by default. */
const OPEN_AT_FIRST: ReadonlySet<string> = new Set(['attention']);

function isOpen(project: string, section: string): boolean {
  return OPEN_AT_FIRST.has(section) !== loadToggled().includes(toSectionKey(project, section));
}

function saveOpen(project: string, section: string, open: boolean): void {
  if (isOpen(project, section) === open) return;
  const name = toSectionKey(project, section);
  const before = loadToggled();
  const rest = before.filter((entry) => entry !== name);
  browserStorage.setItem(KEY, JSON.stringify((rest.length < before.length ? rest : [...rest, name]).slice(-MOST)));
}

const toSectionKey = (project: string, section: string): string => `${section} ${project}`;

function loadToggled(): readonly string[] {
  try {
    const names: unknown = JSON.parse(browserStorage.getItem(KEY) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return []; // written by another version or by hand: treated as empty
  }
}

/**
 * Shows these rows in this order. A row that was there keeps its element, and what is already the same is not changed. `actions`
 * is null where nothing can be done. `next` gets the focus of a row that is removed.
 */
function drawRows(
  list: HTMLElement,
  rows: readonly SheetRow[],
  actions: ItemActions | null,
  next: HTMLElement,
  now: number,
): void {
  const existing = new Map([...list.children].map((child) => [child.getAttribute('data-key'), child as HTMLElement]));
  const countByKey = new Map<string, number>();
  const elements = rows.map((row) => {
    const times = countByKey.get(row.key) ?? 0; // two writers may have given the same number to two records
    countByKey.set(row.key, times + 1);
    const key = times === 0 ? row.key : `${row.key} ${times}`;
    const element = existing.get(key) ?? cloneTemplate('row');
    setAttribute(element, 'data-key', key);
    drawRow(element, row, now);
    if (actions === null) element.querySelector('.deeds')?.remove();
    else actions.draw(element, row);
    return element;
  });
  arrange(list, elements, next);
}

/** Updates the ages of the rows, which grow with time. */
export function drawAges(root: ParentNode, now: number): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('.row time[datetime]')) {
    setText(time, formatAgo(now - Date.parse(time.dateTime)));
  }
}

function drawRow(element: HTMLElement, row: SheetRow, now: number): void {
  const { type, title, text, status, people, tone, at } = describeRow(row);
  setAttribute(element, 'data-tone', tone);
  setText(getPart(element, '.type'), type);
  setText(getPart(element, '.title'), title);
  setText(getPart(element, '.text'), text ?? '');
  setText(getPart(element, '.status'), status);
  setText(getPart(element, '.for'), people ?? '');
  const time = getPart<HTMLTimeElement>(element, 'time');
  setText(time, at === null ? '' : formatAgo(now - at));
  if (at === null) time.removeAttribute('datetime');
  else {
    setAttribute(time, 'datetime', new Date(at).toISOString());
    setAttribute(time, 'title', formatFullTime(at));
  }
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Makes these elements the children of `list`, in this order. An element in the right place is not moved, and the focused element
 * keeps the focus, even when it moves. If it is removed, `next` gets the focus.
 */
export function arrange(list: HTMLElement, elements: readonly HTMLElement[], next: HTMLElement | null = null): void {
  const focused = list.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const stays = new Set(elements);
  for (const child of [...list.children]) if (!stays.has(child as HTMLElement)) child.remove();
  for (const [i, element] of elements.entries()) {
    if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null);
  }
  if (focused === null || document.activeElement === focused) return;
  (list.contains(focused) ? focused : next)?.focus({ preventScroll: true });
}
