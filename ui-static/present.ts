import type { MessageWire, PersonaWire, StatusWire } from '../app/status/wire.ts';
import {
  displayLine,
  displayName,
  displayText,
  formatAgentState,
  formatCount,
  formatDuration,
  formatFolder,
} from '../core/format/index.ts';

/**
 * Puts a status into words. Pure, and used on both sides: the server writes the first page with it and the script keeps that page
 * up to date with it, so both say the same.
 */

/** The text of every element marked `data-slot`, by slot. Null hides the element. */
export type Slots = Readonly<Record<string, string | null>>;

export interface Card {
  readonly id: string;
  /** The id as it is written in a link to its view. */
  readonly fragment: string;
  /** Determines shape and colour. */
  readonly shape: 'up' | 'waiting' | 'stalled' | 'gone' | 'failing' | 'down' | 'pending' | 'off';
  /** Words for the style sheet: `unread`, `urgent`, `stale`, `muted`, `idle`. */
  readonly flags: string;
  readonly slots: Slots;
}

/** The small marks of a card, in their order. Only those with text are added to it: with a hundred cards each byte counts. */
export const MARKS = [
  'question',
  'urgent',
  'low',
  'held',
  'warned',
  'agent',
  'daemon',
  'drain',
  'error',
  'muted',
  'hidden',
  'id',
] as const;

/** Those that a row of one line has room for. */
export const ROW_MARKS = ['question', 'urgent', 'held', 'muted', 'hidden'] as const;

const WORDS = {
  ...{ up: 'Up', waiting: 'Up', stalled: 'Up', gone: 'Up', failing: 'Up, failing', down: 'Down' },
  ...{ pending: 'Not checked yet', off: 'Paused' },
} as const;

/** Untrusted text is shown as it is, but not more of it than a person reads. */
const NAME_CHARS = 200;
export const REASON_CHARS = 600;
/** A folder, a model and a reason of an agent stand beside others on one line. */
const PART_CHARS = 80;

/** What a card shows beside its persona. */
export interface CardFacts {
  /** A question of this persona waits for the person's answer. */
  readonly isAsking: boolean;
  /** Why it cannot be read is said above the list, for everybody whom it concerns. */
  readonly isExplained: boolean;
  /** Only known with the token. */
  readonly newest: MessageWire | null;
}

/** Describes a persona in the overview, with its newest message in place of what only its own view needs. */
export function toOverviewCard(persona: PersonaWire, { isAsking, isExplained, newest }: CardFacts, now: number): Card {
  const { slots, flags, ...card } = toCard(persona, now, isAsking);
  const at = newest?.at ?? persona.lastMailAt;
  const age = at === null ? null : now - Date.parse(at);
  return {
    ...card,
    flags: [flags, slots.unread === '0' ? 'none' : ''].join(' ').trim(),
    slots: {
      ...slots,
      reason: isExplained ? null : (slots.reason ?? null),
      fresh: flags.includes('stale') ? (slots.fresh ?? null) : null,
      from: newest === null || newest.from === '' ? null : formatPart(newest.from),
      subject: newest === null ? null : cutLine(newest.subject || newest.text, LINE_CHARS),
      mail: age === null ? 'No mail yet' : newest === null ? `Last mail ${formatAgo(age)}` : formatAgo(age),
      age: age === null ? null : age < 1000 ? 'now' : formatDuration(age),
    },
  };
}

/** Of a message one line is shown. */
const LINE_CHARS = 160;

/** `isAsking`: a question of this persona waits for the person's answer. */
export function toCard(persona: PersonaWire, now: number, isAsking = false): Card {
  const shape = computeShape(persona);
  const stale = persona.staleAfter !== null && Date.parse(persona.staleAfter) < now;
  const command = persona.eventsFile === null ? null : formatFollowCommand(persona.eventsFile);
  return {
    id: persona.id,
    fragment: toFragment(persona.id),
    shape,
    flags: Object.entries({
      unread: (persona.unread ?? 0) > 0,
      urgent: (persona.urgent ?? 0) > 0,
      stale,
      muted: persona.muted !== null,
      idle: persona.agent === 'idle',
    })
      .flatMap(([name, is]) => (is ? [name] : []))
      .join(' '),
    slots: {
      name: formatName(persona.label),
      id: persona.label === persona.id ? null : formatName(persona.id),
      ...describeState(persona, shape, now),
      unread: formatNumber(persona.unread, persona.unreadIs),
      unreadWord: 'unread',
      question: (persona.questions ?? 0) > 0 ? formatQuestions(persona.questions ?? 0) : null,
      urgent: formatUrgent(persona),
      low: formatPriorities(persona.pending, [3, 4]),
      held: formatHeld(persona, isAsking),
      warned: formatGates(persona.gates, 'soft', 'Warned'),
      muted: persona.muted === null ? null : 'Muted',
      hidden: persona.hidden ? 'Hidden' : null,
      ...describeReader(persona, shape, now),
      reason: persona.reason === null ? null : truncate(displayText(persona.reason), REASON_CHARS),
      mail:
        persona.lastMailAt === null ? 'No mail yet' : `Last mail ${formatAgo(now - Date.parse(persona.lastMailAt))}`,
      fresh: formatFreshness(persona, now, stale),
      command,
    },
  };
}

