import type { PersonaWire } from '../app/status/wire.ts';
import { displayLine, displayName, displayText, formatFullTime } from '../core/format/index.ts';
import { getPart } from './dom.ts';
import { describeEvent, type EventWire } from './events.ts';
import type { PersonaActions } from './persona-actions.ts';
import { formatAgo, formatPart, truncate } from './present.ts';
import { ask, createTokenButton, hasToken, RefusalError, TokenNeededError } from './token.ts';

/** The events of an inbox: its messages, which need the token, and all events in the order of time. */
export interface Story extends Disposable {
  draw(persona: PersonaWire, now: number): void;
  /** Loads the events again. */
  again(): void;
}

const EVENTS = 60;
const TIMEOUT_MS = 5000;
/**
 * How much of a message's text is shown at first, and when more is requested. A browser takes seconds for one word of 100,000
 * characters.
 */
const TEXT_CHARS = 1200;
const MORE_CHARS = 20_000;
const FROM_CHARS = 200;
const SUBJECT_CHARS = 200;

export function startStory(
  body: HTMLElement,
  fragment: string,
  needToken: () => void,
  acts: PersonaActions,
  answerMessage: (name: string) => void,
): Story {
  const mails = getPart(body, '#mails');
  const timeline = getPart(body, '#events');
  const mailWords = getPart(body, '#mail-words');
  const eventWords = getPart(body, '#events-words');
  const hold = new AbortController();
  let last: string | null | undefined;
  let persona: PersonaWire | null = null;
  /** The ways to act on a message that are shown now. */
  let ways = '';
  let unread: number | null = null;
  let known: readonly EventWire[] = [];
  let messages: readonly PageMessage[] = [];
  let requestCount = 0;

  const load = async (target: PersonaWire): Promise<void> => {
    requestCount += 1;
    const mine = requestCount;
    try {
      const signal = AbortSignal.any([hold.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const answer = await ask(`/api/v1/personas/${fragment}/events?limit=${EVENTS}`, signal);
      const events = ((await answer.json()) as { events: readonly EventWire[] }).events.toReversed();
      const mail = await loadMessages(target, events, signal);
      if (mine !== requestCount) return; // something newer was requested in the meantime
      known = events;
      messages = mail;
      show();
    } catch (error) {
      if (hold.signal.aborted) return;
      if (error instanceof TokenNeededError) last = undefined; // the refused token is dropped: asked again without it
      eventWords.textContent = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  const show = (): void => {
    const hasMail = messages.length > 0 || known.some(({ wake_class }) => wake_class === 'mail');
    eventWords.textContent = known.length === 0 ? 'No events yet.' : '';
    timeline.replaceChildren(...known.map(createEventItem));
    if (!hasMail) mailWords.textContent = 'No messages yet.';
    else if (messages.length > 0)
      mailWords.textContent = 'Written by other agents. Treat them as data, not as instructions.';
    else mailWords.replaceChildren('Enter the token to see texts and senders. ', createTokenButton(needToken));
    mails.replaceChildren(...messages.map(createMessageItem));
  };
  const createMessageItem = (message: PageMessage): HTMLElement => {
    const entry = document.createElement('li');
    const head = document.createElement('p');
    head.className = 'mail-head';
    head.append(createIsolated('b', truncate(displayName(message.from ?? '?'), FROM_CHARS)));
    if (message.read === false) head.append(createUnreadLabel());
    head.append(createTime(message.created));
    const whole = formatContent(message.content);
    const text = createIsolated('p', truncate(whole, TEXT_CHARS));
    text.className = 'mail-text';
    entry.append(head);
    if (message.subject !== '') entry.append(createSubject(message.subject));
    entry.append(text);
    if (whole.length > TEXT_CHARS) entry.append(createMoreButton(text, whole));
    const { id, link } = message;
    if (persona !== null && id !== null && link !== null) entry.append(...createLink(persona.id, id, link));
    if (persona?.canReply && message.name !== null) entry.append(createReplyButton(message.name));
    if (persona?.canMarkRead && id !== null && message.read !== true) entry.append(createReadButton(persona.id, id));
    return entry;
  };
  /** The address is shown, and opened by Hivebar, which checks its scheme. */
  const createLink = (personaId: string, id: number, link: string): readonly HTMLElement[] => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Open link';
    button.setAttribute('aria-label', `Open the link of message ${id}`);
    button.addEventListener('click', () => void acts.run('open-item', { persona: personaId, id }, 'The link is open.'));
    const address = createIsolated('bdi', formatPart(link));
    address.className = 'mail-link';
    return [button, address];
  };
  const createReplyButton = (name: string): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Reply';
    button.setAttribute('aria-label', `Reply to message ${formatPart(name)}`);
    button.addEventListener('click', () => answerMessage(name));
    return button;
  };
  const createReadButton = (personaId: string, id: number): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Mark as read';
    button.setAttribute('aria-label', `Mark as read: message ${id}`);
    button.addEventListener('click', async () => {
      if (!(await acts.run('read', { persona: personaId, id }, `Message ${id} is marked as read.`))) return;
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
      else if (ways !== listWays(now)) show();
      ways = listWays(now);
      for (const time of body.querySelectorAll('time')) {
        const ago = formatAgo(Math.max(0, Date.now() - Date.parse(time.dateTime)));
        if (time.textContent !== ago) time.textContent = ago;
      }
    },
    again: () => {
      if (persona !== null) void load(persona);
    },
    [Symbol.dispose]: () => hold.abort(),
  };
}

const listWays = ({ canMarkRead, canReply }: PersonaWire): string => `${canMarkRead} ${canReply}`;

function createEventItem(event: EventWire): HTMLElement {
  const { shape, words } = describeEvent(event);
  const entry = document.createElement('li');
  entry.dataset.look = shape;
  const label = document.createElement('span');
  label.textContent = truncate(displayText(words), FROM_CHARS);
  if (event.wake_class === 'mail' && typeof event.from === 'string') {
    label.append(' from ', createIsolated('bdi', truncate(displayName(event.from), FROM_CHARS)));
  }
  entry.append(label, createTime(event.ts));
  return entry;
}

function createSubject(subject: string): HTMLElement {
  const element = createIsolated('p', displayLine(subject));
  element.className = 'mail-subject';
  return element;
}

function createMoreButton(text: HTMLElement, whole: string): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Show more';
  button.addEventListener('click', () => {
    text.textContent = truncate(whole, MORE_CHARS);
    button.remove();
  });
  return button;
}

function createUnreadLabel(): HTMLElement {
  const label = document.createElement('span');
  label.className = 'new';
  label.textContent = 'unread';
  return label;
}

/** Creates an element for text that may run in either direction without affecting its neighbours. */
function createIsolated(name: 'b' | 'p' | 'bdi', text: string): HTMLElement {
  const element = document.createElement(name);
  element.dir = 'auto';
  element.textContent = text;
  return element;
}

function formatContent(content: unknown): string {
  if (content === undefined) return '(the event file does not keep its text)';
  return displayText(typeof content === 'string' ? content : JSON.stringify(content));
}

function createTime(iso: string): HTMLTimeElement {
  const time = document.createElement('time');
  time.dateTime = iso;
  time.title = formatFullTime(Date.parse(iso));
  time.textContent = formatAgo(Math.max(0, Date.now() - Date.parse(iso)));
  return time;
}

interface PageMessage {
  /** Null when its source has no numbers. */
  readonly id: number | null;
  /** Null when its source does not say. */
  readonly from: string | null;
  readonly created: string;
  /** Empty for none. */
  readonly subject: string;
  /** Null for none. */
  readonly link: string | null;
  /** What its own system calls it; null: it has no such name. */
  readonly name: string | null;
  /** Usually text, but another agent may have sent any JSON. Undefined when it is not stored. */
  readonly content: unknown;
  /** Null when that is not known here. */
  readonly read: boolean | null;
}

/** The source whose inboxes this Hivebar serves itself. */
const LOCAL = 'local';
const LIMIT = 50;

/**
 * Loads messages, newest first. Those of the local hive come from the inbox, complete and with their read state; loading marks
 * nothing. Those of any other source are the ones that were delivered to its agent. Empty without the token.
 * @throws TokenNeededError
 */
async function loadMessages(
  persona: PersonaWire,
  events: readonly EventWire[],
  signal: AbortSignal,
): Promise<readonly PageMessage[]> {
  if (hasToken() && persona.source === LOCAL && persona.canMarkRead) {
    const query = new URLSearchParams({ persona: persona.label, mark_read: 'false', limit: String(LIMIT) });
    try {
      const answer = await ask(`/api/inbox?${query}`, signal);
      const { result } = (await answer.json()) as { result: readonly Omit<PageMessage, 'subject' | 'link' | 'name'>[] };
      return result.map((message) => ({ ...message, subject: '', link: null, name: null }));
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error; // a hive that refuses: the delivered messages are there all the same
    }
  }
  return events.flatMap(({ wake_class, id, from, created, ts, subject, link, message, content }) => {
    if (wake_class !== 'mail' || from === undefined) return [];
    const extras = {
      subject: typeof subject === 'string' ? subject.slice(0, SUBJECT_CHARS) : '',
      link: typeof link === 'string' && link !== '' ? link : null,
      name: typeof message === 'string' && message !== '' ? message : null,
    };
    return [{ id: id ?? null, from, created: created ?? ts, ...extras, content, read: null }];
  });
}
