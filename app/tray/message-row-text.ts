import type { MessagePreview } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { formatRowName, formatRowText } from './text.ts';
import { parseTimestamp } from './timestamp.ts';

const SENDER_MOST = 24;
const LINE_MOST = 60;

/** The texts of a message in a menu row. */
export interface MessageRowText {
  readonly from: string;
  /** Null when the message has no readable time. */
  readonly at: Instant | null;
  /** Empty where content is left out. */
  readonly text: string;
}

/** A message never changes and is drawn many times, so its texts are computed once and dropped with it. */
const cache = new WeakMap<MessagePreview, MessageRowText>();

export function toMessageRowText(message: MessagePreview): MessageRowText {
  const known = cache.get(message);
  if (known !== undefined) return known;
  const messageRow = {
    from: formatRowName(message.from, SENDER_MOST) || '?',
    at: parseTimestamp(message.created),
    text: formatRowText(message.text ?? '', LINE_MOST),
  };
  cache.set(message, messageRow);
  return messageRow;
}
