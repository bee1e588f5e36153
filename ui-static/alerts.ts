import type { StatusWire } from '../app/status/wire.ts';
import type { AlertWire } from '../app/status/wire-history.ts';
import { displayName, displayText, formatDuration } from '../core/format/index.ts';
import { byId, svg } from './dom.ts';
import { agoOf, capped } from './present.ts';
import { ask } from './token.ts';

const LIMIT = 50;
const TIMEOUT_MS = 5000;
const MESSAGE_CHARS = 600;
const NAMED = 3;

/** The outages that were, newest first, without those that concern only who is hidden. */
export async function drawAlerts(status: StatusWire): Promise<void> {
  const answer = await ask(`/api/v1/alerts?limit=${LIMIT}`, AbortSignal.timeout(TIMEOUT_MS));
  const { alerts } = (await answer.json()) as { alerts: readonly AlertWire[] };
  const hidden = new Set(status.personas.flatMap(({ id, hidden }) => (hidden ? [id] : [])));
  const labels = new Map(status.personas.map(({ id, label }) => [id, label]));
  const shown = alerts.flatMap((alert) => {
    const whom = alert.personas.filter((id) => !hidden.has(id));
    return whom.length === 0 && alert.personas.length > 0 ? [] : [{ ...alert, personas: whom }];
  });
  const open = shown.filter(({ until }) => until === null).length;
  byId('alerts').hidden = shown.length === 0;
  byId('alerts-words').textContent = `${shown.length}${open > 0 ? `, ${open} going on` : ''}`;
  byId('alert-list').replaceChildren(...shown.map((alert) => entryOf(alert, labels)));
}

function entryOf(alert: AlertWire, labels: ReadonlyMap<string, string>): HTMLElement {
  const entry = document.createElement('li');
  entry.dataset.look = alert.until === null ? 'down' : 'over';
  const shape = svg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' });
  shape.append(svg('use', { href: alert.until === null ? '#alert' : '#up' }));
  const when = document.createElement('p');
  when.className = 'when';
  const since = document.createElement('time');
  since.dateTime = alert.since;
  since.textContent = new Date(alert.since).toLocaleString();
  const span = formatDuration(alert.seconds * 1000);
  const ended = alert.until === null ? null : agoOf(Date.now() - Date.parse(alert.until));
  when.append(since, ended === null ? ` · going on for ${span}` : ` · over after ${span}, ${ended}`);
  const who = document.createElement('p');
  who.className = 'whom';
  for (const id of alert.personas.slice(0, NAMED)) {
    const name = document.createElement('bdi');
    name.textContent = capped(displayName(labels.get(id) ?? id), 100);
    if (who.hasChildNodes()) who.append(', ');
    who.append(name);
  }
  const more = alert.personas.length - NAMED;
  if (more > 0) who.append(` and ${more} more`);
  const text = document.createElement('p');
  text.className = 'text';
  const message = document.createElement('bdi');
  message.textContent = capped(displayText(alert.message), MESSAGE_CHARS);
  text.append(message);
  const body = document.createElement('div');
  body.append(who, text, when);
  entry.append(shape, body);
  return entry;
}
