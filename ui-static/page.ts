import type { StatusWire } from '../app/status/wire.ts';
import { announcementOf } from './announce.ts';
import { follow } from './live.ts';
import { type Card, cardOf, causeOf, hasManySources, inOrder, type Slots, summaryOf } from './present.ts';
import { keepToken } from './token.ts';

/** Keeps the page the server sent up to date. All text goes in as text; there is no markup in any value. */

const TICK_MS = 1000;

const cards = byId('personas');
const causes = byId('causes');
const form = byId('token');
const shown = new Map<string, HTMLElement>();
let latest: StatusWire | null = null;

for (const card of cards.querySelectorAll<HTMLElement>('.card')) {
  shown.set(card.dataset.id ?? '', card);
  ready(card);
}

const lookNow = follow({
  status: (status) => {
    if (latest !== null) say(announcementOf(latest, status));
    latest = status;
    draw(status);
  },
  link: (link, words) => {
    const line = byId('link');
    form.hidden = link !== 'closed';
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
  lookNow();
});

// Ages grow while nothing happens; nobody sees them grow on a hidden page.
setInterval(() => {
  if (latest !== null && !document.hidden) draw(latest);
}, TICK_MS);

function draw(status: StatusWire): void {
  const now = Date.now();
  const summary = summaryOf(status);
  document.documentElement.dataset.look = summary.look;
  if (document.title !== summary.title) document.title = summary.title;
  fill(document, summary.slots);
  drawCauses(status, now);
  const many = hasManySources(status);
  const order = inOrder(status.personas).map((persona) => drawCard(cardOf(persona, now, many)));
  const ids = new Set(status.personas.map(({ id }) => id));
  for (const [id, card] of shown) {
    if (ids.has(id)) continue;
    card.remove();
    shown.delete(id);
  }
  place(order);
}

function drawCard(card: Card): HTMLElement {
  let element = shown.get(card.id);
  if (element === undefined) {
    element = cloneOf('card');
    element.dataset.id = card.id;
    shown.set(card.id, element);
    ready(element);
  }
  if (element.dataset.look !== card.look) {
    element.dataset.look = card.look;
    element.querySelector('use')?.setAttribute('href', `#${card.look}`);
  }
  if (element.dataset.flags !== card.flags) element.dataset.flags = card.flags;
  fill(element, card.slots);
  return element;
}

/** Cards do not move away under a pointer or a keyboard; they find their place when it has left. */
function place(order: readonly HTMLElement[]): void {
  if (order.every((card, i) => cards.children[i] === card)) return;
  const busy = cards.matches(':hover') || cards.contains(document.activeElement);
  if (busy) cards.append(...order.filter((card) => !card.isConnected));
  else cards.replaceChildren(...order);
}

function drawCauses(status: StatusWire, now: number): void {
  while (causes.children.length > status.causes.length) causes.lastElementChild?.remove();
  for (const [i, cause] of status.causes.entries()) {
    const element = causes.children[i] ?? causes.appendChild(cloneOf('cause'));
    fill(element, causeOf(cause, now));
  }
}

function fill(root: ParentNode, slots: Slots): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-slot]')) {
    const text = slots[element.dataset.slot ?? ''];
    if (text === undefined) continue;
    if (element.hidden !== (text === null)) element.hidden = text === null;
    if (element.textContent !== (text ?? '')) element.textContent = text;
  }
}

/** What works only with a script: copying the follow command. */
function ready(card: HTMLElement): void {
  const button = card.querySelector<HTMLButtonElement>('.copy');
  const command = card.querySelector('[data-slot="command"]');
  const name = card.querySelector('[data-slot="name"]');
  if (button === null || command === null || navigator.clipboard === undefined) return;
  button.hidden = false;
  button.addEventListener('click', async () => {
    button.setAttribute('aria-label', `Copy the follow command of ${name?.textContent ?? ''}`);
    try {
      await navigator.clipboard.writeText(command.textContent ?? '');
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed'; // the browser or the person said no; the command can still be selected
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}

function say(words: string | null): void {
  if (words !== null) byId('news').textContent = words;
}

function cloneOf(id: string): HTMLElement {
  const template = document.getElementById(id);
  const first = template instanceof HTMLTemplateElement ? template.content.firstElementChild : null;
  if (first === null) throw new Error(`the page has no template ${id}`);
  return document.importNode(first, true) as HTMLElement;
}

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}
