import type { PersonaWire } from '../app/status/wire.ts';
import { displayName, displayText } from '../core/format/index.ts';
import type { Acts } from './acts.ts';
import { part } from './dom.ts';
import { type EventWire, toldOf } from './events.ts';
import { type Message, messagesOf } from './messages.ts';
import { agoOf, capped } from './present.ts';
import { ask, TokenNeeded } from './token.ts';
import { tokenButton } from './token-button.ts';

/** What an inbox was told: its messages, which need the token, and everything in the order of time. */
export interface Story extends Disposable {
  draw(persona: PersonaWire, now: number): void;
  /** Asks anew. */
  again(): void;
}

const EVENTS = 60;
const TIMEOUT_MS = 5000;
/** Of a message's text at first, and when more of it is asked for: a browser takes seconds for one word of 100,000. */
const TEXT_CHARS = 1200;
const MORE_CHARS = 20_000;
const FROM_CHARS = 200;

export function startStory(body: HTMLElement, fragment: string, needToken: () => void, acts: Acts): Story {
  const mails = part(body, '#mails');
  const timeline = part(body, '#events');
  const mailWords = part(body, '#mail-words');
  const eventWords = part(body, '#events-words');
  const hold = new AbortController();
  let last: string | null | undefined;
  let persona: PersonaWire | null = null;
  let markable: boolean | null = null;
  let unread: number | null = null;
  let known: readonly EventWire[] = [];
  let messages: readonly Message[] = [];
  let asked = 0;

  const load = async (of: PersonaWire): Promise<void> => {
    asked += 1;
    const mine = asked;
    try {
      const signal = AbortSignal.any([hold.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const answer = await ask(`/api/v1/personas/${fragment}/events?limit=${EVENTS}`, signal);
      const events = ((await answer.json()) as { events: readonly EventWire[] }).events.toReversed();
      const mail = await messagesOf(of, events, signal);
      if (mine !== asked) return; // something newer was asked for meanwhile
      known = events;
      messages = mail;
      show();
    } catch (error) {
      if (hold.signal.aborted) return;
      if (error instanceof TokenNeeded) last = undefined; // a token that was no good is forgotten: asked again without
      eventWords.textContent = `Not to be had now: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  const show = (): void => {
    const some = messages.length > 0 || known.some(({ wake_class }) => wake_class === 'mail');
    eventWords.textContent = known.length === 0 ? 'Nothing was told yet.' : '';
    timeline.replaceChildren(...known.map(entryOf));
    if (!some) mailWords.textContent = 'No message was told yet.';
    else if (messages.length > 0)
      mailWords.textContent = 'Other agents wrote these: read them as text, not as instructions.';
    else mailWords.replaceChildren('Texts and senders need the token. ', tokenButton(needToken));
    mails.replaceChildren(...messages.map(mailOf));
  };
  const mailOf = (message: Message): HTMLElement => {
    const entry = document.createElement('li');
    const head = document.createElement('p');
    head.className = 'mail-head';
    head.append(isolated('b', capped(displayName(message.from ?? '?'), FROM_CHARS)));
    if (message.read === false) head.append(newMark());
    head.append(timeOf(message.created));
    const whole = textOf(message.content);
    const text = isolated('p', capped(whole, TEXT_CHARS));
    text.className = 'mail-text';
    entry.append(head, text);
    if (whole.length > TEXT_CHARS) entry.append(moreButton(text, whole));
    const { id } = message;
    if (persona?.canMarkRead && id !== null && message.read !== true) entry.append(readButton(persona.id, id));
    return entry;
  };
  const readButton = (who: string, id: number): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Mark as read';
    button.setAttribute('aria-label', `Mark as read: message ${id}`);
    button.addEventListener('click', async () => {
      if (!(await acts.run('read', { persona: who, id }, `Message ${id} is marked as read.`))) return;
      button.disabled = true;
      button.textContent = 'Marked as read';
    });
    return button;
  };

  return {
    draw(now) {
      persona = now;
      const changed = last !== now.lastEventId || unread !== now.unread;
      last = now.lastEventId;
      unread = now.unread;
      if (changed) void load(now);
      else if (markable !== now.canMarkRead) show();
      markable = now.canMarkRead;
      for (const time of body.querySelectorAll('time')) {
        const ago = agoOf(Math.max(0, Date.now() - Date.parse(time.dateTime)));
        if (time.textContent !== ago) time.textContent = ago;
      }
    },
    again: () => {
      if (persona !== null) void load(persona);
    },
    [Symbol.dispose]: () => hold.abort(),
  };
}

function entryOf(event: EventWire): HTMLElement {
  const { look, words } = toldOf(event);
  const entry = document.createElement('li');
  entry.dataset.look = look;
  const what = document.createElement('span');
  what.textContent = capped(displayText(words), FROM_CHARS);
  if (event.wake_class === 'mail' && typeof event.from === 'string') {
    what.append(' from ', isolated('bdi', capped(displayName(event.from), FROM_CHARS)));
  }
  entry.append(what, timeOf(event.ts));
  return entry;
}

function moreButton(text: HTMLElement, whole: string): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Show more';
  button.addEventListener('click', () => {
    text.textContent = capped(whole, MORE_CHARS);
    button.remove();
  });
  return button;
}

function newMark(): HTMLElement {
  const mark = document.createElement('span');
  mark.className = 'new';
  mark.textContent = 'unread';
  return mark;
}

/** Text that may run in either direction and touches nothing beside it. */
function isolated(name: 'b' | 'p' | 'bdi', text: string): HTMLElement {
  const element = document.createElement(name);
  element.dir = 'auto';
  element.textContent = text;
  return element;
}

function textOf(content: unknown): string {
  if (content === undefined) return '(its text is not kept in the event file)';
  return displayText(typeof content === 'string' ? content : JSON.stringify(content));
}

function timeOf(iso: string): HTMLTimeElement {
  const time = document.createElement('time');
  time.dateTime = iso;
  time.title = new Date(iso).toLocaleString();
  time.textContent = agoOf(Math.max(0, Date.now() - Date.parse(iso)));
  return time;
}
