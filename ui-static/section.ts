import { cloneTemplate, fillSlots, getPart, setAttribute } from './dom.ts';
import type { ItemActions } from './item-actions.ts';
import { isOpen, saveOpen } from './open-sections.ts';
import { drawRows } from './rows.ts';
import { getSectionName, type SheetSection } from './sheet.ts';

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
