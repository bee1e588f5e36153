import { type Lent, lend, MAX_TEXT, MIN_TEXT, render, type TakeOver } from '../../../core/inbox/drain/index.ts';
import type { Item, Items, Priority } from '../../../core/inbox/index.ts';
import type { Clock, Log } from '../../../core/ports/index.ts';
import type { Waiting } from './events.ts';

/** A frame that is about to be written, and what follows from whether it was. */
export interface Told {
  readonly text: string;
  /** It was written whole. Never throws. */
  written(): void;
  /** It was not. Never throws. */
  lost(): void;
}

export interface MailNeeds {
  readonly items: Items;
  readonly takeOver: TakeOver | null;
  readonly waiting: Waiting;
  readonly clock: Clock;
  readonly log: Log;
}

export interface MailRequest {
  /** In the local hive. */
  readonly name: string;
  readonly session: string | null;
  readonly upTo: Priority;
  /** Characters that other text of the same answer takes. */
  readonly taken: number;
}

/** What waits for a session in one frame: its items, lent, and events of another source. Null: nothing does. @throws Fault */
export function mailFor(needs: MailNeeds, { name, session, upTo, taken }: MailRequest): Told | null {
  const { items, takeOver, clock, log } = needs;
  const lent = lend({ items, takeOver, clock, log }, { persona: name, session, upTo });
  const waiting = upTo < 2 ? [] : needs.waiting.items;
  const all = merged(lent?.items ?? [], waiting);
  if (all.length === 0) return null;
  try {
    const room = Math.max(MIN_TEXT, MAX_TEXT - taken);
    const { text, shown } = render(all, { persona: name, room, now: clock.now(), left: lent?.left ?? 0 });
    const isShown = new Set(shown);
    return {
      text,
      written() {
        lent?.commit(lent.items.filter((item) => isShown.has(item)));
        tried(() => needs.waiting.told(waiting.filter((item) => isShown.has(item)).length), log);
      },
      lost: () => lent?.release(),
    };
  } catch (error) {
    lent?.release();
    throw error;
  }
}

/** By priority; within one items of the hive first, so that events stay in the order of their file. */
function merged(lent: Lent['items'], waiting: readonly Item[]): readonly Item[] {
  return [...lent, ...waiting].sort((a, b) => a.priority - b.priority);
}

function tried(work: () => void, log: Log): void {
  try {
    work();
  } catch (error) {
    log.warn(`what was told will come again: ${error instanceof Error ? error.message : String(error)}`);
  }
}
