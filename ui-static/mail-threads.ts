import type { MailWire } from '../app/status/wire.ts';

export interface ShownMessage {
  readonly message: MailWire;
  /** Shown below the first message of its thread. */
  readonly isAnswer: boolean;
}

/** Puts each thread where its newest message is: its first message, and below that its answers, oldest first. */
export function groupThreads(messages: readonly MailWire[]): readonly ShownMessage[] {
  const threads = new Map<string, MailWire[]>();
  const known = new Set(messages.map(({ id }) => id));
  const getThread = ({ id, thread, conversation }: MailWire): string =>
    conversation !== null ? `c${conversation}` : `m${thread !== null && known.has(thread) ? thread : id}`;
  for (const message of messages) {
    const key = getThread(message);
    threads.set(key, [message, ...(threads.get(key) ?? [])]);
  }
  return [...threads.values()].flatMap((thread) => thread.map((message, at) => ({ message, isAnswer: at > 0 })));
}
