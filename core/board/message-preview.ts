import { type Event, isMail } from '../events/index.ts';

/** One message as a surface lists it. `from` and `text` are untrusted. */
export interface MessagePreview {
  readonly id: number;
  /** Empty where the source does not give it, like `created`. */
  readonly from: string;
  readonly created: string;
  /** Shortened; null where content is left out. */
  readonly text: string | null;
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
    messages.unshift({ id, from: (from ?? '').slice(0, FROM_CHARS), created: created ?? '', text });
  }
  return messages.length === before.length ? before : messages.slice(0, MOST);
}
