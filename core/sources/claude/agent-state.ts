import type { AgentDetails, AgentState, WaitReason } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { LiveSession } from './directory.ts';
import type { MailEntry } from './mail-log.ts';
import type { SessionFile, TeamMember } from './read/index.ts';
import type { TeamInbox } from './team-inbox.ts';
import { cleanText } from './texts.ts';

/** Mail that lies longer than this is of nobody (contract 4). */
const STALLED_AFTER_MS = 60_000;
const WHY_CHARS = 80;

/** Reasons of this source. */
export const NO_READER = 'no-reader';
export const NO_STATUS = 'no-status';
export const PROCESS_GONE = 'process-gone';

const REASONS: Readonly<Record<string, WaitReason>> = {
  'permission prompt': 'permission',
  'sandbox request': 'permission',
  'input needed': 'input',
  'dialog open': 'dialog',
};

/** What a persona of this source stands for, as far as its state hangs on it. */
export interface AgentSigns {
  /** Its session; of a member that of its lead; null when nobody knows it. */
  readonly session: LiveSession | null;
  /** Whether it is the session itself. */
  readonly isSession: boolean;
  readonly member: TeamMember | null;
  readonly boxes: readonly TeamInbox[];
}

/** Decides what an agent does (contract 4). */
export function findAgentState({ session, isSession, member, boxes }: AgentSigns, clock: Clock): AgentState {
  if (session === null) return { is: 'gone', why: PROCESS_GONE, ...toDetails(null, member, null) };
  const { file, goneAt } = session;
  const details = toDetails(file, member, isSession ? session.model : null);
  if (goneAt !== null) return { is: 'gone', why: PROCESS_GONE, since: goneAt.instant, ...details };
  const since = file.statusUpdatedAt === null ? {} : { since: file.statusUpdatedAt };
  const isWaiting = file.status === 'waiting';
  if (isWaiting && isSession) return { is: 'waiting', why: toReason(file.waitingFor), ...since, ...details };
  // While a lead waits, its members wait with it: their mail lies, and nobody is stuck (contract 8).
  const oldest = isWaiting ? null : findOldest(boxes);
  if (oldest !== null && clock.monotonic() - oldest.since > STALLED_AFTER_MS)
    return { is: 'stalled', why: NO_READER, since: oldest.sinceAt + STALLED_AFTER_MS, ...details };
  if (!isSession) return { is: 'live', ...details };
  switch (file.status) {
    case 'busy':
    case 'shell':
      return { is: 'working', ...since, ...details };
    case 'idle':
      return { is: 'idle', ...since, ...details };
    default: {
      const why = file.status === null ? NO_STATUS : cleanText(file.status, WHY_CHARS);
      return { is: 'unknown', why, ...since, ...details };
    }
  }
}

function toReason(waitingFor: string | null): string {
  if (waitingFor === null) return 'input';
  return REASONS[waitingFor] ?? cleanText(waitingFor, WHY_CHARS);
}

function toDetails(file: SessionFile | null, member: TeamMember | null, answered: string | null): AgentDetails {
  const cwd = member?.cwd ?? file?.cwd ?? null;
  const model = member?.model ?? answered;
  return { ...(cwd === null ? {} : { cwd }), ...(model === null ? {} : { model }) };
}

/** The mail that waits longest in these inboxes; null when none does. */
function findOldest(boxes: readonly TeamInbox[]): MailEntry | null {
  const unread = boxes.flatMap(({ log }) => [...log.entries.values()].filter(({ state }) => state === 'unread'));
  return unread.reduce<MailEntry | null>(
    (oldest, entry) => (oldest === null || entry.since < oldest.since ? entry : oldest),
    null,
  );
}

/** When the mail of these inboxes will have lain too long, on the monotonic clock; null when none lies. */
export function findStallTime(boxes: readonly TeamInbox[]): number | null {
  const oldest = findOldest(boxes);
  return oldest === null ? null : oldest.since + STALLED_AFTER_MS;
}
