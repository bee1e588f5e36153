import { AGENT_STATE_NOT_REPORTED } from '../../model/index.ts';
import type { AgentReading, MailLayout } from '../mail-folders/index.ts';
import { toOneLine } from '../source-tools.ts';
import { isUrgentMessage, parseAmqMessage, parseNanoTime, parseObject, splitFrontMatter, USER } from './message.ts';

/** Old handles may begin with a dash: such an agent is listed. */
const HANDLE = /^[a-z0-9_-]+$/;
const MOST_BYTES = 10 * 1024 * 1024;
/** How long an agent counts as running after it was seen (AMQ contract 3). */
const LIVE_MS = 120_000;
const TEXT_CHARS = 80;

/** A queue of AMQ: `agents/HANDLE/inbox/{new,cur}` (AMQ contract 1). */
export const amqLayout: MailLayout = {
  name: 'amq',
  mailboxes: 'agents',
  always: [USER],
  isMailbox: (name) => HANDLE.test(name),
  formatLabel: (address) => (address === USER ? 'you' : address),
  ...{ arriving: 'inbox/new', claimed: 'inbox/cur', needsArriving: false, isWhole: true },
  parseName: (name, isClaimed) => (name.endsWith('.md') ? { key: name, isRead: isClaimed } : null),
  deliversPassing: true,
  mostBytes: MOST_BYTES,
  parse: parseAmqMessage,
  isUrgent: isUrgentMessage,
  isReplaced: true,
  agent: { name: 'presence.json', parse: parsePresence },
  dead: { folders: ['dlq/new', 'dlq/cur'], parse: parseDead },
};

function parsePresence(text: string | null, now: number): AgentReading {
  const presence = text === null ? null : parseObject(text);
  if (text === null) return { state: AGENT_STATE_NOT_REPORTED, until: null };
  if (presence === null) return { state: { is: 'unknown', why: 'presence-unreadable' }, until: null };
  const { status, last_seen: seen, doorbell_parked: parked } = presence;
  const why = typeof status === 'string' ? toOneLine(status, TEXT_CHARS) : '';
  const at = typeof seen === 'string' ? parseNanoTime(seen) : null;
  const seenAt = at === null ? null : at[0] * 1000 + at[1] / 1e6;
  if (parked === true || (typeof parked === 'number' && parked > 0))
    return { state: { is: 'stalled', why: 'doorbell-parked' }, until: null };
  if (seenAt !== null && now - seenAt < LIVE_MS)
    return { state: { is: 'live', ...(why === '' ? {} : { why }) }, until: seenAt + LIVE_MS };
  return { state: { is: 'unknown', why: why || 'not-seen' }, until: null };
}

function parseDead(name: string, text: string) {
  const envelope = name.endsWith('.md') ? (splitFrontMatter(text)?.header ?? null) : null;
  if (envelope?.schema !== 'amq/dlq/v1') return null;
  const say = (key: string): string => (typeof envelope[key] === 'string' ? toOneLine(envelope[key], 200) : '');
  const reason = [say('failure_reason'), say('failure_detail')].filter((part) => part !== '').join(': ');
  const filename = say('original_file') || say('original_id') || name;
  return { filename, message: `is in the dead letter queue: ${reason || 'no reason is given'}` };
}
