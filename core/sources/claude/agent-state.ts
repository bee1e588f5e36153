import type { AgentDetails, AgentState, WaitReason } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import type { LiveSession } from './directory.ts';
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

/**
 * What an agent does.
 * @param session its own one; of a member that of its lead; null when nobody knows it
 * @param mail its inboxes; of a member also what its team says of it
 */
export function findAgentState(
  session: LiveSession | null,
  mail: readonly TeamInbox[] | { readonly member: TeamMember | null; readonly boxes: readonly TeamInbox[] },
  clock: Clock,
): AgentState {
  const isSession = Array.isArray(mail);
  const { member, boxes } = isSession
    ? { member: null, boxes: mail as readonly TeamInbox[] }
    : (mail as { member: TeamMember | null; boxes: readonly TeamInbox[] });
  if (session === null) return { is: 'gone', why: PROCESS_GONE, ...toDetails(null, member) };
  const { file, goneAt } = session;
  const details = toDetails(file, member);
  if (goneAt !== null) return { is: 'gone', why: PROCESS_GONE, since: goneAt.instant, ...details };
  const since = file.statusUpdatedAt === null ? {} : { since: file.statusUpdatedAt };
  const isWaiting = file.status === 'waiting';
  // While a lead waits, its members wait with it: their mail lies, and nobody is stuck.
  if (isWaiting && isSession) return { is: 'waiting', why: toReason(file.waitingFor), ...since, ...details };
  if (!isWaiting) {
    const oldest = findOldest(boxes);
    const age = oldest === null ? 0 : clock.monotonic() - oldest;
    if (age > STALLED_AFTER_MS)
      return { is: 'stalled', why: NO_READER, since: Math.round(clock.now() - age), ...details };
  }
  if (!isSession) return { is: 'live', ...details };
  switch (file.status) {
    case 'busy':
    case 'shell':
      return { is: 'working', ...since, ...details };
    case 'idle':
      return { is: 'idle', ...since, ...details };
    default:
      return {
        is: 'unknown',
        why: file.status === null ? NO_STATUS : cleanText(file.status, WHY_CHARS),
        ...since,
        ...details,
      };
  }
}

function toReason(waitingFor: string | null): string {
  if (waitingFor === null) return 'input';
  return REASONS[waitingFor] ?? cleanText(waitingFor, WHY_CHARS);
}

function toDetails(file: SessionFile | null, member: TeamMember | null): AgentDetails {
  const cwd = member?.cwd ?? file?.cwd ?? null;
  const model = member?.model ?? null;
  return { ...(cwd === null ? {} : { cwd }), ...(model === null ? {} : { model }) };
}

/** When the mail that waits longest began to, on the monotonic clock. */
function findOldest(boxes: readonly TeamInbox[]): number | null {
  const times = boxes.flatMap(({ log }) =>
    [...log.entries.values()].filter(({ state }) => state === 'unread').map(({ since }) => since),
  );
  return times.length === 0 ? null : Math.min(...times);
}
