import {
  displayName,
  findFailureText,
  findWaitText,
  formatDefaultChoice,
  formatDuration,
  formatFolder,
  formatList,
  formatQuantity,
  formatStateReason,
  formatWaiting,
  stripUnseen,
} from '../../core/format/index.ts';
import type { Instant, PersonaId } from '../../core/model/index.ts';
import { findReasonText } from '../../core/sources/derived.ts';
import {
  ANSWERS,
  type Notification,
  type NotificationButton,
  toDecisionKey,
  toMailKey,
  toOutageKey,
  toWaitKey,
} from './channels/index.ts';
import type { AnnouncedOutage, Cause, MailPreview } from './state.ts';

/** A recovery that is announced later than this says when it happened. */
const LATE_RECOVERY_MS = 60_000;
/** The number of characters that fit on a button. */
const BUTTON_POINTS = 40;
/** The number of options of a decision that get a button. */
export const MOST_ANSWERS = ANSWERS.length;
/** The number of names before "and 57 more". */
const NAMES_LISTED = 3;

export interface MailContent {
  readonly persona: PersonaId;
  readonly label: string;
  readonly count: number;
  readonly urgent: boolean;
  readonly latestMessage: MailPreview;
  readonly canMarkRead: boolean;
}

/** Builds `ada: 3 new`, and below it the sender and first words of the newest message. */
export function buildMailNotification(content: MailContent): Notification {
  return {
    key: toMailKey(content.persona),
    is: 'mail',
    title: `${formatName(content.label)}: ${content.count} new${content.urgent ? ', urgent' : ''}`,
    body: formatMessage(content.latestMessage),
    urgency: content.urgent ? 'high' : 'normal',
    opens: { is: 'persona', persona: content.persona },
    ...(content.count === 1 && content.latestMessage.link !== null ? { item: content.latestMessage.id } : {}),
    buttons: [
      buildOpenButton(content.persona),
      ...(content.canMarkRead ? [buildReadButton(content)] : []),
      buildMuteButton(content.persona),
    ],
  };
}

