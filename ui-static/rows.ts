import { arrange } from './arrange.ts';
import type { Deeds } from './deeds.ts';
import { cloneOf, part, setAttribute } from './dom.ts';
import { agoOf } from './present.ts';
import { rowWords, type SheetRow } from './sheet.ts';

/**
 * Shows these rows in this order. One that was there keeps its element; what is the same already is not touched. `deeds`:
 * null where nothing can be done. `next` gets the focus of a row that goes.
 */
export function drawRows(
  list: HTMLElement,
  rows: readonly SheetRow[],
  deeds: Deeds | null,
  next: HTMLElement,
  now: number,
): void {
  const there = new Map([...list.children].map((one) => [one.getAttribute('data-key'), one as HTMLElement]));
  const seen = new Map<string, number>();
  const elements = rows.map((row) => {
    const times = seen.get(row.key) ?? 0; // two writers may have given two records one number
    seen.set(row.key, times + 1);
    const key = times === 0 ? row.key : `${row.key} ${times}`;
    const element = there.get(key) ?? cloneOf('row');
    setAttribute(element, 'data-key', key);
    drawRow(element, row, now);
    if (deeds === null) element.querySelector('.deeds')?.remove();
    else deeds.draw(element, row);
    return element;
  });
  arrange(list, elements, next);
}

/** Ages grow. */
export function drawAges(root: ParentNode, now: number): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('.row time[datetime]')) {
    put(time, agoOf(now - Date.parse(time.dateTime)));
  }
}

function drawRow(element: HTMLElement, row: SheetRow, now: number): void {
  const { type, title, text, status, who, tone, at } = rowWords(row);
  setAttribute(element, 'data-tone', tone);
  put(part(element, '.type'), type);
  put(part(element, '.title'), title);
  put(part(element, '.text'), text ?? '');
  put(part(element, '.status'), status);
  put(part(element, '.for'), who ?? '');
  const time = part<HTMLTimeElement>(element, 'time');
  put(time, at === null ? '' : agoOf(now - at));
  if (at === null) time.removeAttribute('datetime');
  else {
    setAttribute(time, 'datetime', new Date(at).toISOString());
    setAttribute(time, 'title', new Date(at).toLocaleString());
  }
}

function put(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
