import { formatWaiting } from './agent-text.ts';
import { formatCount, formatQuantity } from './quantity.ts';

/** What is asked of a person, and their mail, in numbers. A number of messages that is not known is null. */
export interface NeedCounts {
  /** Open decisions, and questions in mail. */
  readonly questions: number;
  /** Permission prompts that can be answered here. */
  readonly permissions: number;
  /** Agents that wait for a person and have no decision and no permission prompt open. */
  readonly waiting: number;
  readonly unread: number | null;
  readonly unreadIs: 'exact' | 'atLeast' | 'unknown';
  readonly urgent: number | null;
  readonly urgentIs: 'exact' | 'atLeast' | 'unknown';
}

/** Formats what is asked of a person, then their mail: `1 question for you, 6 unread, 1 urgent`; else `No unread messages`. */
export function formatNeeds(counts: NeedCounts): string {
  const { unread, unreadIs, urgent, urgentIs } = counts;
  const asked = formatAsked(counts);
  const parts = [
    ...(asked === null ? [] : [asked]),
    ...formatMail(unread, unreadIs, 'unread'),
    ...formatMail(urgent, urgentIs, 'urgent'),
  ];
  if (parts.length > 0) return parts.join(', ');
  if (unreadIs === 'unknown' || unread === null) return 'Unread count unknown';
  return unreadIs === 'exact' ? 'No unread messages' : 'No unread messages known';
}

/** Formats what is asked of a person: `1 question for you`, `2 agents wait for you`. Null when nothing is. */
export function formatAsked({
  questions,
  permissions,
  waiting,
}: Pick<NeedCounts, 'questions' | 'permissions' | 'waiting'>): string | null {
  const parts = [
    ...(permissions > 0 ? [`${formatQuantity(permissions, 'permission prompt')} for you`] : []),
    ...(questions > 0 ? [`${formatQuantity(questions, 'question')} for you`] : []),
    ...(waiting > 0 ? [formatWaiting(waiting)] : []),
  ];
  return parts.join(', ') || null;
}

/** A lower bound of nothing says nothing. */
function formatMail(n: number | null, is: NeedCounts['unreadIs'], word: string): string[] {
  return n === null || n === 0 || is === 'unknown' ? [] : [`${formatCount(n, is)} ${word}`];
}

/** The part of the status JSON that says what is asked of a person. */
interface AskingStatus {
  readonly personas: readonly {
    readonly id: string;
    readonly agent: string;
    readonly questions: number | null;
    readonly hidden: boolean;
  }[];
  readonly decisions: readonly { readonly persona: string }[];
  readonly permissions: readonly { readonly persona: string }[];
}

/** Counts what is asked of a person. An agent that waits for an answer to its own question counts once, as the question. */
export function countAsked({
  personas,
  decisions,
  permissions,
}: AskingStatus): Pick<NeedCounts, 'questions' | 'permissions' | 'waiting'> {
  const asking = new Set([...decisions, ...permissions].map(({ persona }) => persona));
  const seen = personas.filter(({ hidden }) => !hidden);
  return {
    questions: seen.reduce((n, { questions }) => n + (questions ?? 0), decisions.length),
    permissions: permissions.length,
    waiting: seen.filter(({ id, agent }) => agent === 'waiting' && !asking.has(id)).length,
  };
}