/** Builds one banner for all personas whose own banners would have been too many at once. */
export function buildCrowdNotification(
  labels: readonly string[],
  count: number,
  urgent: boolean,
  besideOthers: boolean,
): Notification {
  return {
    key: 'crowd',
    is: 'mail',
    title: `${formatQuantity(count, besideOthers ? 'more message' : 'message')} for ${formatQuantity(labels.length, 'persona')}${urgent ? ', urgent' : ''}`,
    body: formatNames(labels),
    urgency: urgent ? 'high' : 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** Builds `hive down: 60 personas`, and below it what is wrong and what to do next. */
export function buildOutageNotification(cause: Cause, labels: readonly string[], why: string): Notification {
  return {
    key: toOutageKey(cause.key),
    is: 'outage',
    title: formatTitle(cause, labels, 'down'),
    body: labels.length > 1 ? formatReason(labels, why) : why,
    urgency: 'critical',
    opens: toTarget(cause),
    buttons: buildOutageButtons(cause),
  };
}

/** Builds `hive is back: 60 personas`, and below it how long it was down, and since when it is back if that is not just now. */
export function buildRecoveryNotification(
  announced: AnnouncedOutage,
  labels: readonly string[],
  downForMs: number,
  backForMs: number,
): Notification {
  const back = backForMs < LATE_RECOVERY_MS ? '' : `, back for ${formatDuration(backForMs)}`;
  return {
    key: toOutageKey(announced.cause.key),
    is: 'recovery',
    title: formatTitle(announced.cause, labels, 'is back'),
    body: `Down for ${formatDuration(downForMs)}${back}.`,
    urgency: 'normal',
    opens: toTarget(announced.cause),
    buttons: buildOutageButtons(announced.cause),
  };
}

/** An outage in a banner that several share. */
interface NamedOutage {
  readonly cause: Cause;
  /** The first persona that it is about; null for none. */
  readonly label: string | null;
}

/** Builds one banner for beginnings and ends of outages whose own banners would have been too many in this minute. */
export function buildOutagesNotification(
  down: readonly NamedOutage[],
  up: readonly NamedOutage[],
  besideOthers: boolean,
): Notification {
  const over = up.length === 1 ? '1 outage is over' : `${up.length} outages are over`;
  const began = formatQuantity(down.length, besideOthers ? 'more outage' : 'outage');
  const names = (list: readonly NamedOutage[]): string => formatNames([...new Set(list.map(findSubject))]);
  return {
    key: 'outages',
    is: down.length > 0 ? 'outage' : 'recovery',
    title: [...(down.length > 0 ? [began] : []), ...(up.length > 0 ? [over] : [])].join(', '),
    body: [
      ...(down.length > 0 ? [`Down: ${names(down)}.`] : []),
      ...(up.length > 0 ? [`Back: ${names(up)}.`] : []),
    ].join(' '),
    urgency: down.length > 0 ? 'critical' : 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

function findSubject({ cause, label }: NamedOutage): string {
  if (cause.scope === 'machine') return 'this machine';
  return cause.scope === 'persona' && label !== null ? label : cause.source;
}

/** The content of a decision's banner. All of it is untrusted. */
export interface DecisionContent {
  readonly id: number;
  readonly persona: PersonaId;
  readonly label: string;
  /** Whether the persona is watched, and so has a page. */
  readonly isWatched: boolean;
  readonly prompt: string;
  readonly options: readonly { readonly id: string; readonly short: string }[];
  /** The option that is chosen when nobody answers; null when none is. */
  readonly byItself: { readonly short: string; readonly expires: Instant } | null;
  readonly isPressing: boolean;
}

/** Builds `ada asks`, and below it the question and what is chosen by itself, with a button for each of the first options. */
export function buildDecisionNotification(
  { id, persona, label, isWatched, prompt, options, byItself, isPressing }: DecisionContent,
  now: Instant,
): Notification {
  const buttons = ANSWERS.flatMap((answer, i): NotificationButton[] => {
    const option = options[i];
    if (option === undefined) return [];
    const text = toSingleLine(option.short, BUTTON_POINTS) || option.id;
    return [{ id: answer, label: text, action: { name: 'decide', params: { decision: id, select: option.id } } }];
  });
  return {
    key: toDecisionKey(id),
    is: 'decision',
    title: `${formatName(label)} asks`,
    body: formatQuestion(prompt, byItself, now),
    urgency: isPressing ? 'critical' : 'normal',
    opens: isWatched ? { is: 'persona', persona } : { is: 'overview' },
    buttons,
  };
}

/** Formats `Merge the branch? (chosen by itself in 23 h: Ship)`. */
function formatQuestion(prompt: string, byItself: DecisionContent['byItself'], now: Instant): string {
  const option = toSingleLine(byItself?.short ?? '', BUTTON_POINTS);
  const chosen = byItself === null ? null : formatDefaultChoice(byItself.expires, now);
  const rest = chosen === null || option === '' ? '' : ` (${chosen}: ${isolate(option)})`;
  return `${isolate(toSingleLine(prompt, BODY_POINTS - countPoints(rest)))}${rest}`;
}

/**
 * Builds one banner for all decisions whose own banners would have been too many at once. `labels` has everybody who asks, each
 * once.
 */
export function buildDecisionsNotification(
  labels: readonly string[],
  count: number,
  isPressing: boolean,
  besideOthers: boolean,
): Notification {
  return {
    key: 'decisions',
    is: 'decision',
    title: `${count} ${besideOthers ? 'more ' : ''}${count === 1 ? 'decision waits' : 'decisions wait'}`,
    body: formatNames(labels),
    urgency: isPressing ? 'critical' : 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** What is known of an agent that waits. All of it is untrusted. */
export interface WaitContent {
  readonly persona: PersonaId;
  readonly label: string;
  /** The reason of its reporter. */
  readonly why: string;
  readonly cwd: string | null;
}

/** What a person does about each general reason of a wait. */
const WAIT_BODIES: ReadonlyMap<string, string> = new Map([
  ['permission', 'Allow or refuse what it wants to do.'],
  ['input', 'It goes on when you answer in its session.'],
  ['decision', 'It goes on when you choose in its session.'],
  ['dialog', 'It goes on when you close the dialog in its session.'],
]);

const FAILURE_STEP = ' It goes on when you say something in its session.';

/** Formats that an agent cannot work, why, and what to do. */
function formatFailure(failure: string, most: number): { readonly title: string; readonly body: string } {
  const why = isolate(
    toSingleLine(`${failure.charAt(0).toUpperCase()}${failure.slice(1)}.`, most - FAILURE_STEP.length),
  );
  return { title: 'cannot work', body: `${why}${FAILURE_STEP}` };
}

/** Builds `ada waits at a permission prompt`, and below it what to do, and the folder. A reason of its own is in the body. */
export function buildWaitNotification({ persona, label, why, cwd }: WaitContent): Notification {
  const folder = toSingleLine(formatFolder(cwd) ?? '', NAME_POINTS);
  const where = folder === '' || label.includes(folder) ? '' : ` (${isolate(folder)})`;
  const own = isolate(toSingleLine(formatStateReason(why, findReasonText(why)), BODY_POINTS - countPoints(where)));
  const failure = findFailureText(why);
  const wait = { title: `waits ${findWaitText(why) ?? 'for you'}`, body: WAIT_BODIES.get(why) ?? own };
  const { title, body } = failure === null ? wait : formatFailure(failure, BODY_POINTS - countPoints(where));
  return {
    key: toWaitKey(persona),
    is: 'wait',
    title: `${formatName(label)} ${title}`,
    body: `${body}${where}`,
    urgency: 'critical',
    opens: { is: 'persona', persona },
    buttons: [buildOpenButton(persona), buildMuteButton(persona)],
  };
}

/** Builds one banner for all agents whose own banners would have been too many at once. */
export function buildWaitsNotification(labels: readonly string[], count: number, besideOthers: boolean): Notification {
  return {
    key: 'waits',
    is: 'wait',
    title: besideOthers ? `${count} more ${count === 1 ? 'agent waits' : 'agents wait'} for you` : formatWaiting(count),
    body: formatNames(labels),
    urgency: 'critical',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** The content of the banner of a permission prompt. All of it is untrusted. */
export interface PermissionContent {
  readonly key: `permission:${number}`;
  readonly id: string;
  readonly persona: PersonaId;
  readonly label: string;
  readonly tool: string;
  readonly text: string;
  readonly cut: number;
}

/** A longer call is read on the page, because desktops cut the text of a banner. */
const CALL_POINTS = 120;
const LINE_END = ' ⏎ ';

/**
 * Builds `ada asks to use Bash`, and below it the call. The button that allows it is there only when the banner shows every character
 * of it.
 */
export function buildPermissionNotification({ key, id, ...content }: PermissionContent): Notification {
  const { persona, label, tool, text, cut } = content;
  const line = text.replaceAll('\n', LINE_END);
  const shown = toSingleLine(line, CALL_POINTS);
  const name = toSingleLine(tool, NAME_POINTS);
  const isWhole = cut === 0 && shown === line && !text.includes('⏎') && name === tool;
  const permit = (answer: 'allow' | 'deny') => ({
    name: 'permit',
    params: { permission: id, answer, from: 'notification' },
  });
  const deny = { label: 'Deny', action: permit('deny') };
  return {
    key,
    is: 'permission',
    title: `${formatName(label)} asks to use ${isolate(name)}`,
    body: isWhole ? isolate(shown) : `${isolate(shown)} (read all of it on the page)`,
    urgency: 'critical',
    opens: { is: 'persona', persona },
    buttons: isWhole
      ? [
          { id: ANSWERS[0], label: 'Allow once', action: permit('allow') },
          { id: ANSWERS[1], ...deny },
        ]
      : [{ id: ANSWERS[0], ...deny }],
  };
}

/** Builds one banner for all prompts whose own banners would have been too many at once. */
export function buildPermissionsNotification(
  labels: readonly string[],
  count: number,
  besideOthers: boolean,
): Notification {
  return {
    key: 'permissions',
    is: 'permission',
    title: `${count} ${besideOthers ? 'more ' : ''}${count === 1 ? 'permission' : 'permissions'} for you`,
    body: formatNames(labels),
    urgency: 'critical',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** The content of the banner of a question that came as mail. All of it is untrusted. */
export interface QuestionContent {
  readonly key: `question:${string}`;
  readonly persona: PersonaId;
  readonly label: string;
  readonly message: MailPreview;
}

/** Builds `ada: a question from bo`, and below it the subject and the first words. */
export function buildQuestionNotification({ key, persona, label, message }: QuestionContent): Notification {
  const from = toSingleLine(message.from, NAME_POINTS);
  return {
    key,
    is: 'question',
    title: `${formatName(label)}: a question${from === '' ? '' : ` from ${isolate(from)}`}`,
    body: formatWords(message, BODY_POINTS),
    urgency: 'high',
    opens: { is: 'persona', persona },
    ...(message.link === null ? {} : { item: message.id }),
    buttons: [buildOpenButton(persona), buildMuteButton(persona)],
  };
}

/** Builds one banner for all questions whose own banners would have been too many at once. */
export function buildQuestionsNotification(
  labels: readonly string[],
  count: number,
  besideOthers: boolean,
): Notification {
  return {
    key: 'questions',
    is: 'question',
    title: `${count} ${besideOthers ? 'more ' : ''}${count === 1 ? 'question' : 'questions'} for you`,
    body: formatNames(labels),
    urgency: 'high',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** Builds a banner for a test. A click opens the page. */
export function buildTestNotification(): Notification {
  return {
    key: 'test',
    is: 'test',
    title: 'Hivebar test',
    body: 'Notifications of new mail and outages look like this.',
    urgency: 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

/** The title for a click that failed, by action. An action that is not listed is named in the title. */
const FAILURE_TITLES: Readonly<Record<string, string>> = {
  decide: 'Your answer was not accepted',
  open: 'The session could not be opened',
  'open-item': 'The link could not be opened',
  page: 'The page could not be opened',
  'copy-follow': 'The command could not be copied',
  autostart: 'Start at login could not be changed',
  read: 'Could not mark as read',
};

/** Builds the banner for a click that failed, for any action. It says why, and what to do next. */
export function buildFailedNotification(action: string, why: string): Notification {
  return {
    key: 'failed',
    is: 'failed',
    title: FAILURE_TITLES[action] ?? `${action} failed`,
    body: toSingleLine(why, BODY_POINTS),
    urgency: 'normal',
    opens: { is: 'overview' },
    buttons: [],
  };
}

function formatTitle(cause: Cause, labels: readonly string[], stateText: string): string {
  const [only] = labels;
  const personasText = labels.length === 1 && only !== undefined ? formatName(only) : `${labels.length} personas`;
  switch (cause.scope) {
    case 'persona':
      return labels.length === 0 ? `Inbox ${stateText}` : `${personasText} ${stateText}`;
    case 'source':
      return labels.length === 0
        ? `${formatName(cause.source)} ${stateText}`
        : `${formatName(cause.source)} ${stateText}: ${personasText}`;
    case 'machine':
      if (cause.key === 'disk' && labels.length === 0)
        return stateText === 'down' ? 'The disk is full' : 'The disk has free space again';
      return labels.length === 0 ? `This machine ${stateText}` : `This machine ${stateText}: ${personasText}`;
  }
}

function toTarget(cause: Cause): Notification['opens'] {
  return cause.opens === null ? { is: 'overview' } : { is: 'persona', persona: cause.opens };
}

function buildOutageButtons(cause: Cause): readonly NotificationButton[] {
  return cause.opens === null ? [] : [buildMuteButton(cause.opens)];
}

function buildOpenButton(persona: PersonaId): NotificationButton {
  return { id: 'open', label: 'Open session', action: { name: 'open', params: { persona } } };
}

/** A single message is marked by its id, because another may have come since that nobody has seen. */
function buildReadButton({ persona, count, latestMessage }: MailContent): NotificationButton {
  // Marks only what the banner counted: mail that comes while it is on the screen stays unread.
  const params = count === 1 ? { persona, id: latestMessage.id } : { persona, upTo: latestMessage.id };
  return { id: 'read', label: 'Mark as read', action: { name: 'read', params } };
}

function buildMuteButton(persona: PersonaId): NotificationButton {
  return { id: 'mute', label: 'Mute 1 h', action: { name: 'mute', params: { persona, minutes: 60 } } };
}

function formatMessage(message: MailPreview): string {
  const from = toSingleLine(message.from, NAME_POINTS);
  const words = formatWords(message, from === '' ? BODY_POINTS : BODY_POINTS - countPoints(from) - 2);
  if (words === '') return from === '' ? '' : `from ${isolate(from)}`;
  return from === '' ? words : `${isolate(from)}: ${words}`;
}

/** Formats the subject, if there is one, and the first words: `Build is red · the tests of ...`. */
function formatWords({ subject, text }: MailPreview, points: number): string {
  const title = toSingleLine(subject, Math.min(points, SUBJECT_POINTS));
  if (title === '') return isolate(toSingleLine(text ?? '', points));
  const left = points - countPoints(title) - 3;
  const words = left < 8 ? '' : toSingleLine(text ?? '', left);
  return words === '' || words === title ? isolate(title) : `${isolate(title)} · ${isolate(words)}`;
}

function formatReason(labels: readonly string[], why: string): string {
  const list = formatNames(labels);
  return `${toSingleLine(why, BODY_POINTS - countPoints(list) - 3)} (${list})`;
}

function formatNames(labels: readonly string[]): string {
  return formatList(labels.map(formatName), NAMES_LISTED);
}

function formatName(label: string): string {
  if (toSingleLine(label, NAME_POINTS) === '') return '(no name)';
  return isolate(toSingleLine(displayName(label.slice(0, NAME_POINTS * 16)), NAME_POINTS));
}

/** How many code points of a mail's text a banner shows. */
export const BODY_POINTS = 200;
/** Names and senders are cut shorter, so that the count after them stays on the screen. */
export const NAME_POINTS = 60;
/** A subject leaves room for the first words. */
const SUBJECT_POINTS = 100;

const ESC = String.fromCharCode(0x1b);

/** ECMA-48: control sequences, control strings up to their end (BEL ends one too), and the short escapes. */
const TERMINAL = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|[ -/]+[0-~]|[0-OQ-WYZ\\\\\`-~])`,
  'gu',
);

/** Letters of scripts that run from right to left. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Hanifi_Rohingya}]/u;

/**
 * Converts untrusted text to one line of at most `points` code points. Terminal sequences and invisible characters are removed,
 * each run of white space becomes one blank, and lone surrogates are replaced. A cut text ends in an ellipsis and is never cut
 * inside a code point.
 */
export function toSingleLine(text: string, points: number): string {
  // Long input is cut first, since the rest can never be shown and a mail may be a megabyte.
  const near = text.slice(0, points * 16).toWellFormed();
  const spaced = near.replace(TERMINAL, '').replace(/[\s\u0085]+/gu, ' ');
  const line = stripUnseen(spaced)
    .replace(/ {2,}/g, ' ') // text between two blanks may have been removed
    .trim();
  const characters = [...line];
  const cut = near.length < text.length && text.length > points * 16;
  if (characters.length <= points && !cut) return line;
  return `${characters
    .slice(0, points - 1)
    .join('')
    .replace(/[ \u200d]+$/u, '')}…`;
}

/**
 * Isolates a cleaned text that stands beside others, if it has letters that run from right to left (FIRST STRONG ISOLATE ... POP
 * DIRECTIONAL ISOLATE, UAX #9). Then only the text is reordered, and not the name or number next to it.
 */
export function isolate(line: string): string {
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

/** How many code points a text has. */
export function countPoints(text: string): number {
  return [...text].length;
}
