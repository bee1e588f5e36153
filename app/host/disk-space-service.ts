import type { Board } from '../../core/board/index.ts';
import { Fault } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { probeSpace } from '../../core/state/index.ts';
import type { Machine } from './machine.ts';

/** The cause on the board, and what `/readyz` asks for. */
export const DISK = 'disk';
const EVERY_MS = 15_000;
const WHILE_FULL_MS = 2000;

/** Why nothing can be written in `state`, for a person; null: it can. */
export function findDiskFault({ disk, random }: Pick<Machine, 'disk' | 'random'>, state: string): Fault | null {
  const spaceFault = probeSpace(disk, random, state);
  if (spaceFault === null) return null;
  const words = `nothing can be written (${spaceFault.message}), so no mail is accepted and nothing is marked`;
  return new Fault(spaceFault.code, words, { is: 'machine', key: DISK }, { cause: spaceFault });
}

export interface DiskSpaceOptions {
  readonly state: string;
  readonly board: Board;
  /** Called after each check that found room. */
  readonly onSpace?: () => void;
}

/** Checks whether there is room on the disk of `state`, and says on the board when it is full and when it is not any more. */
export function createDiskSpaceService(
  { state, board, onSpace = () => {} }: DiskSpaceOptions,
  machine: Machine,
): Service {
  const { clock, log } = machine;
  const name = 'disk space';
  let isFull = false;
  const checks = every({ name, ms: () => (isFull ? WHILE_FULL_MS : EVERY_MS), clock, round: check });

  function check(): void {
    const fault = findDiskFault(machine, state);
    if ((fault !== null) !== isFull) {
      isFull = fault !== null;
      board.put({ is: 'machine', at: clock.now(), key: DISK, fault });
      if (fault === null) log.info(`${state} can be written again`);
      else log.error(fault.explain());
    }
    if (fault === null) onSpace();
  }

  return {
    name,
    async run(signal) {
      // Who ran out of space says so before the next check.
      using _ = board.facts((fact) => {
        const isHit = (fact.is === 'held' || fact.is === 'published') && fact.fault?.code === 'no-space';
        if (isHit && !isFull) checks.wake();
      });
      await checks.run(signal);
    },
  };
}
