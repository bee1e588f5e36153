import type { StatusWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { drawAlerts } from './alerts.ts';
import { formatAnnouncement } from './announce.ts';
import { startDecisionsPanel } from './decisions.ts';
import { cloneTemplate, fillSlots, getById, getPart } from './dom.ts';
import { drawCards, getCards, listCardLinks, startInboxSearch } from './find.ts';
import { follow } from './live.ts';
import { drawPast } from './past-drawings.ts';
import { hasQuestion, toCauseSlots, toFragment, toSummary } from './present.ts';
import type { Projects } from './projects.ts';
import { parseOnceLink, parseRoute, type Route } from './route.ts';
import { redeem, saveToken } from './token.ts';
import type { InboxView } from './view.ts';

/** Keeps the page that the server sent up to date, and shows one inbox when the address names one. */

const TICK_MS = 1000;
/** The history moves by one slot in this time. */
const PAST_EVERY_MS = 5 * 60_000;

const causes = getById('causes');
const form = getById('token');
const overview = getById('overview');
const find = startInboxSearch(() => drawAll());
const decisionsPanel = startDecisionsPanel(() => needToken('action'));
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
  view?.tokenCame();
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
  fillSlots(document, summary.slots);
  const persona = route.is === 'persona' ? findPersona(latestStatus, route.fragment) : null;
  const title = persona === null ? summary.title : `${displayName(persona.label.slice(0, 100))} · ${summary.title}`;
  if (document.title !== title) document.title = title;
  decisionsPanel.draw(latestStatus, now);
  if (route.is === 'persona') {
    const isBoard = latestStatus.projects.some(({ board }) => board === persona?.id);
    const isAsking = persona !== null && hasQuestion(latestStatus, persona);
    view?.draw(persona, { isBoard, isAsking }, now);
    projects?.draw(latestStatus, persona === null ? [] : [persona], now);
    return;
  }
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
  route = parseRoute(location.hash);
  const isInbox = route.is === 'persona';
  document.documentElement.dataset.view = route.is;
  overview.hidden = isInbox;
  getById('view').hidden = !isInbox;
  if (route.is === 'persona') void openView(route.fragment);
  else if (before.is === 'persona') {
    decisionsPanel.showIn(null, null);
    projects?.showIn(null, null);
    view?.close();
    form.hidden = form.dataset.why !== 'closed';
    drawAll();
    void updatePast();
    listCardLinks()
      .find((a) => a.getAttribute('href') === `#persona=${before.fragment}`)
      ?.focus();
  }
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

/** A one-time link provides the token, and is removed from the address and the browser's history. */
async function redeemOnceLink(): Promise<void> {
  const link = parseOnceLink(location.hash);
  if (link === null) return;
  history.replaceState(null, '', link.rest === '' ? location.pathname : `#${link.rest}`);
  const notice = getById('notice');
  if (window.opener !== null) {
    notice.textContent = 'Another page opened this link, so it was not used. Open it yourself, or run hivebar open.';
    notice.hidden = false;
    return;
  }
  try {
    await redeem(link.code);
    notice.hidden = true;
  } catch (error) {
    notice.textContent = `The link could not be used: ${error instanceof Error ? error.message : String(error)}`;
    notice.hidden = false;
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
  if (latestStatus === null || document.hidden || route.is === 'persona') return;
  const status = latestStatus;
  const causesNow = JSON.stringify(status.causes.map(({ key }) => key));
  const now = performance.now();
  const due = now - pastAt >= PAST_EVERY_MS;
  if (!due && causesNow === drawnCauses) return;
  pastAt = now;
  drawnCauses = causesNow;
  await Promise.allSettled([drawPast(getCards()), drawAlerts(status)]); // an older server has neither
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
