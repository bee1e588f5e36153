import type { AlertWire, StatusWire } from '../app/status/wire.ts';
import { displayName, displayText, formatDuration, formatFullTime, formatRest } from '../core/format/index.ts';
import { startDecisionsPanel } from './decisions.ts';
import { cloneTemplate, createSvg, fillSlots, getById, getPart } from './dom.ts';
import { drawCards, listCardLinks, listCards, startInboxSearch } from './find.ts';
import { follow } from './live.ts';
import { drawPast } from './past-drawings.ts';
import { startPermissionsPanel } from './permissions.ts';
import { startPlaces } from './places.ts';
import { formatAgo, formatNumber, hasQuestion, toCauseSlots, toFragment, toSummary, truncate } from './present.ts';
import type { Projects } from './projects.ts';
import { parseOnceLink, parseRoute, type Route } from './route.ts';
import { ask, redeem, saveToken } from './token.ts';
import type { InboxView } from './view.ts';

/** Keeps the page that the server sent up to date, and shows one inbox when the address names one. */

const TICK_MS = 1000;
/** The history moves by one slot in this time. */
const PAST_EVERY_MS = 5 * 60_000;

const causes = getById('causes');
const form = getById('token');
const overview = getById('overview');
const summaryParts = [getById('summary'), getPart(document, 'footer')];
const find = startInboxSearch(() => drawAll());
const decisionsPanel = startDecisionsPanel(() => needToken('action'));
const permissionsPanel = startPermissionsPanel(() => needToken('action'));
const places = startPlaces(() => needToken('action'));
let route: Route = { is: 'overview' };
let latestStatus: StatusWire | null = null;
let view: InboxView | null = null;
let projects: Projects | null = null;
let pastAt = Number.NEGATIVE_INFINITY;
let drawnCauses = '';

await redeemOnceLink();
goTo();
window.addEventListener('hashchange', async () => {
  await redeemOnceLink();
  goTo();
});

const pollNow = follow({
  status: (status) => {
    if (latestStatus !== null) say(formatAnnouncement(latestStatus, status));
    latestStatus = status;
    drawAll();
    void updatePast();
    if (status.projects.length > 0 && projects === null) void openProjects();
  },
  link: (link, words) => {
    const line = getById('link');
    if (link === 'closed') needToken();
    else if (form.dataset.why !== 'action') form.hidden = true;
    document.documentElement.dataset.link = link;
    if (line.dataset.link === link && line.lastElementChild?.textContent === words) return;
    line.dataset.link = link;
    fillSlots(line, { link: words });
  },
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const input = form.querySelector('input');
  if (input === null) return;
  saveToken(input.value);
  input.value = '';
  delete form.dataset.why;
  form.hidden = true;
  pastAt = Number.NEGATIVE_INFINITY;
  pollNow();
  decisionsPanel.tokenCame();
  permissionsPanel.tokenCame();
  view?.tokenCame();
  places.tokenCame();
  projects?.tokenCame();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || route.is === 'overview' || document.activeElement?.matches('input, textarea') === true)
    return;
  location.hash = '#personas';
});

// Ages grow while nothing happens. On a hidden page nobody sees them.
setInterval(() => {
  if (!document.hidden) drawAll();
}, TICK_MS);

function drawAll(): void {
  if (latestStatus === null) return;
  const now = Date.now();
  const summary = toSummary(latestStatus);
  document.documentElement.dataset.look = summary.shape;
  for (const part of summaryParts) fillSlots(part, summary.slots);
  const persona = route.is === 'persona' ? findPersona(latestStatus, route.fragment) : null;
  const title = persona === null ? summary.title : `${displayName(persona.label.slice(0, 100))} · ${summary.title}`;
  if (document.title !== title) document.title = title;
  permissionsPanel.draw(latestStatus, now);
  decisionsPanel.draw(latestStatus, now);
  if (route.is === 'persona') {
    const isBoard = latestStatus.projects.some(({ board }) => board === persona?.id);
    const isAsking = persona !== null && hasQuestion(latestStatus, persona);
    view?.draw(persona, { isBoard, isAsking }, now);
    projects?.draw(latestStatus, persona === null ? [] : [persona], now);
    return;
  }
  places.draw(latestStatus, now);
  if (route.is !== 'overview') return;
  const matches = find.among(latestStatus.personas);
  drawCauses(latestStatus, now);
  drawCards(matches, latestStatus, projects?.draw(latestStatus, matches, now) ?? new Map(), now);
}

function findPersona({ personas }: StatusWire, fragment: string): StatusWire['personas'][number] | null {
  return personas.find(({ id }) => toFragment(id) === fragment) ?? null;
}

/** Shows what the address names. The view of one inbox is loaded when the first one is opened. */
function goTo(): void {
  const before = route;
  const named = parseRoute(location.hash);
  route = places.has(named) ? named : { is: 'overview' };
  document.documentElement.dataset.view = route.is;
  overview.hidden = route.is !== 'overview';
  getById('view').hidden = route.is !== 'persona';
  if (before.is === 'persona' && route.is !== 'persona') {
    decisionsPanel.showIn(null, null);
    projects?.showIn(null, null);
    view?.close();
  }
  void places.show(route).then(drawAll);
  if (route.is === 'persona') void openView(route.fragment);
  else if (before.is !== 'overview') {
    form.hidden = form.dataset.why !== 'closed';
    drawAll();
    void updatePast();
    if (route.is === 'overview' && before.is === 'persona') focusCard(before.fragment);
  }
}

function focusCard(fragment: string): void {
  listCardLinks()
    .find((a) => a.getAttribute('href') === `#persona=${fragment}`)
    ?.focus();
}

