import type { Clock } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import { cut, sanitizeText } from '../source-tools.ts';
import { AGMSG } from './settings.ts';

/** One message for one agent. */
export interface AgmsgMessage {
  /** Its id, `legacy:ID` of a row from before the log of events. */
  readonly key: string;
  /** What its key was while it was such a row; null when it was none. */
  readonly legacyKey: string | null;
  /** Its place in the log; 0 of a row from before. */
  readonly seq: number;
  readonly from: string | null;
  readonly created: string | null;
  readonly content: string | null;
  readonly isUrgent: boolean;
  readonly isRead: boolean;
}

/** A store of messages, of one team or several. Nothing of it is ever written. */
export interface AgmsgStore {
  /** Reads what changed. @throws Fault; what was read last stays as it is then */
  refresh(): Promise<void>;
  /** Names the file. */
  readonly epoch: string;
  /**
   * The messages of an agent in the order of the log: those that are unread, and those that came since this store was opened and
   * were read meanwhile. The same object as before when nothing changed.
   */
  list(team: string, agent: string): readonly AgmsgMessage[];
  /** Of these keys those that the store holds as messages for this agent. @throws Fault */
  findExisting(team: string, agent: string, keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** What came up to this place needs not be listed any more when it is read. */
  release(team: string, agent: string, seq: number): void;
  /** Whether nobody wrote since the store was read last. */
  isUnchanged(): boolean;
}

export interface StoreOptions {
  readonly path: string;
  readonly disk: Disk;
  readonly clock: Clock;
  /** How many code points of content an event has; null leaves content out. */
  readonly contentChars: number | null;
}

export const NO_MESSAGES: readonly AgmsgMessage[] = [];
export const SCOPE = { is: 'source', key: AGMSG } as const;

/** Characters of a body that are read: enough for the content, whatever it is. */
export const toBodyChars = (contentChars: number | null): number => 2 * (contentChars ?? 0) + URGENT_CHARS;
const URGENT_CHARS = 16;

/** A message as a row or a line has it, of which nothing is known to have its type. */
export interface RawAgmsgMessage {
  readonly id: unknown;
  readonly seq: number;
  readonly from: unknown;
  readonly body: unknown;
  readonly at: unknown;
  readonly legacyId: unknown;
  readonly isRead: boolean;
}

export function toMessage(
  { id, seq, from, body, at, legacyId, isRead }: RawAgmsgMessage,
  chars: number | null,
): AgmsgMessage {
  const text = typeof body === 'string' ? body : '';
  return {
    key: String(id),
    legacyKey: legacyId === null || legacyId === undefined ? null : toLegacyKey(legacyId),
    seq,
    from: typeof from === 'string' ? sanitizeText(from) : null,
    created: typeof at === 'string' ? sanitizeText(at) : null,
    content: chars === null ? null : cut(sanitizeText(text), chars),
    isUrgent: /^(?:\[urgent\]|URGENT)/.test(text),
    isRead,
  };
}

export const LEGACY = 'legacy:';
export const toLegacyKey = (id: unknown): string => `${LEGACY}${String(id)}`;

/** Names one agent of one team. Neither name has such a separator. */
export const toMember = (team: string, agent: string): string => `${team}\0${agent}`;

/** Messages that are listed: what is unread, and what came after `base`. The same list as before when it says the same. */
export function listMessages(
  all: readonly AgmsgMessage[],
  base: number,
  before: readonly AgmsgMessage[] | undefined,
): readonly AgmsgMessage[] {
  const known = new Map(before?.map((message) => [message.key, message]));
  const listed = all
    .filter(({ isRead, seq }) => !isRead || seq > base)
    .map((message) => {
      const same = known.get(message.key);
      return same !== undefined && same.isRead === message.isRead && same.seq === message.seq ? same : message;
    });
  const isSame =
    before !== undefined && before.length === listed.length && listed.every((message, i) => message === before[i]);
  return isSame ? before : listed;
}
