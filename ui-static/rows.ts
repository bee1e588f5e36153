import { formatFullTime } from '../core/format/index.ts';
import { arrange } from './arrange.ts';
import { cloneTemplate, getPart, setAttribute } from './dom.ts';
import type { ItemActions } from './item-actions.ts';
import { formatAgo } from './present.ts';
import { describeRow, type SheetRow } from './sheet.ts';

/**
 * Shows these rows in this order. A row that was there keeps its element, and what is already the same is not changed. `actions`
 * is null where nothing can be done. `next` gets the focus of a row that is removed.
 */
export function drawRows(
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
