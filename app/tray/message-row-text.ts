import type { MessagePreview } from '../../core/board/index.ts';
import type { Instant } from '../../core/model/index.ts';
import { formatRowName, formatRowText } from './text.ts';
import { parseTimestamp } from './timestamp.ts';

const SENDER_MOST = 24;
const LINE_MOST = 60;

/** A message as a row of the menu tells it. */
export interface MessageRowText {
  readonly from: string;
  /** Null: it does not say when it was written. */
  readonly at: Instant | null;
  /** Empty where content is left out. */
  readonly text: string;
}

/** A letter never changes and is drawn many times: it is read once, and forgotten with it. */
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
