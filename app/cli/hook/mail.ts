import { type DrainLease, lend, MAX_TEXT, MIN_TEXT, render, type TakeOver } from '../../../core/inbox/drain/index.ts';
import type { Item, Items, Priority } from '../../../core/inbox/index.ts';
import type { Clock, Log } from '../../../core/ports/index.ts';
import type { WaitingEvents } from './events.ts';

/** A frame that is about to be written, with callbacks for both outcomes. */
export interface HookDelivery {
  readonly text: string;
  /** Call it when all of the frame was written. Never throws. */
  written(): void;
  /** Call it when the frame was not written. Never throws. */
  lost(): void;
}

interface MailNeeds {
  readonly items: Items;
  readonly takeOver: TakeOver | null;
  readonly waiting: WaitingEvents;
  readonly clock: Clock;
  readonly log: Log;
}

interface MailRequest {
  /** The persona's name in the local hive. */
  readonly name: string;
  readonly session: string | null;
  readonly upTo: Priority;
  /** Characters that other text of the same answer needs. */
  readonly usedChars: number;
}

/**
 * Puts what waits for a session into one frame: leased items, and events of another source. Null: nothing waits. @throws Fault
 */
export function createDelivery(needs: MailNeeds, { name, session, upTo, usedChars }: MailRequest): HookDelivery | null {
  const { items, takeOver, clock, log } = needs;
  const lent = lend({ items, takeOver, clock, log }, { persona: name, session, upTo });
  const waiting = upTo < 2 ? [] : needs.waiting.items;
  const sorted = mergeItems(lent?.items ?? [], waiting);
  if (sorted.length === 0) return null;
  try {
    const room = Math.max(MIN_TEXT, MAX_TEXT - usedChars);
    const { text, shownItems: includedItems } = render(sorted, {
      persona: name,
      room,
      now: clock.now(),
      left: lent?.left ?? 0,
    });
    const included = new Set(includedItems);
    return {
      text,
      written() {
        lent?.commit(lent.items.filter((item) => included.has(item)));
        tryOrWarn(() => needs.waiting.acknowledge(waiting.filter((item) => included.has(item)).length), log);
      },
      lost: () => lent?.release(),
    };
  } catch (error) {
    lent?.release();
    throw error;
  }
}

/** Sorts by priority. Within a priority, items of the hive come first, and events keep the order of their file. */
function mergeItems(lent: DrainLease['items'], waiting: readonly Item[]): readonly Item[] {
  return [...lent, ...waiting].sort((a, b) => a.priority - b.priority);
}

function tryOrWarn(work: () => void, log: Log): void {
  try {
    work();
  } catch (error) {
    log.warn(
      `delivery was not recorded, so the same mail is shown again: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