/** Whether the state of a card is what its agent does. Otherwise something keeps the inbox from being watched, which is said first. */
const SAYS_AGENT: ReadonlySet<Card['shape']> = new Set<Card['shape']>(['up', 'waiting', 'stalled', 'gone']);
/** What an agent does, where a person wants to know for how long. */
const WITH_AGE: ReadonlySet<PersonaWire['agent']> = new Set<PersonaWire['agent']>(['waiting', 'working', 'stalled']);

/**
 * Describes the state of an inbox by what its agent does, where somebody says it: `Working, 12 min in hivebar with opus`. Otherwise by
 * whether it can be read: `Up for 3 h`.
 * @param folder how the folder is named: by its last part, where there is little room
 */
export function describeState(
  persona: PersonaWire,
  shape: Card['shape'],
  now: number,
  folder: string | null = formatFolder(persona.cwd),
): Slots {
  const { agent, since, agentSince, model } = persona;
  const doing = formatDoing(persona);
  if (doing === null || !SAYS_AGENT.has(shape)) {
    const isDated = since !== null && shape !== 'pending';
    return { state: WORDS[shape], since: isDated ? `for ${formatDuration(now - Date.parse(since))}` : null };
  }
  const hasAge = agentSince !== null && WITH_AGE.has(agent);
  const place = [
    ...(folder === null ? [] : [`in ${formatPart(folder)}`]),
    ...(model === null ? [] : [`with ${formatPart(model)}`]),
  ];
  return {
    state: hasAge ? `${doing}, ${formatDuration(now - Date.parse(agentSince))}` : doing,
    since: place.join(' ') || null,
  };
}

/** Formats what the agent does: `Waits at a permission prompt`. Null when nobody says it. */
function formatDoing({ agent, agentReason, agentText }: PersonaWire): string | null {
  const doing = formatAgentState(agent, agentReason, agentText);
  return doing === null ? null : truncate(displayLine(doing), NAME_CHARS);
}

/** Formats a part of a line that another program gave. */
export function formatPart(text: string): string {
  return cutLine(text, PART_CHARS);
}

function cutLine(text: string, most: number): string {
  const line = displayLine(text.slice(0, most * 4));
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}

/** The states that the source of an inbox or a daemon reports with a reason; others say what they mean by themselves. */
const WITH_REASON: ReadonlySet<PersonaWire['agent']> = new Set<PersonaWire['agent']>(['stalled', 'gone', 'unknown']);

