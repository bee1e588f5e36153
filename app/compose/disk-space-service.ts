import type { Board } from '../../core/board/index.ts';
import { Fault } from '../../core/model/index.ts';
import { probeSpace } from '../../core/state/index.ts';
import type { Machine } from './machine.ts';

/** The cause on the board, and what `/readyz` asks for. */
export const DISK = 'disk';
const EVERY_MS = 15_000;
/** While there is no room: it is wanted back at once. */
const SOON_MS = 2000;

/** Why nothing can be written in `state`, for a person; null: it can. */
export function diskFault({ disk, random }: Pick<Machine, 'disk' | 'random'>, state: string): Fault | null {
  const found = probeSpace(disk, random, state);
  if (found === null) return null;
  const words = `nothing can be written (${found.message}), so no mail is accepted and nothing is marked`;
  return new Fault(found.code, words, { is: 'machine', key: DISK }, { cause: found });
}

/**
 * Looks whether there is room on the disk of `state`, and says on the board when there is none, and when there is again. Sooner when
 * somebody ran out of it.
 */
export function keepDisk(
  { state, board, fits = () => {} }: { readonly state: string; readonly board: Board; readonly fits?: () => void },
  machine: Machine,
): Disposable {
  const { clock, log } = machine;
  let isFull = false;
  let next: Disposable | null = null;

  function look(): void {
    next?.[Symbol.dispose]();
    const fault = diskFault(machine, state);
    if ((fault !== null) !== isFull) {
      isFull = fault !== null;
      board.put({ is: 'machine', at: clock.now(), key: DISK, fault });
      if (fault === null) log.info(`${state} can be written again`);
      else log.error(fault.explain());
    }
    next = clock.after(isFull ? SOON_MS : EVERY_MS, look);
    if (fault === null) fits();
  }

  const facts = board.facts((fact) => {
    if (isFull || (fact.is !== 'held' && fact.is !== 'published') || fact.fault?.code !== 'no-space') return;
    isFull = false;
    next?.[Symbol.dispose]();
    next = clock.after(0, look);
  });
  look();
  return {
    [Symbol.dispose]() {
      facts[Symbol.dispose]();
      next?.[Symbol.dispose]();
    },
  };
}
