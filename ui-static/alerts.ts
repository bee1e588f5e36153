import type { AlertWire, StatusWire } from '../app/status/wire.ts';
import { displayName, displayText, formatDuration, formatFullTime, formatRest } from '../core/format/index.ts';
import { createSvg, getById } from './dom.ts';
import { formatAgo, truncate } from './present.ts';
import { ask } from './token.ts';

const LIMIT = 50;
const TIMEOUT_MS = 5000;
const MESSAGE_CHARS = 600;
const NAMED = 3;

/** Draws the past outages, newest first, without those that only concern hidden personas. */
export async function drawAlerts(status: StatusWire): Promise<void> {
  const answer = await ask(`/api/v1/alerts?limit=${LIMIT}`, AbortSignal.timeout(TIMEOUT_MS));
  const { alerts } = (await answer.json()) as { alerts: readonly AlertWire[] };
  const hidden = new Set(status.personas.flatMap(({ id, hidden }) => (hidden ? [id] : [])));
  const labels = new Map(status.personas.map(({ id, label }) => [id, label]));
  const visibleAlerts = alerts.flatMap((alert) => {
    const visibleIds = alert.personas.filter((id) => !hidden.has(id));
    return visibleIds.length === 0 && alert.personas.length > 0 ? [] : [{ ...alert, personas: visibleIds }];
  });
  const open = visibleAlerts.filter(({ until }) => until === null).length;
  getById('alerts').hidden = visibleAlerts.length === 0;
  getById('alerts-words').textContent = `${visibleAlerts.length}${open > 0 ? `, ${open} open` : ''}`;
  getById('alert-list').replaceChildren(...visibleAlerts.map((alert) => createAlertItem(alert, labels)));
}

function createAlertItem(alert: AlertWire, labels: ReadonlyMap<string, string>): HTMLElement {
  const entry = document.createElement('li');
  entry.dataset.look = alert.until === null ? 'down' : 'over';
  const shape = createSvg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' });
  shape.append(createSvg('use', { href: alert.until === null ? '#alert' : '#up' }));
  const when = document.createElement('p');
  when.className = 'when';
  const since = document.createElement('time');
  since.dateTime = alert.since;
  since.textContent = formatFullTime(Date.parse(alert.since));
  const span = formatDuration(alert.seconds * 1000);
  const ended = alert.until === null ? null : formatAgo(Date.now() - Date.parse(alert.until));
  when.append(since, ended === null ? ` · ongoing for ${span}` : ` · over after ${span}, ${ended}`);
  const people = document.createElement('p');
  people.className = 'whom';
  for (const id of alert.personas.slice(0, NAMED)) {
    const name = document.createElement('bdi');
    name.textContent = truncate(displayName(labels.get(id) ?? id), 100);
    if (people.hasChildNodes()) people.append(', ');
    people.append(name);
  }
  people.append(formatRest(alert.personas.length - NAMED));
  const text = document.createElement('p');
  text.className = 'text';
  const message = document.createElement('bdi');
  message.textContent = truncate(displayText(alert.message), MESSAGE_CHARS);
  text.append(message);
  const body = document.createElement('div');
  body.append(people, text, when);
  entry.append(shape, body);
  return entry;
}
