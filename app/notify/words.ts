import { displayName, formatDuration } from '../../core/format/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import type { Announced, Cause } from './announced.ts';
import { ANSWERS, type Banner, type Button, decisionKey, mailKey, outageKey } from './banner.ts';
import { BODY_POINTS, isolated, lineOfText, NAME_POINTS, pointsOf } from './text.ts';

/** From here on a recovery says when it was. */
const TOLD_LATE_MS = 60_000;
/** What a button has room for. */
const BUTTON_POINTS = 40;
/** So many options of a decision have a button. */
export const MOST_ANSWERS = ANSWERS.length;
/** The names that are listed before "and 57 more". */
const NAMES_LISTED = 3;

/** The newest mail of a banner, as it came. */
export interface Latest {
  readonly id: number;
  readonly from: string;
  /** Null when the events carry no content. */
  readonly text: string | null;
}

export interface MailSaid {
  readonly persona: PersonaId;
  readonly label: string;
  readonly count: number;
  readonly urgent: boolean;
  readonly latest: Latest;
  readonly canMarkRead: boolean;
}

/** `ada: 3 new`, and below it the latest mail's sender and first words. */
export function mailBanner(said: MailSaid): Banner {
  return {
    key: mailKey(said.persona),
    is: 'mail',
    title: `${name(said.label)}: ${said.count} new${said.urgent ? ', urgent' : ''}`,
    body: latestOf(said.latest),
    urgency: said.urgent ? 'high' : 'normal',
    opens: { is: 'persona', persona: said.persona },
    buttons: [openButton(said.persona), ...(said.canMarkRead ? [readButton(said)] : []), muteButton(said.persona)],
  };
}

