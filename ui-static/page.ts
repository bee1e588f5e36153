import type { MessageWire, StatusWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import type { DecisionsPanel } from './decisions.ts';
import { arrange, cloneTemplate, enableCopy, fillSlots, getById, getPart, setAttribute } from './dom.ts';
import { startInboxFinder } from './find.ts';
import { listNeeding } from './inbox-order.ts';
import { addKeys } from './keyboard.ts';
import { type InboxList, startInboxList } from './list.ts';
import { follow } from './live.ts';
import type { PermissionsPanel } from './permissions.ts';
import { startPlaces } from './places.ts';
import { formatNumber, hasQuestion, toFragment } from './present.ts';
import type { Projects } from './projects.ts';
import { parseOnceLink, parseRoute, type Route } from './route.ts';
import { toCauses, toLostSummary, toSummary } from './summary.ts';
import { hasToken, redeem, saveToken } from './token.ts';
import type { InboxView } from './view.ts';

/** Keeps the page that the server sent up to date, and shows one inbox when the address names one. */

const TICK_MS = 1000;
/** The history moves by one slot in this time. */
const PAST_EVERY_MS = 5 * 60_000;

const causes = getById('causes');
const form = getById('token');
const overview = getById('overview');
const summaryParts = [getById('summary'), getPart(document, 'footer')];
const list: InboxList = startInboxList((group) => finder.toggle(group));
const finder = startInboxFinder(
  () => list,
  () => drawAll(true),
);
const newest = new Map<string, MessageWire>();
const places = startPlaces(() => needToken('action'));
let route: Route = { is: 'overview' };
let latestStatus: StatusWire | null = null;
/** The server does not answer: what is shown is what was. */
let isLost = false;
let decisionsPanel: DecisionsPanel | null = null;
let permissionsPanel: PermissionsPanel | null = null;
let view: InboxView | null = null;
let projects: Projects | null = null;
let pastAt = Number.NEGATIVE_INFINITY;
let drawnCauses = '';
let isDrawing = false;

addCopyButtons();
document.documentElement.dataset.token = hasToken() ? 'yes' : 'no';
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
    drawSoon();
    void updatePast();
    void openPanels(status);
  },
  newest: (messages, changed) => {
    for (const id of changed) {
      const message = Object.hasOwn(messages, id) ? messages[id] : undefined;
      if (message !== undefined) newest.set(id, message);
    }
    drawSoon();
  },
  link: (link, words) => {
    const line = getById('link');
    if (link === 'closed') needToken();
    else if (form.dataset.why !== 'action') form.hidden = true;
    document.documentElement.dataset.link = link;
    if (isLost !== (link === 'lost')) {
      isLost = link === 'lost';
      drawSoon();
    }
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
  decisionsPanel?.tokenCame();
  permissionsPanel?.tokenCame();
  view?.tokenCame();
  places.tokenCame();
  projects?.tokenCame();
});

addKeys('Everywhere', [
  { keys: 'n', words: 'Open the next inbox that needs you', run: openNext },
  { keys: '?', words: 'Show these keys', run: () => void import('./keys.ts').then(({ showKeys }) => showKeys()) },
  {
    keys: 'Escape',
    words: null,
    run() {
      if (route.is === 'overview') return false;
      location.hash = '#personas';
    },
  },
]);

// Ages grow while nothing happens. On a hidden page nobody sees them.
setInterval(() => {
  if (!document.hidden) drawAll();
}, TICK_MS);

/** Draws with the next frame. However many changes come until then, they are drawn once. */
function drawSoon(): void {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    drawAll();
  });
}

/** @param isAsked the person asked for another order of the list */
function drawAll(isAsked = false): void {
  const now = Date.now();
  const status = latestStatus;
  const persona = status !== null && route.is === 'persona' ? findPersona(status, route.fragment) : null;
  drawSummary(status, persona?.label ?? null, now);
  if (status === null) return;
  permissionsPanel?.draw(status, now);
  decisionsPanel?.draw(status, now);
  places.draw(status, now);
  if (route.is === 'persona') {
    const isBoard = status.projects.some(({ board }) => board === persona?.id);
    const isAsking = persona !== null && hasQuestion(status, persona);
    const findSource = (id: string): string | null => status.personas.find((other) => other.id === id)?.source ?? null;
    view?.draw(persona, { isBoard, isAsking, findSource }, now);
    projects?.draw(status, persona === null ? [] : [persona], now);
  }
  if (route.is !== 'overview') return;
  drawCauses(status, now);
  const matches = finder.match(status.personas);
  const boards = projects?.draw(status, matches, now) ?? new Map<string, HTMLElement>();
  arrange(getById('boards'), [...boards.values()]);
  const items = finder.order(
    matches.filter(({ source }) => !boards.has(source)),
    status,
  );
  list.draw(items, { status, newest, now, isAsked });
}

