import type { PersonaWire } from '../app/status/wire.ts';
import { displayLine, displayName, formatDuration, formatSilence } from '../core/format/index.ts';
import { getPart } from './dom.ts';
import { createElement, createIsolated } from './element.ts';
import { formatAgo, formatPendingCount, type Slots, truncate } from './present.ts';

const NAME_CHARS = 200;
const MODES = { strict: 'blocks', soft: 'warns' } as const;

/** Draws what is known of an inbox beside its mail: its agent, its open gates, and its unread mail by priority. */
export function drawAbout(body: HTMLElement, persona: PersonaWire, { fresh, uptime }: Slots, now: number): void {
  const { cwd, model, source, id, label, lastMailAt, muted } = persona;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['Folder', cwd],
    ['Model', model],
    ['Source', source],
    ['Id', id === label ? null : id],
    ['Last mail', lastMailAt === null ? 'none yet' : formatAgo(now - Date.parse(lastMailAt))],
    ['Checked', fresh?.replace(/^checked /i, '')],
    ['Uptime', uptime],
    ['Notifications', formatMuted(muted, now)],
  ];
  const entries = facts.flatMap(([term, value]) =>
    value == null ? [] : [[term, truncate(displayLine(value), NAME_CHARS)] as const],
  );
  drawOnce(getPart(body, '.about-facts'), entries, ([term, value]) =>
    createElement('div', {}, createElement('dt', {}, term), createElement('dd', {}, createIsolated('bdi', value))),
  );
  drawLocal(body, persona);
}

/** Draws what only the local hive knows of an inbox. */
function drawLocal(body: HTMLElement, { pending, gates }: PersonaWire): void {
  getPart(body, '#gates').hidden = gates.length === 0;
  drawOnce(getPart(body, '#gates ul'), gates, createGateItem);
  const hasPending = pending?.some((n) => n > 0) ?? false;
  getPart(body, '#priorities').hidden = !hasPending;
  if (!hasPending) return;
  drawOnce(getPart(body, '.priorities'), [pending ?? []], createPriorityRows);
}

const TITLES = ['Critical', 'High', 'Normal', 'Low', 'Bulk'] as const;

function createPriorityRows(pending: readonly number[]): HTMLElement {
  const row = (cells: readonly HTMLElement[]) => createElement('tr', {}, ...cells);
  const head = row(TITLES.map((title) => createElement('th', { scope: 'col' }, title)));
  const cells = row(pending.map((n) => createElement('td', {}, formatPendingCount(n))));
  return createElement('tbody', {}, head, cells);
}

function createGateItem({ id, hook, mode }: PersonaWire['gates'][number]): HTMLElement {
  const name = createIsolated('bdi', truncate(displayName(id), NAME_CHARS));
  const where = createElement('span', {}, `${MODES[mode]} at ${truncate(displayName(hook), NAME_CHARS)}`);
  return createElement('li', { 'data-mode': mode }, name, where);
}

/** Creates the children again when what they show has changed. */
function drawOnce<T>(place: HTMLElement, values: readonly T[], create: (value: T) => HTMLElement): void {
  const key = JSON.stringify(values);
  if (place.dataset.shown === key) return;
  place.dataset.shown = key;
  place.replaceChildren(...values.map(create));
}

function formatMuted(muted: string | null, now: number): string | null {
  if (muted === null) return null;
  if (muted === 'forever') return 'Muted until unmuted';
  const end = Date.parse(muted);
  return `${formatSilence('Muted', end, now)}, for ${formatDuration(end - now)} more`;
}