/** Describes what is to be known of the agent beside its state, or the state of a persona daemon. */
function describeReader(persona: PersonaWire, shape: Card['shape'], now: number): Slots {
  const { agent, agentReason, agentText, daemon, unread } = persona;
  const hidden = SAYS_AGENT.has(shape) ? null : formatDoing(persona);
  if (daemon === null) {
    const text = agent === 'waiting' || agentText === null ? null : capitalize(agentText);
    return { agent: hidden ?? text, daemon: null, drain: null, error: null };
  }
  const why = WITH_REASON.has(agent) ? (agentReason?.replaceAll('-', ' ') ?? null) : null;
  return {
    agent: why === null ? hidden : capitalize(why),
    daemon: `${daemon.fsm}, ${daemon.taxonomy}`,
    drain: unread === 0 ? null : `Nothing fetched for ${formatDuration(now - Date.parse(daemon.drainedAt))}`,
    error: daemon.lastErrorClass === null ? null : `Last error ${daemon.lastErrorClass}`,
  };
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Mail waits and nobody takes it: because its agent does not read, or because there is none. */
function isWithoutReader({ agent, agentReason }: PersonaWire): boolean {
  return agent === 'stalled' || (agent === 'gone' && agentReason === 'no-reader');
}

function computeShape(persona: PersonaWire): Card['shape'] {
  const { state, reason, asOf, agent } = persona;
  switch (state) {
    case 'UP':
      if (reason === null && isWithoutReader(persona)) return 'stalled';
      if (reason === null) return agent === 'waiting' || agent === 'stalled' || agent === 'gone' ? agent : 'up';
      return asOf === null ? 'pending' : 'failing';
    case 'DOWN':
      return 'down';
    case 'PENDING':
      return 'pending';
    case 'OFF':
      return 'off';
  }
}

/** For the local hive the priority is known as well. */
function formatUrgent({ urgent, pending }: PersonaWire): string | null {
  return formatPriorities(pending, [0, 1]) ?? ((urgent ?? 0) > 0 ? `${urgent} urgent` : null);
}

export const PRIORITIES = ['critical', 'high', 'normal', 'low', 'bulk'] as const;
/** A count of this many may be higher. */
const MOST_COUNTED = 1000;

export function formatPendingCount(n: number): string {
  return formatNumber(n, n >= MOST_COUNTED ? 'atLeast' : 'exact');
}

function formatPriorities(pending: PersonaWire['pending'], priorities: readonly number[]): string | null {
  const waiting = priorities.filter((at) => (pending?.[at] ?? 0) > 0);
  if (waiting.length === 0) return null;
  return waiting.map((at) => `${formatPendingCount(pending?.[at] ?? 0)} ${PRIORITIES[at]}`).join(', ');
}

/** The gate that an open question closes. */
const DECISION_GATE = 'decision';

function formatHeld({ gates, agent, agentReason }: PersonaWire, isAsking: boolean): string | null {
  const waits = isAsking && gates.some(({ id, mode }) => id === DECISION_GATE && mode === 'strict');
  const otherGates = waits ? gates.filter(({ id }) => id !== DECISION_GATE) : gates;
  const isShown = agent === 'waiting' && agentReason === 'decision'; // by the state of the card
  const parts = [waits && !isShown ? 'Waiting for your answer' : null, formatGates(otherGates, 'strict', 'Blocked')];
  return parts.filter((part) => part !== null).join('; ') || null;
}

/** Formats `Blocked at Stop by tests, lint; at PreToolUse by review`. */
function formatGates(gates: PersonaWire['gates'], mode: 'strict' | 'soft', verb: string): string | null {
  const byHook = Map.groupBy(
    gates.filter((gate) => gate.mode === mode),
    ({ hook }) => hook,
  );
  if (byHook.size === 0) return null;
  const parts = [...byHook].map(
    ([hook, hookGates]) => `at ${hook} by ${hookGates.map(({ id }) => displayName(id)).join(', ')}`,
  );
  return truncate(`${verb} ${parts.join('; ')}`, NAME_CHARS);
}

function formatFreshness({ asOf }: PersonaWire, now: number, stale: boolean): string {
  if (asOf === null) return 'never checked';
  const ago = formatAgo(now - Date.parse(asOf));
  return stale ? `checked ${ago}, overdue` : `checked ${ago}`;
}

export function formatQuestions(n: number): string {
  return `${n} ${n === 1 ? 'question' : 'questions'} for you`;
}

/** Encodes an id for `#persona=`. Half of a surrogate pair, which no address can contain, becomes U+FFFD. */
export function toFragment(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}

/** Cuts text to this many characters, and says how many were left out. */
export function truncate(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()} … (${text.length - most} more characters)`;
}

/** Formats an untrusted name: invisible characters are shown by their number, and it is cut. */
export function formatName(name: string): string {
  return truncate(displayName(name), NAME_CHARS);
}

export interface AskingCard {
  /** Identifies one decision, even if another database uses its number again. */
  readonly key: string;
  /** Words for the style sheet: `pressing`, `waits`. */
  readonly flags: string;
  /** Null when the persona that asks is not watched, and so has no view. */
  readonly fragment: string | null;
  readonly slots: Slots;
}

/** Returns whether a question of this persona waits for an answer. */
export function hasQuestion({ decisions }: Pick<StatusWire, 'decisions'>, { id }: PersonaWire): boolean {
  return decisions.some(({ persona }) => persona === id);
}

/** Describes who asks a person, and how long there is to answer. The question itself needs the token. */
export function toAskingCard(
  { id, persona, urgency, blocking, created, expires }: StatusWire['decisions'][number],
  personas: readonly PersonaWire[],
  now: number,
): AskingCard {
  const asks = personas.find(({ id }) => id === persona);
  const left = expires === null ? null : Date.parse(expires) - now;
  return {
    key: `${id}@${created}`,
    flags: [urgency === 'high' ? 'pressing' : '', blocking ? 'waits' : ''].join(' ').trim(),
    fragment: asks === undefined ? null : toFragment(asks.id),
    slots: {
      asks: formatName(asks?.label ?? persona),
      pressing: urgency === 'high' ? 'Urgent' : null,
      waits: blocking ? 'Agent waits' : null,
      asked: formatAgo(now - Date.parse(created)),
      left: left === null ? null : left <= 0 ? 'time is up' : `${formatDuration(left)} left`,
    },
  };
}

/** An unknown number is a dash, never 0. */
export function formatNumber(n: number | null, is: PersonaWire['unreadIs']): string {
  if (n === null || is === 'unknown' || (n === 0 && is === 'atLeast')) return '–';
  return formatCount(n, is);
}

/** Returns the command with which an agent follows its file. The path is quoted as one word of a POSIX shell. */
export function formatFollowCommand(path: string): string {
  const word = /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
  return `tail -n 0 -F ${word}`;
}

export function formatAgo(ms: number): string {
  return ms < 1000 ? 'just now' : `${formatDuration(ms)} ago`;
}
