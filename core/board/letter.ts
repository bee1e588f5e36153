import { type Event, isMail } from '../events/index.ts';

/** One message as a surface lists it. `from` and `text` are untrusted. */
export interface Letter {
  readonly id: number;
  /** Empty where its source does not say; so is `created`. */
  readonly from: string;
  readonly created: string;
  /** Cut; null where content is left out. */
  readonly text: string | null;
}

/** So many of a persona are kept. */
const MOST = 5;
const FROM_CHARS = 100;
const TEXT_CHARS = 300;

/** The newest messages after these events were told, newest first. */
export function lettersWith(before: readonly Letter[], events: readonly Event[]): readonly Letter[] {
  const letters = [...before];
  for (const event of events) {
    if (!isMail(event)) continue;
    const { id, from, created, content } = event;
    const text = content === undefined ? null : content.slice(0, TEXT_CHARS);
    letters.unshift({ id, from: (from ?? '').slice(0, FROM_CHARS), created: created ?? '', text });
  }
  return letters.length === before.length ? before : letters.slice(0, MOST);
}
