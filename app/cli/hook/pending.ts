import type { Io } from '../../../core/command/index.ts';
import type { GateSummary, HookTurn } from '../../../core/hooks/index.ts';
import {
  type DrainLease,
  lend,
  MAX_TEXT,
  MIN_TEXT,
  render,
  type TakeOver,
  toHarmless,
} from '../../../core/inbox/drain/index.ts';
import { findHook, findTerminal, type Gates, isCheckedByHook } from '../../../core/inbox/gates/index.ts';
import type { Item, Items, Priority } from '../../../core/inbox/index.ts';
import type { Clock, Log } from '../../../core/ports/index.ts';
import type { WaitingEvents } from './events.ts';

/** No gate holds anything. */
export const OPEN_WAY: GateSummary = { lacks: null, warnings: [] };

export interface AskGates {
  readonly gates: Gates;
  /** The persona's name in the local hive. */
  readonly name: string;
  readonly turn: HookTurn;
  readonly cwd: string;
  readonly env: Io['env'];
}

/**
 * Checks the gates at this moment, and stores what follows from the check. A different `state` says that something came that is
 * worth another block. No gate holds a session without an id.
 */
export async function askGates({ gates, name, turn, cwd, env }: AskGates, state: string): Promise<GateSummary> {
  const { event, session, stopHookActive, failure, tool } = turn;
  const hook = findHook(event);
  if (hook === null || session === null) return OPEN_WAY;
  if (event === 'PreToolUse' && !hasOwnForTools(gates, name)) return OPEN_WAY;
  const { decision, reason, warnings, undecided } = await gates.check({
    ...{ persona: name, hook, session, terminal: findTerminal(env), cwd, env, soft: false },
    ...{ stopHookActive: stopHookActive === true, apiError: failure !== null, also: state },
    ...{ call: event === 'PreToolUse' ? tool : null, by: 'hook' },
  });
  if (decision === 'allow' && undecided !== null && mayHoldUndecided(turn))
    return { lacks: sanitizeText(formatUndecided(undecided)), warnings: [] };
  return { lacks: decision === 'block' ? sanitizeText(reason) : null, warnings: warnings.map(sanitizeText) };
}

/**
 * Whether a gate that cannot decide may hold this Stop. It holds once only: the harness must say that this Stop was not held
 * before, because the broken part may be the one that counts blocks.
 */
export function mayHoldUndecided({ event, session, stopHookActive, failure, isSubagent }: HookTurn): boolean {
  return event === 'Stop' && session !== null && stopHookActive === false && failure === null && !isSubagent;
}

export function formatUndecided(why: string): string {
  return `gates could not be checked: ${why} (run hivebar doctor, report its output, then stop again)`;
}

function hasOwnForTools(gates: Gates, name: string): boolean {
  try {
    return gates
      .list(name)
      .gateStates.some((gateState) => gateState.gate.hook === 'PreToolUse' && isCheckedByHook(gateState));
  } catch {
    return true; // the check of the gates follows and reports the error
  }
}

/** Whether a strict gate of a Stop is not satisfied now. Asking changes nothing. Never rejects. */
export async function wouldHold({ gates, name, turn, cwd, env }: AskGates): Promise<boolean> {
  if (turn.session === null) return false;
  try {
    const gateStatuses = await gates.status({
      persona: name,
      session: turn.session,
      terminal: findTerminal(env),
      cwd,
      env,
    });
    return gateStatuses.some(({ gate, isSatisfied }) => gate.hook === 'Stop' && gate.mode === 'strict' && !isSatisfied);
  } catch {
    return true; // the check of the gates follows and reports the error
  }
}

/** Cleans the text of a gate, so that nothing in it can close or open the frame beside it. */
export function sanitizeText(text: string): string {
  return toHarmless(text, Number.POSITIVE_INFINITY).text;
}

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
