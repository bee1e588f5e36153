import type { MailWire } from '../app/status/wire.ts';
import { addKeys } from './keyboard.ts';
import type { ListedMail } from './mail-row.ts';

interface MailKeyOptions {
  readonly list: HTMLElement;
  readonly rows: ReadonlyMap<number, ListedMail>;
  readonly listMessages: () => readonly MailWire[];
  /** Goes on below the last message. */
  readonly goBeyond: () => void;
  /** Each returns false where that is not possible. */
  readonly mark: (message: MailWire) => unknown;
  readonly reply: (message: MailWire) => unknown;
  readonly remove: (message: MailWire) => unknown;
  readonly compose: () => unknown;
  readonly undo: () => unknown;
}

export interface MailKeys extends Disposable {
  /** Moves the focus from this message to the next one, before it goes away. */
  leave(id: number): void;
}

/** The keys of a list of messages. The message with the focus is the selected one. */
export function startMailKeys(options: MailKeyOptions): MailKeys {
  const { list, rows, listMessages, goBeyond, mark, reply, remove, compose, undo } = options;
  const findRow = (): Element | null => document.activeElement?.closest('#mails > li') ?? null;
  const findSelected = (): MailWire | null => {
    const row = findRow();
    return listMessages().find(({ id }) => rows.get(id)?.element === row) ?? null;
  };
  /** Puts the focus on the message `by` rows away. */
  const move = (by: number): boolean => {
    const all = [...list.children];
    const row = findRow();
    const at = row === null ? (by > 0 ? 0 : -1) : all.indexOf(row) + by;
    const target = all[at];
    if (target === undefined) {
      if (by > 0) goBeyond();
      return false;
    }
    for (const { element, focus } of rows.values()) if (element === target) focus();
    return true;
  };
  const forSelected = (run: (message: MailWire) => unknown) => (): unknown => {
    const message = findSelected();
    return message === null ? false : run(message);
  };
  const removeKeys = addKeys('Messages', [
    { keys: 'j', words: 'Next message', run: () => move(1) },
    { keys: 'k', words: 'Previous message', run: () => move(-1) },
    { keys: 'Enter', words: 'Open or close a message', run: () => false },
    { keys: 'u', words: 'Mark as read or unread', run: forSelected(mark) },
    { keys: 'r', words: 'Reply to a message', run: forSelected(reply) },
    { keys: '#', words: 'Delete a message', run: forSelected(remove) },
    { keys: 'c', words: 'Write a message', run: compose },
    { keys: 'z', words: 'Undo', run: undo },
  ]);
  return {
    leave(id) {
      if (findSelected()?.id === id && !move(1)) move(-1);
    },
    [Symbol.dispose]: removeKeys,
  };
}