/** The headline says at once when the server does not answer. */
function drawSummary(status: StatusWire | null, persona: string | null, now: number): void {
  if (status === null && !isLost) return; // what the server wrote is still right
  const known = status === null ? null : toSummary(status);
  if (known !== null) document.documentElement.dataset.look = known.shape;
  const { title, slots } = isLost || known === null ? toLostSummary(status?.generatedAt ?? null, now) : known;
  for (const part of summaryParts) fillSlots(part, slots);
  const health = getPart(document, '.health');
  health.hidden = slots.health === null;
  setAttribute(health, 'aria-label', slots.healthWords ?? '');
  setAttribute(health, 'title', slots.healthWords ?? '');
  const whole = persona === null ? title : `${displayName(persona.slice(0, 100))} · ${title}`;
  if (document.title !== whole) document.title = whole;
}

/** Opens the inbox that needs the person most; in the view of one that needs the person, the one after it. */
function openNext(): void {
  const needing = latestStatus === null ? [] : listNeeding(latestStatus).map(({ id }) => toFragment(id));
  const at = route.is === 'persona' ? needing.indexOf(route.fragment) : -1;
  const next = needing[(at + 1) % needing.length];
  if (next === undefined) say('No inbox needs you');
  else location.hash = `#persona=${next}`;
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
  if (before.is === 'decisions' && route.is !== 'decisions') decisionsPanel?.showIn(null, null);
  if (before.is === 'persona' && route.is !== 'persona') {
    decisionsPanel?.showIn(null, null);
    projects?.showIn(null, null);
    view?.close();
  }
  void places.show(route).then(() => {
    placeDecisions();
    drawAll();
  });
  if (route.is === 'persona') void openView(route.fragment, route.message);
  else if (before.is !== 'overview') {
    form.hidden = form.dataset.why !== 'closed';
    drawAll();
    void updatePast();
    if (route.is === 'overview' && before.is === 'persona') focusCard(before.fragment);
  }
}

function focusCard(fragment: string): void {
  const persona = latestStatus === null ? null : findPersona(latestStatus, fragment);
  if (persona !== null) list.focus(persona.id);
  document.querySelector<HTMLElement>(`#boards a[href="#persona=${CSS.escape(fragment)}"]`)?.focus();
}

async function openView(fragment: string, message: number | null): Promise<void> {
  if (view === null) {
    const { startView } = await import('./view.ts');
    view ??= startView(getById('view'), () => needToken('action'));
  }
  if (route.is !== 'persona' || route.fragment !== fragment) return; // the person has left in the meantime
  view.open(fragment, message);
  decisionsPanel?.showIn(getPart(getById('view'), '#asks'), fragment);
  projects?.showIn(getPart(getById('view'), '#board'), fragment);
  drawAll();
}

/** The code of these is loaded when there is something for it to show. */
async function openPanels({ decisions, permissions, projects: boards }: StatusWire): Promise<void> {
  const isAsked = decisions.length > 0 || getById('asked').firstElementChild !== null;
  const needing = [
    ...(isAsked && decisionsPanel === null ? [openDecisions()] : []),
    ...(permissions.length > 0 && permissionsPanel === null ? [openPermissions()] : []),
    ...(boards.length > 0 && projects === null ? [openProjects()] : []),
  ];
  await Promise.all(needing);
  if (needing.length > 0) drawAll();
}

async function openDecisions(): Promise<void> {
  const { startDecisionsPanel } = await import('./decisions.ts');
  if (decisionsPanel !== null) return;
  decisionsPanel = startDecisionsPanel(() => needToken('action'));
  const place = document.getElementById('asks');
  if (route.is === 'persona' && place !== null) decisionsPanel.showIn(place, route.fragment);
  placeDecisions();
}

/** The view of decisions begins with those that are open. */
function placeDecisions(): void {
  const place = document.getElementById('open-decisions');
  if (route.is === 'decisions' && place !== null) decisionsPanel?.showIn(place, null);
}

async function openPermissions(): Promise<void> {
  const { startPermissionsPanel } = await import('./permissions.ts');
  permissionsPanel ??= startPermissionsPanel(() => needToken('action'));
}

async function openProjects(): Promise<void> {
  const { startProjects } = await import('./projects.ts');
  if (projects !== null) return;
  projects = startProjects(() => needToken('action'), drawSoon);
  const place = document.getElementById('board');
  if (route.is === 'persona' && place !== null) projects.showIn(place, route.fragment);
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

/** Each command of an empty install can be copied. */
function addCopyButtons(): void {
  for (const command of document.querySelectorAll('.empty pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.hidden = true;
    enableCopy(button, () => command.textContent ?? '');
    command.after(button);
  }
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
  const { drawAlerts, drawPast } = await import('./past-drawings.ts');
  await Promise.allSettled([drawPast(list.listCards()), drawAlerts(status)]); // an older server has neither
}

function drawCauses(status: StatusWire, now: number): void {
  const slots = toCauses(status, now);
  while (causes.children.length > slots.length) causes.lastElementChild?.remove();
  for (const [i, cause] of slots.entries()) {
    fillSlots(causes.children[i] ?? causes.appendChild(cloneTemplate('cause')), cause);
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
