import type { StatusWire } from '../app/status/wire.ts';
import { displayName } from '../core/format/index.ts';
import { drawAlerts } from './alerts.ts';
import { announcementOf } from './announce.ts';
import { allCards, cardLinks, drawCards } from './cards.ts';
import { startAsked } from './decisions.ts';
import { byId, cloneOf, fill, part } from './dom.ts';
import { startFind } from './find.ts';
import { follow } from './live.ts';
import { drawPast } from './past.ts';
import { causeOf, fragmentOf, summaryOf } from './present.ts';
import type { Projects } from './projects.ts';
import { onceOf, type Route, routeOf } from './route.ts';
import { keepToken, redeem } from './token.ts';
import type { View } from './view.ts';

/** Keeps the page the server sent up to date, and shows one inbox of it when the address names one. */

const TICK_MS = 1000;
/** History moves by a slot in so much time. */
const PAST_EVERY_MS = 5 * 60_000;

const causes = byId('causes');
const form = byId('token');
const overview = byId('overview');
const find = startFind(() => drawAll());
const asked = startAsked(() => needToken('action'));
let route: Route = { is: 'overview' };
let latest: StatusWire | null = null;
let view: View | null = null;
let projects: Projects | null = null;
let pastAt = Number.NEGATIVE_INFINITY;
let alertsOf = '';

await once();
goTo();
window.addEventListener('hashchange', async () => {
  await once();
  goTo();
});

const lookNow = follow({
  status: (status) => {
    if (latest !== null) say(announcementOf(latest, status));
    latest = status;
    drawAll();
    void past();
    if (status.projects.length > 0 && projects === null) void openProjects();
  },
  link: (link, words) => {
    const line = byId('link');
    if (link === 'closed') needToken();
    else if (form.dataset.why !== 'action') form.hidden = true;
    document.documentElement.dataset.link = link;
    if (line.dataset.link === link && line.lastElementChild?.textContent === words) return;
    line.dataset.link = link;
    fill(line, { link: words });
  },
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const given = form.querySelector('input');
  if (given === null) return;
  keepToken(given.value);
  given.value = '';
  delete form.dataset.why;
  form.hidden = true;
  pastAt = Number.NEGATIVE_INFINITY;
  lookNow();
  asked.tokenCame();
  view?.tokenCame();
  projects?.tokenCame();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || route.is === 'overview' || document.activeElement?.matches('input, textarea') === true)
    return;
  location.hash = '#personas';
});

// Ages grow while nothing happens; nobody sees them grow on a hidden page.
setInterval(() => {
  if (!document.hidden) drawAll();
}, TICK_MS);

function drawAll(): void {
  if (latest === null) return;
  const now = Date.now();
  const summary = summaryOf(latest);
  document.documentElement.dataset.look = summary.look;
  fill(document, summary.slots);
  const of = route.is === 'persona' ? personaOf(latest, route.fragment) : null;
  const title = of === null ? summary.title : `${displayName(of.label.slice(0, 100))} · ${summary.title}`;
  if (document.title !== title) document.title = title;
  asked.draw(latest, now);
  if (route.is === 'persona') {
    const isBoard = latest.projects.some(({ board }) => board === of?.id);
    view?.draw(of, isBoard, now);
    projects?.draw(latest, of === null ? [] : [of], now);
    return;
  }
  const found = find.among(latest.personas);
  drawCauses(latest, now);
  drawCards(found, latest.personas, projects?.draw(latest, found, now) ?? new Map(), now);
}

function personaOf({ personas }: StatusWire, fragment: string): StatusWire['personas'][number] | null {
  return personas.find(({ id }) => fragmentOf(id) === fragment) ?? null;
}

/** Shows what the address names. The view of one inbox is loaded when the first is opened. */
function goTo(): void {
  const before = route;
  route = routeOf(location.hash);
  const one = route.is === 'persona';
  document.documentElement.dataset.view = route.is;
  overview.hidden = one;
  byId('view').hidden = !one;
  if (route.is === 'persona') void openView(route.fragment);
  else if (before.is === 'persona') {
    asked.showIn(null, null);
    projects?.showIn(null, null);
    view?.close();
    form.hidden = form.dataset.why !== 'closed';
    drawAll();
    void past();
    cardLinks()
      .find((a) => a.getAttribute('href') === `#persona=${before.fragment}`)
      ?.focus();
  }
}

async function openView(fragment: string): Promise<void> {
  if (view === null) {
    const { startView } = await import('./view.ts');
    view ??= startView(byId('view'), () => needToken('action'));
  }
  if (route.is !== 'persona' || route.fragment !== fragment) return; // left meanwhile
  view.open(fragment);
  asked.showIn(part(byId('view'), '#asks'), fragment);
  projects?.showIn(part(byId('view'), '#board'), fragment);
  drawAll();
}

/** Projects are drawn by a part of the page that is loaded when there is one. */
async function openProjects(): Promise<void> {
  const { startProjects } = await import('./projects.ts');
  if (projects !== null) return;
  projects = startProjects(() => needToken('action'), drawAll);
  const place = document.getElementById('board');
  if (route.is === 'persona' && place !== null) projects.showIn(place, route.fragment);
  drawAll();
}

/** A one-time link gives the token, and leaves nothing of itself in the address or the browser's history. */
async function once(): Promise<void> {
  const link = onceOf(location.hash);
  if (link === null) return;
  history.replaceState(null, '', link.rest === '' ? location.pathname : `#${link.rest}`);
  const notice = byId('notice');
  if (window.opener !== null) {
    notice.textContent = 'Another page opened this link, so it was not used: open it yourself, or run hivebar open.';
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

/** `closed`: nothing is shown without it. `action`: it was asked for by something the person did. */
function needToken(why: 'closed' | 'action' = 'closed'): void {
  if (why === 'action' || form.hidden) form.dataset.why = why; // what a person asked for is not taken away by news
  if (!form.hidden) return;
  form.hidden = false;
  if (why === 'action') form.querySelector('input')?.focus();
}

/** What was: it is asked for now and then, and when an outage begins or ends. Where there is none, nothing is shown. */
async function past(): Promise<void> {
  if (latest === null || document.hidden || route.is === 'persona') return;
  const status = latest;
  const causesNow = JSON.stringify(status.causes.map(({ key }) => key));
  const now = performance.now();
  const due = now - pastAt >= PAST_EVERY_MS;
  if (!due && causesNow === alertsOf) return;
  pastAt = now;
  alertsOf = causesNow;
  await Promise.allSettled([drawPast(allCards()), drawAlerts(status)]); // an older server has neither
}

function drawCauses(status: StatusWire, now: number): void {
  while (causes.children.length > status.causes.length) causes.lastElementChild?.remove();
  for (const [i, cause] of status.causes.entries()) {
    const element = causes.children[i] ?? causes.appendChild(cloneOf('cause'));
    fill(element, causeOf(cause, now));
  }
}

function say(words: string | null): void {
  if (words !== null) byId('news').textContent = words;
}
