import { type Event, isMail, type MailUrgency, readMailExtras, readMailUrgency } from '../events/index.ts';
import type { ErrorClass, Fsm, Taxonomy } from '../link/index.ts';
import {
  type AgentState,
  type Count,
  Fault,
  type Health,
  type Instant,
  type PersonaId,
  type SourceId,
} from '../model/index.ts';
import { EMPTY_REPORT, type PersonaReport } from './persona-report.ts';

/** Two local times of day, each `HH:MM`. */
export interface QuietTimes {
  readonly from: string;
  readonly to: string;
}

/** How long a persona, or everything, is silent. */
export type Until = { readonly is: 'never' } | { readonly is: 'at'; readonly at: Instant } | { readonly is: 'forever' };

export interface PersonaView extends ReportedValues {
  readonly id: PersonaId;
  readonly stem: string;
  readonly source: SourceId;
  readonly label: string;
  readonly health: Health;
  /** The last fault's message and next step while failing or down, else null. */
  readonly reason: string | null;
  /** When the current health began. */
  readonly since: Instant | null;
  readonly agentState: AgentState;
  readonly unread: Count;
  readonly urgent: Count;
  /** When the counts were seen; null: never. */
  readonly asOf: Instant | null;
  /** When the counts are stale if nothing newer comes. */
  readonly staleAfter: Instant | null;
  readonly cursor: number | null;
  readonly lastEventId: string | null;
  readonly lastMailAt: Instant | null;
  /** Why events wait for the sink; null: none wait. */
  readonly held: string | null;
  readonly muted: Until;
  /** The persona is left out of totals and causes, and of what a person sees. */
  readonly hidden: boolean;
  /** The newest messages that were delivered to its agent, newest first. */
  readonly latestMessages: readonly MessagePreview[];
  /** Its messages can be marked as read from here. */
  readonly canMarkRead: boolean;
  /** A person can reply to its agent from here. */
  readonly canReply: boolean;
  readonly eventsFile: string | null;
}

/** One outage as a person sees it: everything that is down for the same reason. */
export interface CauseView {
  readonly key: string;
  readonly scope: 'persona' | 'source' | 'machine';
  readonly since: Instant;
  readonly message: string;
  readonly personas: readonly PersonaId[];
}

export interface HiveView {
  readonly source: SourceId;
  readonly address: string;
  readonly state: 'UP' | 'DOWN' | 'PENDING';
  readonly reason: string | null;
}

/** A project with a board of its own. */
export interface ProjectView {
  readonly source: SourceId;
  /** The persona that represents its board. */
  readonly board: PersonaId;
  /** Differs when the project has something else to show. */
  readonly rev: string;
}

/** What a persona daemon reports about itself, beside the number of waiting signals (persona daemon, contract 4). */
export interface DaemonView {
  readonly surface: string;
  readonly project: string;
  readonly fsm: Fsm;
  readonly taxonomy: Taxonomy;
  /** The surface of the daemon is away, so the daemon cannot ring. */
  readonly isDegraded: boolean;
  /** When something was last fetched, or else when the daemon began. */
  readonly drainedAt: Instant;
  readonly lastError: ErrorClass | null;
}

/** A question of an agent to a person that nobody has answered yet (inbox and gates, contract 6). */
export interface OpenDecision {
  readonly id: number;
  /** The persona that asks. It need not be on the board, because asking needs no mail. */
  readonly persona: PersonaId;
  readonly prompt: string;
  /** What a person has to know to answer. */
  readonly context: string | null;
  readonly options: readonly { readonly id: string; readonly short: string; readonly label: string }[];
  /** True: a text alone is an answer. False: a text is guidance, and the question is asked again. */
  readonly freeText: boolean;
  /** The id of the option that applies when nobody answers in time. */
  readonly fallback: string | null;
  readonly urgency: 'low' | 'normal' | 'high';
  /** The agent waits for the answer. */
  readonly blocking: boolean;
  readonly created: Instant;
  /** When the decision can no longer be answered; null: never. */
  readonly expires: Instant | null;
}

/** A permission prompt of an agent program that a person may answer in Hivebar, while its hook waits. */
export interface OpenPermission {
  /** A secret of this prompt alone: whoever answers has seen it. It stands nowhere that needs no token. */
  readonly id: string;
  /** Counts the prompts of this run. It is no secret, and answers nothing. */
  readonly number: number;
  readonly persona: PersonaId;
  readonly harness: string;
  /** A subagent asks. */
  readonly isSubagent: boolean;
  /** The folder of the session; null when the agent program did not say. Untrusted. */
  readonly cwd: string | null;
  readonly tool: string;
  /** The whole call in the form of `PermissionCall` (core/hooks). */
  readonly text: string;
  /** How many characters of the call `text` lacks. Above 0 it cannot be allowed here. */
  readonly cut: number;
  readonly created: Instant;
  /** When the hook stops waiting, and only the agent program's own dialog takes an answer. */
  readonly expires: Instant;
}

