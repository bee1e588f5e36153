import type { MailWire } from '../app/status/wire.ts';
import { displayLine, displayName, displayText, formatFullTime } from '../core/format/index.ts';
import { createButton, createElement, createIsolated } from './element.ts';
import { appendLinkedText } from './links.ts';
import { formatAgo, formatPart, truncate } from './present.ts';

/** What a person can do with one message. */
export interface MailActions {
  toggle(id: number): void;
  reply(message: MailWire): void;
  /** `unread`: as what it is marked. */
  mark(message: MailWire, unread: boolean): void;
  remove(message: MailWire): void;
  openLink(message: MailWire): void;
  /** Loads a text that was cut. */
  loadWhole(message: MailWire): void;
}

/** Which of the actions this inbox allows. */
export interface MailWays {
  readonly canMarkRead: boolean;
  /** The local hive: marking as unread, and deleting. */
  readonly isStored: boolean;
}

export interface ListedMail {
  readonly element: HTMLElement;
  /** Where a reply to it is written. */
  readonly body: HTMLElement;
  draw(message: MailWire, ways: MailWays, isOpen: boolean): void;
  focus(): void;
}

const FROM_CHARS = 200;
const LINE_CHARS = 300;
/** A browser takes seconds for one word of 100,000 characters, so more is shown when it is requested. */
const LIMITS = [1200, 20_000, 1_000_000] as const;
/** A list has so much of a text; more is loaded. */
const SENT_CHARS = 20_000;

export function createMailRow(id: number, actions: MailActions): ListedMail {
  const bodyId = `mail-${id}`;
  const open = createElement('button', { type: 'button', class: 'mail-open', 'aria-controls': bodyId });
  open.addEventListener('click', () => actions.toggle(id));
  const marks = createElement('span', { class: 'mail-marks' });
  const quick = createElement('span', { class: 'mail-quick' });
  const time = createElement('time');
  const head = createElement('div', { class: 'mail-head' }, open, marks, quick, time);
  const content = createElement('div');
  const body = createElement('div', { class: 'mail-body', id: bodyId }, content);
  const element = createElement('li', { class: 'mail', 'data-id': String(id) }, head, body);
  const limits: { most: number } = { most: LIMITS[0] };
  let drawn = '';
  return {
    element,
    body,
    draw(message, ways, isOpen) {
      const key = JSON.stringify([message, ways, isOpen]);
      if (key === drawn) return;
      drawn = key;
      // What Hivebar said to the agent is unread for the agent, and not for the person.
      const unread = message.unread === true && !message.own;
      element.dataset.flags = [unread ? 'unread' : '', message.urgent ? 'urgent' : ''].join(' ').trim();
      open.setAttribute('aria-expanded', String(isOpen));
      open.replaceChildren(
        createElement('span', { class: 'unseen' }, unread ? 'Unread. ' : ''),
        createIsolated('b', formatSender(message), { class: 'mail-from' }),
        ' ',
        createSummary(message),
      );
      marks.replaceChildren(
        ...listMarks(message).map(([shape, words]) => createElement('span', { 'data-look': shape }, words)),
      );
      quick.replaceChildren(...createMarkButton(message, ways, actions));
      drawTime(time, message.at);
      body.hidden = !isOpen;
      const fill = (): void => content.replaceChildren(...createContent(message, ways, actions, limits, fill));
      if (isOpen) fill();
      else content.replaceChildren();
    },
    focus() {
      open.focus();
      element.scrollIntoView({ block: 'nearest' });
    },
  };
}

/** What a person wrote has their name only if Hivebar itself says so. */
export function formatSender({ from, own }: Pick<MailWire, 'from' | 'own'>): string {
  if (own && from === 'operator') return 'You';
  return from === '' ? 'Unknown sender' : truncate(displayName(from), FROM_CHARS);
}

/** The subject, or where there is none the first line of the text; then what follows. */
function createSummary({ subject, text }: MailWire): HTMLElement {
  const line = truncate(displayLine(text.slice(0, LINE_CHARS * 2)), LINE_CHARS);
  const summary = createElement('span', { class: 'mail-summary', dir: 'auto' });
  if (subject !== '')
    summary.append(createIsolated('span', truncate(displayLine(subject), FROM_CHARS), { class: 'mail-subject' }), ' ');
  summary.append(line === '' && subject === '' ? '(no text)' : line);
  return summary;
}

