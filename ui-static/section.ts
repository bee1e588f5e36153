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

export function startSection(project: string, id: string): Section {
  const element = cloneOf('section') as HTMLDetailsElement;
  const list = part(element, '.rows');
  const more = part<HTMLButtonElement>(element, '.more');
  let drawn = '';
  let shown: Rows | null = null;
  let isWithheld = false;
  let deedsOf: Deeds | null = null;
  let all = false;

  const redraw = (): void => {
    if (shown === null || !element.open) return;
    const { rows, rest, total } = shown;
    drawRows(list, all ? rows : rows.slice(0, FIRST), deedsOf, part(element, 'summary'), Date.now());
    list.hidden = rows.length === 0;
    more.hidden = rows.length <= FIRST;
    const words = all ? 'Show fewer' : `Show ${rows.length - FIRST} more`;
    if (more.textContent !== words) more.textContent = words;
    fill(element, { rest: restWords(total, rest, isWithheld, all || rows.length <= FIRST) });
  };

  setAttribute(element, 'data-section', id);
  element.open = isOpen(project, id);
  element.addEventListener('toggle', () => {
    keepOpen(project, id, element.open);
    redraw();
  });
  more.addEventListener('click', () => {
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

function restWords(total: number, rest: number, withheld: boolean, isWhole: boolean): string | null {
  if (total === 0) return 'Nothing asks for a person.';
  if (withheld) return 'Shown with the token.';
  return rest > 0 && isWhole ? `and ${rest} more that are not shown here` : null;
}
