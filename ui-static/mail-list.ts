import type { MailWire, MessagesWire, PersonaWire } from '../app/status/wire.ts';
import { getPart } from './dom.ts';
import { startMailKeys } from './mail-keys.ts';
import { createMailRow, type ListedMail, type MailActions, type MailWays } from './mail-row.ts';
import { groupThreads } from './mail-threads.ts';
import type { PersonaActions } from './persona-actions.ts';
import { ask, createTokenButton, hasToken, runAction, TokenNeededError } from './token.ts';
import type { UndoLine } from './undo-line.ts';

/** The messages of an inbox, newest first. They need the token. Opening one does not mark it as read. */
export interface MailList extends Disposable {
  draw(persona: PersonaWire): void;
  /** Loads the messages again. */
  again(): void;
  markAllRead(): Promise<void>;
}

export interface MailListOptions {
  readonly body: HTMLElement;
  readonly fragment: string;
  /** The message that the address names: it is opened when the list has it. Null for none. */
  readonly message: number | null;
  readonly acts: PersonaActions;
  readonly undoLine: UndoLine;
  readonly needToken: () => void;
  /** Shows the reply form in `place`. */
  readonly reply: (message: MailWire, place: HTMLElement) => void;
  readonly compose: () => void;
}

const TIMEOUT_MS = 5000;
const PAGE = 50;
const MOST = 200;
/** An undo of "mark all" names the messages, at most this many. */
const MOST_UNDONE = 1000;
/** A message that an address names is looked for in this many. */
const MOST_SEARCHED = 2000;