/** One banner for everybody whose own would have been one too many at once. */
export function crowdBanner(labels: readonly string[], count: number, urgent: boolean, besideOthers: boolean): Banner {
  return {
    key: 'crowd',
    is: 'mail',
    title: `${labels.length} ${besideOthers ? 'more ' : ''}${labels.length === 1 ? 'persona has' : 'personas have'} mail: ${count} new${urgent ? ', urgent' : ''}`,
    body: listOf(labels),
    urgency: urgent ? 'high' : 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** `hive down: 60 personas`, and below it what was wrong and what to do next. */
export function outageBanner(cause: Cause, labels: readonly string[], why: string): Banner {
  return {
    key: outageKey(cause.key),
    is: 'outage',
    title: subject(cause, labels, 'down'),
    body: labels.length > 1 ? reasonFor(labels, why) : why,
    urgency: 'critical',
    opens: opensOf(cause),
    buttons: buttonsOf(cause),
  };
}

/** `hive is back: 60 personas`, and below it how long it was down, and since when it is back if that is not just now. */
export function recoveryBanner(
  announced: Announced,
  labels: readonly string[],
  downForMs: number,
  backForMs: number,
): Banner {
  const back = backForMs < TOLD_LATE_MS ? '' : `, back for ${formatDuration(backForMs)}`;
  return {
    key: outageKey(announced.cause.key),
    is: 'recovery',
    title: subject(announced.cause, labels, 'is back'),
    body: `Down for ${formatDuration(downForMs)}${back}.`,
    urgency: 'normal',
    opens: opensOf(announced.cause),
    buttons: buttonsOf(announced.cause),
  };
}

/** What a decision's banner is made of; all of it is untrusted. */
export interface DecisionSaid {
  readonly id: number;
  readonly persona: PersonaId;
  readonly label: string;
  /** It has a page of its own. */
  readonly isWatched: boolean;
  readonly prompt: string;
  readonly options: readonly { readonly id: string; readonly short: string }[];
  readonly isPressing: boolean;
}

/** `ada asks`, and below it the question; a button an option, of the first ones. */
export function decisionBanner({ id, persona, label, isWatched, prompt, options, isPressing }: DecisionSaid): Banner {
  const buttons = ANSWERS.flatMap((answer, i): Button[] => {
    const option = options[i];
    if (option === undefined) return [];
    const text = lineOfText(option.short, BUTTON_POINTS) || option.id;
    return [{ id: answer, label: text, wants: { name: 'decide', params: { decision: id, select: option.id } } }];
  });
  return {
    key: decisionKey(id),
    is: 'decision',
    title: `${name(label)} asks`,
    body: isolated(lineOfText(prompt, BODY_POINTS)),
    urgency: isPressing ? 'critical' : 'normal',
    opens: isWatched ? { is: 'persona', persona } : { is: 'overview' },
    buttons,
  };
}

/** One banner for those whose own would have been one too many at once. `labels`: who asks, each once. */
export function decisionsBanner(
  labels: readonly string[],
  count: number,
  isPressing: boolean,
  besideOthers: boolean,
): Banner {
  return {
    key: 'decisions',
    is: 'decision',
    title: `${count} ${besideOthers ? 'more ' : ''}${count === 1 ? 'decision waits' : 'decisions wait'}`,
    body: listOf(labels),
    urgency: isPressing ? 'critical' : 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** To try it out: a click leads to the page. */
export function testBanner(): Banner {
  return {
    key: 'test',
    is: 'test',
    title: 'Hivebar: a test',
    body: 'Banners of new mail and of outages look like this one.',
    urgency: 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** What a person asked for by a click, and did not get; an action without a sentence of its own is named. */
const NOT_DONE: Readonly<Record<string, string>> = {
  decide: 'Your answer did not count',
  open: 'The session could not be opened',
  page: 'The page could not be opened',
  'copy-follow': 'The command could not be copied',
  autostart: 'Starting at login could not be changed',
  read: 'Not marked as read',
};

/** A click that came to nothing, whichever action it was for; why, and what to do next. */
export function failedBanner(action: string, why: string): Banner {
  return {
    key: 'failed',
    is: 'failed',
    title: NOT_DONE[action] ?? `${action} did not work`,
    body: lineOfText(why, BODY_POINTS),
    urgency: 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

function subject(cause: Cause, labels: readonly string[], standing: string): string {
  const [only] = labels;
  const who = labels.length === 1 && only !== undefined ? name(only) : `${labels.length} personas`;
  switch (cause.scope) {
    case 'persona':
      return labels.length === 0 ? `Inbox ${standing}` : `${who} ${standing}`;
    case 'source':
      return labels.length === 0 ? `${name(cause.source)} ${standing}` : `${name(cause.source)} ${standing}: ${who}`;
    case 'machine':
      if (cause.key === 'disk' && labels.length === 0)
        return standing === 'down' ? 'The disk is full' : 'The disk has room again';
      return labels.length === 0 ? `This machine ${standing}` : `This machine ${standing}: ${who}`;
  }
}

function opensOf(cause: Cause): Banner['opens'] {
  return cause.opens === null ? { is: 'overview' } : { is: 'persona', persona: cause.opens };
}

function buttonsOf(cause: Cause): readonly Button[] {
  return cause.opens === null ? [] : [muteButton(cause.opens)];
}

function openButton(persona: PersonaId): Button {
  return { id: 'open', label: 'Open session', wants: { name: 'open', params: { persona } } };
}

/** One message is marked by its id: another may have come since, and nobody has seen that. */
function readButton({ persona, count, latest }: MailSaid): Button {
  // What the banner speaks of: mail that comes while it stands there stays unread.
  const params = count === 1 ? { persona, id: latest.id } : { persona, upTo: latest.id };
  return { id: 'read', label: 'Mark as read', wants: { name: 'read', params } };
}

function muteButton(persona: PersonaId): Button {
  return { id: 'mute', label: 'Mute 1 h', wants: { name: 'mute', params: { persona, minutes: 60 } } };
}

function latestOf(latest: Latest): string {
  const from = lineOfText(latest.from, NAME_POINTS);
  const left = from === '' ? BODY_POINTS : BODY_POINTS - pointsOf(from) - 2;
  const text = latest.text === null ? '' : lineOfText(latest.text, left);
  if (text === '') return from === '' ? '' : `from ${isolated(from)}`;
  return from === '' ? isolated(text) : `${isolated(from)}: ${isolated(text)}`;
}

function reasonFor(labels: readonly string[], why: string): string {
  const list = listOf(labels);
  return `${lineOfText(why, BODY_POINTS - pointsOf(list) - 3)} (${list})`;
}

function listOf(labels: readonly string[]): string {
  const listed = labels.slice(0, NAMES_LISTED).map(name).join(', ');
  const more = labels.length - NAMES_LISTED;
  return more > 0 ? `${listed} and ${more} more` : listed;
}

function name(label: string): string {
  if (lineOfText(label, NAME_POINTS) === '') return '(no name)';
  return isolated(lineOfText(displayName(label.slice(0, NAME_POINTS * 16)), NAME_POINTS));
}