/** A gate that is not satisfied. Somebody registered it, or an open decision holds it (contract 4). */
export interface OpenGate {
  readonly id: string;
  /** The harness event that the gate belongs to. */
  readonly hook: string;
  /** `strict` blocks, `soft` warns. */
  readonly mode: 'strict' | 'soft';
  readonly description: string;
}

/** What services report of a persona: the values of `PersonaReport`, and those with a form of their own on the wire. */
export interface ReportedValues extends Readonly<PersonaReport> {
  /** The gates that are not satisfied. */
  readonly gates: readonly OpenGate[];
  /** Null: the persona is no persona daemon, or its daemon does not answer. */
  readonly daemon: DaemonView | null;
}

/** The values of a persona of which nothing was reported yet. */
export const NOTHING_REPORTED: ReportedValues = { ...EMPTY_REPORT, gates: [], daemon: null };

/** The board at one moment. `rev` rises with every visible change, and only then. */
export interface Snapshot {
  readonly rev: number;
  /** By id, in plain code-unit order. */
  readonly personas: readonly PersonaView[];
  readonly causes: readonly CauseView[];
  readonly hives: readonly HiveView[];
  /** By source, in plain code-unit order. */
  readonly projects: readonly ProjectView[];
  /** The open decisions, oldest first, without those of hidden personas. */
  readonly decisions: readonly OpenDecision[];
  /** The permission prompts that can be answered here, oldest first, without those of hidden personas. */
  readonly permissions: readonly OpenPermission[];
  /** Totals over all personas that are not hidden. `unread` and `urgent` count messages once that two personas show. */
  readonly totals: {
    readonly unread: Count;
    readonly urgent: Count;
    readonly up: number;
    readonly down: number;
    readonly personas: number;
  };
  /** "Pause notifications". */
  readonly paused: Until;
  /** Quiet hours are enabled. */
  readonly quietHours: boolean;
  /** The times of day that are quiet while they are enabled; null: not known yet. */
  readonly quietTimes: QuietTimes | null;
  /** When the current quiet hour ends. */
  readonly quiet: Until;
  /** Start at login; null: unknown here. */
  readonly autostart: boolean | null;
  readonly tray: string;
  readonly notifications: string;
}

/** Returns whether a person should answer soon: the decision is urgent, or its agent is waiting. */
export function isPressing({ urgency, blocking }: Pick<OpenDecision, 'urgency' | 'blocking'>): boolean {
  return urgency === 'high' || blocking;
}

/** One message as a surface lists it. `from`, `subject`, `text` and `link` are untrusted. */
export interface MessagePreview extends MailUrgency {
  readonly id: number;
  /** Empty where the source does not give it, like `created`. */
  readonly from: string;
  readonly created: string;
  /** Shortened; empty for none. */
  readonly subject: string;
  /** Shortened; null where content is left out. */
  readonly text: string | null;
  /** A URL that opens the item. It is opened by the opener of URLs only, which checks its scheme. Null for none. */
  readonly link: string | null;
  /** A person must answer it. */
  readonly isQuestion: boolean;
}

/** The number of messages that are kept per persona. */
const MOST = 5;
const FROM_CHARS = 100;
const TEXT_CHARS = 300;
/** Returns the newest messages after these events were delivered, newest first. */
export function addMessages(before: readonly MessagePreview[], events: readonly Event[]): readonly MessagePreview[] {
  const messages = [...before];
  for (const event of events) {
    if (!isMail(event)) continue;
    const { id, from, created, content } = event;
    const text = content === undefined ? null : content.slice(0, TEXT_CHARS);
    const { subject, link } = readMailExtras(event);
    messages.unshift({
      id,
      from: (from ?? '').slice(0, FROM_CHARS),
      created: created ?? '',
      subject,
      text,
      link,
      isQuestion: event.event === 'question',
      ...readMailUrgency(event),
    });
  }
  return messages.length === before.length ? before : messages.slice(0, MOST);
}

/** The key of a health that nobody sees: how often a failing poll has failed. */
const UNSEEN = 'failures';

type AnyRecord = Readonly<Record<string, unknown>>;

/**
 * Returns whether two values look the same to a person: plain data, maps and faults, compared to the last key. Nothing
 * names the keys, so whatever is added to a view is compared.
 */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  const kind: unknown = Object.getPrototypeOf(a);
  if (kind !== Object.getPrototypeOf(b)) return false;
  if (kind === Object.prototype) return isSameRecord(a as AnyRecord, b as AnyRecord);
  if (Array.isArray(a)) return isSameList(a, b as unknown as readonly unknown[]);
  if (a instanceof Map) return isSameList([...a], [...(b as typeof a)]);
  if (a instanceof Fault && b instanceof Fault) return a.scope.key === b.scope.key && a.explain() === b.explain();
  return false;
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i] && !isSameValue(a[i], b[i])) return false;
  return true;
}

function isSameRecord(a: AnyRecord, b: AnyRecord): boolean {
  let more = 0;
  for (const key in a) {
    more -= 1;
    const value = b[key];
    if (value === undefined && !(key in b)) return false;
    if (a[key] !== value && key !== UNSEEN && !isSameValue(a[key], value)) return false;
  }
  for (const _ in b) more += 1;
  return more === 0;
}