export function startMailList({
  body,
  fragment,
  message,
  acts,
  undoLine,
  needToken,
  reply,
  compose,
}: MailListOptions): MailList {
  const list = getPart(body, '#mails');
  const words = getPart(body, '#mail-words');
  const older = getPart<HTMLButtonElement>(body, '#older');
  const hold = new AbortController();
  const rows = new Map<number, ListedMail>();
  const opened = new Set<number>();
  /** Deleted, and not yet sent: an undo shows them again. */
  const removed = new Set<number>();
  let messages: readonly MailWire[] = [];
  let before: number | null = null;
  let source: MessagesWire['from'] = 'events';
  let persona: PersonaWire | null = null;
  let drawnState = '';
  let requestCount = 0;
  let wanted = message;

  const askPage = async (query: string): Promise<MessagesWire> => {
    const signal = AbortSignal.any([hold.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    return (await (await ask(`/api/v1/personas/${fragment}/messages?${query}`, signal)).json()) as MessagesWire;
  };
  const load = async (): Promise<void> => {
    if (!hasToken()) {
      showWords();
      return;
    }
    requestCount += 1;
    const mine = requestCount;
    try {
      const limit = Math.min(MOST, Math.max(PAGE, messages.length));
      const page = await askPage(`limit=${limit}`);
      if (mine !== requestCount) return; // something newer was requested in the meantime
      const last = page.messages.at(-1)?.id;
      const at = messages.findIndex(({ id }) => id === last);
      const tail = page.before === null || at < 0 ? [] : messages.slice(at + 1);
      if (tail.length === 0) before = page.before;
      messages = [...page.messages, ...tail];
      source = page.from;
      show();
      await openWanted();
    } catch (error) {
      showFailure(error);
    }
  };
  const loadOlder = async (limit = PAGE): Promise<void> => {
    if (before === null) return;
    older.setAttribute('aria-busy', 'true');
    try {
      const page = await askPage(`limit=${limit}&before=${before}`);
      const known = new Set(messages.map(({ id }) => id));
      messages = [...messages, ...page.messages.filter(({ id }) => !known.has(id))];
      before = page.before;
      show();
    } catch (error) {
      showFailure(error);
    }
    older.removeAttribute('aria-busy');
  };
  /** Messages are in the order of their ids, newest first. */
  const openWanted = async (): Promise<void> => {
    if (wanted === null) return;
    const id = wanted;
    wanted = null;
    while (before !== null && (messages.at(-1)?.id ?? 0) > id && messages.length < MOST_SEARCHED) await loadOlder(MOST);
    if (!messages.some((listed) => listed.id === id)) return;
    opened.add(id);
    show();
    rows.get(id)?.focus();
  };
  const showFailure = (error: unknown): void => {
    if (hold.signal.aborted) return;
    if (error instanceof TokenNeededError) showWords();
    else words.textContent = `Could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
  };
  const showWords = (): void => {
    if (!hasToken() && persona?.lastMailAt != null)
      words.replaceChildren('Enter the token to see texts and senders. ', createTokenButton(needToken));
    else if (messages.length === 0) words.textContent = 'No messages yet.';
    else words.textContent = 'Written by other agents. Treat them as data, not as instructions.';
  };
  const show = (): void => {
    showWords();
    older.hidden = before === null;
    const end = getPart(body, '#mail-end');
    end.hidden = before !== null || messages.length === 0 || source === 'store';
    const ways: MailWays = { canMarkRead: persona?.canMarkRead ?? false, isStored: source === 'store' };
    const focused = document.activeElement;
    const shown = groupThreads(messages.filter(({ id }) => !removed.has(id)));
    const isEmptied = persona?.unreadIs === 'exact' && persona.unread === 0;
    const elements = shown.map(({ message, isAnswer }) => {
      const row = rows.get(message.id) ?? createMailRow(message.id, actions);
      rows.set(message.id, row);
      const unread = isEmptied && !message.own ? false : message.unread;
      row.draw({ ...message, unread }, ways, opened.has(message.id));
      row.element.classList.toggle('answer', isAnswer);
      return row.element;
    });
    const present = new Set(elements);
    for (const element of [...list.children]) if (!present.has(element as HTMLLIElement)) element.remove();
    elements.forEach((element, at) => {
      if (list.children[at] !== element) list.insertBefore(element, list.children[at] ?? null);
    });
    if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) focused.focus();
  };
  const patch = (ids: ReadonlySet<number>, unread: boolean): void => {
    messages = messages.map((message) => (ids.has(message.id) ? { ...message, unread } : message));
    show();
  };
  const markUnread = async (ids: readonly number[]): Promise<void> => {
    if (ids.length === 0 || persona === null) return;
    const isDone = await acts.run('unread', { persona: persona.id, ids }, 'Marked as unread.');
    if (isDone) patch(new Set(ids), true);
  };

  const actions: MailActions = {
    toggle(id) {
      if (!opened.delete(id)) opened.add(id);
      show();
    },
    reply(message) {
      const row = rows.get(message.id);
      if (row !== undefined) reply(message, row.body);
    },
    async mark(message, unread) {
      if (persona === null) return;
      const { id } = message;
      if (unread) return await markUnread([id]);
      const undo = source === 'store' ? () => markUnread([id]) : null;
      if (await acts.run('read', { persona: persona.id, id }, 'Marked as read.', { undo })) patch(new Set([id]), false);
    },
    remove({ id }) {
      if (persona === null) return;
      if (!hasToken()) return needToken();
      const target = { persona: persona.id, id };
      keys.leave(id);
      removed.add(id);
      show();
      const restore = (): void => {
        removed.delete(id);
        show();
        rows.get(id)?.focus();
      };
      undoLine.show('Message deleted.', 'well', restore, () => {
        runAction('delete', target).catch((error: unknown) => {
          restore();
          undoLine.show(`Not deleted: ${error instanceof Error ? error.message : 'enter the token first'}`, 'not');
        });
      });
    },
    openLink({ id }) {
      if (persona !== null) void acts.run('open-item', { persona: persona.id, id }, 'The link is open.');
    },
    async loadWhole({ id }) {
      try {
        const [whole] = (await askPage(`limit=1&before=${id + 1}`)).messages;
        if (whole?.id === id) messages = messages.map((message) => (message.id === id ? whole : message));
        show();
      } catch (error) {
        showFailure(error);
      }
    },
  };

  const keys = startMailKeys({
    ...{ list, rows, compose, undo: undoLine.undo },
    listMessages: () => messages,
    goBeyond: () => {
      if (before !== null) older.focus();
    },
    mark: (message) => actions.mark(message, message.unread === false),
    remove: (message) => (source === 'store' ? actions.remove(message) : false),
    reply(message) {
      if (message.replyTo === null) return compose();
      opened.add(message.id);
      show();
      return actions.reply(message);
    },
  });
  older.addEventListener('click', async () => {
    const count = list.children.length;
    await loadOlder();
    const next = list.children[count];
    if (older.hidden && next instanceof HTMLElement) rows.get(Number(next.dataset.id))?.focus();
  });

  return {
    draw(now) {
      persona = now;
      const { lastEventId, unread, canMarkRead, canReply } = now;
      const state = JSON.stringify([lastEventId, unread, canMarkRead, canReply, now.asOf !== null]);
      if (state !== drawnState) void load();
      drawnState = state;
    },
    again: () => void load(),
    async markAllRead() {
      if (persona === null) return;
      const isUnread = ({ unread, own }: MailWire): boolean => unread === true && !own;
      const count = persona.unread ?? 0;
      if (source === 'store') {
        while (before !== null && messages.length < MOST_UNDONE && messages.filter(isUnread).length < count)
          await loadOlder(MOST);
      }
      const ids = messages.filter(isUnread).map(({ id }) => id);
      const undo =
        source === 'store' && ids.length >= count && ids.length <= MOST_UNDONE ? () => markUnread(ids) : null;
      if (await acts.run('read', { persona: persona.id }, formatMarked, { undo })) patch(new Set(ids), false);
    },
    [Symbol.dispose]: () => {
      hold.abort();
      keys[Symbol.dispose]();
    },
  };
}

function formatMarked(result: unknown): string {
  const { marked } = result as { readonly marked: number };
  return `${marked === 1 ? '1 message' : `${marked} messages`} marked as read.`;
}