async function openView(fragment: string): Promise<void> {
  if (view === null) {
    const { startView } = await import('./view.ts');
    view ??= startView(getById('view'), () => needToken('action'));
  }
  if (route.is !== 'persona' || route.fragment !== fragment) return; // the person has left in the meantime
  view.open(fragment);
  decisionsPanel.showIn(getPart(getById('view'), '#asks'), fragment);
  projects?.showIn(getPart(getById('view'), '#board'), fragment);
  drawAll();
}

/** The code that draws projects is loaded when there is a project. */
async function openProjects(): Promise<void> {
  const { startProjects } = await import('./projects.ts');
  if (projects !== null) return;
  projects = startProjects(() => needToken('action'), drawAll);
  const place = document.getElementById('board');
  if (route.is === 'persona' && place !== null) projects.showIn(place, route.fragment);
  drawAll();
}

document.addEventListener('logged-out', () => {
  showNotice(
    'This browser was logged out. For a new link choose “Open status page” in the tray menu, or run hivebar open.',
  );
});

/** A one-time link logs this browser in, and is removed from the address and the browser's history. */
async function redeemOnceLink(): Promise<void> {
  const link = parseOnceLink(location.hash);
  if (link === null) return;
  history.replaceState(null, '', link.rest === '' ? location.pathname : `#${link.rest}`);
  if (window.opener !== null) {
    showNotice('Another page opened this link, so it was not used. Open it yourself, or run hivebar open.');
    return;
  }
  try {
    await redeem(link.code);
    getById('notice').hidden = true;
  } catch (error) {
    showNotice(`The link could not be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function showNotice(words: string): void {
  const notice = getById('notice');
  notice.textContent = words;
  notice.hidden = false;
}

/** `closed`: nothing is shown without the token. `action`: something that the person did needs it. */
function needToken(why: 'closed' | 'action' = 'closed'): void {
  if (why === 'action' || form.hidden) form.dataset.why = why; // what a person requested is not removed by news
  if (!form.hidden) return;
  form.hidden = false;
  if (why === 'action') form.querySelector('input')?.focus();
}

/** Requests the history regularly, and when an outage begins or ends. Without an answer nothing is shown. */
async function updatePast(): Promise<void> {
  if (latestStatus === null || document.hidden || route.is !== 'overview') return;
  const status = latestStatus;
  const causesNow = JSON.stringify(status.causes.map(({ key }) => key));
  const now = performance.now();
  const due = now - pastAt >= PAST_EVERY_MS;
  if (!due && causesNow === drawnCauses) return;
  pastAt = now;
  drawnCauses = causesNow;
  await Promise.allSettled([drawPast(listCards()), drawAlerts(status)]); // an older server has neither
}

function drawCauses(status: StatusWire, now: number): void {
  while (causes.children.length > status.causes.length) causes.lastElementChild?.remove();
  for (const [i, cause] of status.causes.entries()) {
    const element = causes.children[i] ?? causes.appendChild(cloneTemplate('cause'));
    fillSlots(element, toCauseSlots(cause, now));
  }
}

function say(words: string | null): void {
  if (words !== null) getById('news').textContent = words;
}

/** If there are more changes than this at once, they are counted and not listed. */
const LISTED = 3;

/**
 * Returns what a screen reader says about a change: who waits, went down, came back, got mail or asks. Null when nothing is worth
 * saying.
 */
function formatAnnouncement(before: StatusWire, after: StatusWire): string | null {
  const previous = new Map(before.personas.map((persona) => [persona.id, persona]));
  const down: string[] = [];
  const back: string[] = [];
  const waiting: string[] = [];
  const mail: string[] = [];
  const attention: string[] = [];
  const boards = new Set(after.projects.map(({ board }) => board));
  for (const persona of after.personas) {
    const old = previous.get(persona.id);
    if (old === undefined) continue;
    if (persona.state === 'DOWN' && old.state !== 'DOWN') down.push(displayName(persona.label));
    if (persona.state === 'UP' && old.state === 'DOWN') back.push(displayName(persona.label));
    if (persona.agent === 'waiting' && old.agent !== 'waiting') waiting.push(displayName(persona.label));
    if ((persona.unread ?? 0) <= (old.unread ?? 0)) continue;
    const number = formatNumber(persona.unread, persona.unreadIs);
    if (boards.has(persona.id)) attention.push(`${displayName(persona.label)}, ${number}`);
    else mail.push(`${displayName(persona.label)}, ${number} unread`);
  }
  const labels = new Map(after.personas.map(({ id, label }) => [id, label]));
  const known = new Set(before.decisions.map(({ id }) => id));
  const asking = after.decisions
    .filter(({ id }) => !known.has(id))
    .map(({ persona }) => displayName(labels.get(persona) ?? persona));
  const parts = [
    formatChange(waiting, 'waiting for you', 'agents'),
    formatChange(down, 'down'),
    formatChange(back, 'up again'),
    formatChange(mail, 'with new mail'),
    formatChange(attention, 'for attention', 'projects'),
    formatChange(asking, 'asking you', 'personas'),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('. ');
}

function formatChange(names: readonly string[], change: string, each = 'inboxes'): string | null {
  if (names.length === 0) return null;
  return names.length > LISTED ? `${names.length} ${each} ${change}` : `${change}: ${names.join('; ')}`;
}

const LIMIT = 50;
const TIMEOUT_MS = 5000;
const MESSAGE_CHARS = 600;
const NAMED = 3;

/** Draws the past outages, newest first, without those that only concern hidden personas. */
async function drawAlerts(status: StatusWire): Promise<void> {
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
