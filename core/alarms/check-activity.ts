import { formatIso, type Instant } from '../model/index.ts';
import type { ActivityReport, PersonaActivity } from './activity-report.ts';
import { formatBlind } from './blind-inboxes.ts';

/** Active, silent in a watched span, or not observable. These are never confused (Kijito contract c). */
export type ActivityVerdict = { readonly is: 'active' | 'silent' | 'unobservable'; readonly words: string };

export interface ActivityQuestion {
  readonly persona: string;
  /** The persona is active if it did something after this message. */
  readonly sinceId: number;
  /** How often the asker has already waited, for the words only; null: unknown. */
  readonly waits: number | null;
}

/** Checks what a report shows of one persona. It states what was seen, never why (Kijito contract, trap 50). */
export function checkActivity(report: ActivityReport, question: ActivityQuestion, now: Instant): ActivityVerdict {
  const { persona, sinceId } = question;
  const observed = report.personas.get(persona);
  if (observed === undefined) return toUnobservable(`${persona}: nothing is known of this name`);
  const { sent, read } = observed;
  if (sent !== null && sent.id > sinceId)
    return { is: 'active', words: `${persona}: sent message ${sent.id}, seen ${formatIso(sent.at)}` };
  if (read !== null && read.after >= sinceId)
    return {
      is: 'active',
      words: `${persona}: mail was read there, seen ${formatIso(read.at)}, after message ${sinceId}`,
    };
  const why = findObstacle(report, observed, sinceId, now);
  if (why !== null) return toUnobservable(`${persona}: ${why}`);
  const waits = question.waits === null ? '' : ` after ${question.waits} ${question.waits === 1 ? 'wait' : 'waits'}`;
  return {
    is: 'silent',
    words: `${persona}: nothing was seen of it since message ${sinceId}${waits}; ${formatLast(observed)}`,
  };
}

/** Returns why silence cannot be derived from the report; null: it can. */
function findObstacle(report: ActivityReport, observed: PersonaActivity, sinceId: number, now: Instant): string | null {
  const { floor, upTo, published, staleAfterMs, blind } = report;
  if (!observed.watched) return 'its inbox is not watched';
  // The absolute distance counts, so that a wall clock that was set back makes no report fresh.
  if (Math.abs(now - published) > staleAfterMs) return `the report is of ${formatIso(published)}: nobody watches now`;
  if (floor !== null && floor > sinceId) return `what came before message ${floor} was not watched`;
  if (blind.size > 0) return `it may have written where nobody looks now: ${formatBlind(blind)}`;
  if (floor === null) return 'some inboxes have no position yet';
  if (upTo === null) return 'some inboxes cannot be read now';
  if (upTo < sinceId) return `not every inbox was looked at since message ${sinceId}, only since ${upTo}`;
  return null;
}

function formatLast({ sent, read }: PersonaActivity): string {
  const parts = [
    ...(sent === null ? [] : [`message ${sent.id} from it was seen ${formatIso(sent.at)}`]),
    ...(read === null ? [] : [`mail was read there ${formatIso(read.at)}`]),
  ];
  return parts.length === 0 ? 'nothing was seen of it before' : `before that, ${parts.join(' and ')}`;
}

function toUnobservable(words: string): ActivityVerdict {
  return { is: 'unobservable', words: `${words}: not observable` };
}
