import type { Deeds } from './deeds.ts';
import { cloneOf, fill, part, setAttribute } from './dom.ts';
import { isOpen, keepOpen } from './opened.ts';
import { drawRows } from './rows.ts';
import { type SheetSection, sectionName } from './sheet.ts';

/** A part of a project's board, to be opened and closed. Its rows are drawn while it is open. */
export interface Section {
  readonly element: HTMLElement;
  /** `withheld`: its rows need the token. `deeds`: null where nothing can be done from here. */
  draw(rows: Rows, withheld: boolean, deeds: Deeds | null): void;
}

type Rows = Pick<SheetSection, 'rows' | 'rest' | 'total'>;

/** So many are in sight at first. */
const FIRST = 8;

/** @param load the rows behind the first ones; null: there is no way to them */
export function startSection(
  project: string,
  id: string,
  load: ((from: number) => Promise<Rows>) | null = null,
): Section {
  const element = cloneOf('section') as HTMLDetailsElement;
  const list = part(element, '.rows');
  const more = part<HTMLButtonElement>(element, '.more');
  let drawn = '';
  let shown: Rows | null = null;
  let isWithheld = false;
  let deedsOf: Deeds | null = null;
  let all = false;
  let trouble: string | null = null;

  const redraw = (): void => {
    if (shown === null || !element.open) return;
    const { rows, rest, total } = shown;
    drawRows(list, all ? rows : rows.slice(0, FIRST), deedsOf, part(element, 'summary'), Date.now());
    list.hidden = rows.length === 0;
    more.hidden = rows.length <= FIRST;
    const isEnd = load === null || rest === 0;
    const words = !all ? `Show ${rows.length - FIRST} more` : isEnd ? 'Show fewer' : `Show the next of ${rest} more`;
    if (more.textContent !== words) more.textContent = words;
    const left = load === null && (all || rows.length <= FIRST) ? rest : 0;
    fill(element, { rest: trouble ?? restWords(total, left, isWithheld) });
  };

  /** The next page, unless the board was drawn anew meanwhile. */
  const loadNext = async (): Promise<void> => {
    const before = shown;
    if (before === null || load === null) return;
    more.disabled = true;
    try {
      const next = await load(before.rows.length);
      if (shown !== before) return;
      shown = { rows: [...before.rows, ...next.rows], rest: next.rest, total: next.total };
      trouble = null;
    } catch (error) {
      trouble = `Not to be had now: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      more.disabled = false;
      redraw();
    }
  };

  setAttribute(element, 'data-section', id);
  element.open = isOpen(project, id);
  element.addEventListener('toggle', () => {
    keepOpen(project, id, element.open);
    redraw();
  });
  more.addEventListener('click', () => {
    if (all && load !== null && shown !== null && shown.rest > 0) {
      void loadNext();
      return;
    }
    all = !all;
    redraw();
  });
  fill(element, { section: sectionName(id), rest: null });

  return {
    element,
    draw(section, withheld, deeds) {
      const now = JSON.stringify([section, withheld, deeds !== null]);
      if (now === drawn) return;
      drawn = now;
      shown = section;
      isWithheld = withheld;
      deedsOf = deeds;
      element.hidden = section.total === 0 && id !== 'attention';
      fill(element, { total: String(section.total) });
      redraw();
    },
  };
}

function restWords(total: number, rest: number, withheld: boolean): string | null {
  if (total === 0) return 'Nothing asks for a person.';
  if (withheld) return 'Shown with the token.';
  return rest > 0 ? `and ${rest} more that are not shown here` : null;
}