const PRIORITY_MARKS = [['critical', 'Critical'], ['urgent', 'Urgent'], null, ['low', 'Low'], ['low', 'Bulk']] as const;

function listMarks({
  urgent,
  priority,
  question,
  own,
  from,
  unread,
}: MailWire): readonly (readonly [string, string])[] {
  const mark = PRIORITY_MARKS[priority ?? 2] ?? (urgent ? PRIORITY_MARKS[1] : null);
  return [
    ...(question ? [['question', 'Question'] as const] : []),
    ...(mark === null ? [] : [mark]),
    ...(own && unread === true ? [['low', 'Not read by the agent yet'] as const] : []),
    ...(own && from !== 'operator' ? [['low', 'From Hivebar'] as const] : []),
  ];
}

function createMarkButton(message: MailWire, ways: MailWays, actions: MailActions): readonly HTMLElement[] {
  const { unread, id, own } = message;
  if (own || !ways.canMarkRead || (unread === false && !ways.isStored)) return [];
  const words = unread === false ? 'Mark as unread' : 'Mark as read';
  return [
    createButton(words, () => actions.mark(message, unread === false), { 'aria-label': `${words}: message ${id}` }),
  ];
}

function createContent(
  message: MailWire,
  ways: MailWays,
  actions: MailActions,
  limits: { most: number },
  redraw: () => void,
): readonly HTMLElement[] {
  const { id, text, truncated, subject, url, replyTo, replies } = message;
  const whole = displayText(text);
  const place = createIsolated('p', '', { class: 'mail-text' });
  const [first, ...further] = LIMITS;
  const isLong = whole.length > first || truncated;
  const show = (most: number): void => {
    place.replaceChildren();
    // How much more there is, is only known of a text that is whole.
    const shown = truncated ? `${whole.slice(0, most).toWellFormed()} …` : truncate(whole, most);
    appendLinkedText(place, isLong ? shown : whole);
  };
  show(limits.most);
  const next = further.find((most) => most > limits.most);
  const hasMore = isLong && next !== undefined && (truncated || whole.length > limits.most);
  const more = createButton('Show more', () => {
    limits.most = next ?? first;
    if (truncated && limits.most > SENT_CHARS) actions.loadWhole(message);
    else redraw();
  });
  const buttons = createElement('div', { class: 'mail-acts' });
  if (replyTo !== null) {
    const words = `Reply to message ${formatPart(replyTo)}`;
    buttons.append(createButton('Reply', () => actions.reply(message), { 'aria-label': words }));
  }
  buttons.append(...createMarkButton(message, ways, actions));
  if (ways.isStored)
    buttons.append(createButton('Delete', () => actions.remove(message), { 'aria-label': `Delete message ${id}` }));
  // The address is shown, and opened by Hivebar, which checks its scheme.
  if (url !== null) {
    const label = { 'aria-label': `Open the link of message ${id}` };
    buttons.append(createButton('Open link', () => actions.openLink(message), label));
    buttons.append(createIsolated('bdi', formatPart(url), { class: 'mail-link' }));
  }
  return [
    ...(subject === '' ? [] : [createIsolated('p', displayLine(subject), { class: 'mail-title' })]),
    ...(whole === '' ? [] : [place]),
    ...(hasMore ? [more] : []),
    ...replies.map(createReply),
    ...(buttons.hasChildNodes() ? [buttons] : []),
  ];
}

function createReply({ to, text, at }: MailWire['replies'][number]): HTMLElement {
  const time = createElement('time');
  drawTime(time, at);
  const head = createElement(
    'p',
    { class: 'soft' },
    'You replied to ',
    createIsolated('bdi', displayName(to)),
    ' ',
    time,
  );
  const place = createIsolated('p', '', { class: 'mail-text' });
  appendLinkedText(place, truncate(displayText(text), LIMITS[1]));
  return createElement('div', { class: 'mail-reply' }, head, place);
}

export function drawTime(time: HTMLTimeElement, at: string | null): void {
  if (at === null) return;
  time.dateTime = at;
  time.title = formatFullTime(Date.parse(at));
  time.textContent = formatAgo(Math.max(0, Date.now() - Date.parse(at)));
}
