import type { Board } from '../../core/board/index.ts';
import { Fault } from '../../core/model/index.ts';
import { every, type Service } from '../../core/services/index.ts';
import { probeSpace } from '../../core/state/index.ts';
import type { Machine } from './machine.node.ts';

/** The key of this cause on the board, which `/readyz` also checks. */
export const DISK = 'disk';
const EVERY_MS = 15_000;
const WHILE_FULL_MS = 2000;

/** Returns why nothing can be written in `state`, as a fault for a person, or null when it can be written. */
export function findDiskFault({ disk, random }: Pick<Machine, 'disk' | 'random'>, state: string): Fault | null {
  const spaceFault = probeSpace(disk, random, state);
  if (spaceFault === null) return null;
  const words = `nothing can be written (${spaceFault.message}), so Hivebar accepts no mail and marks nothing as read`;
  return new Fault(spaceFault.code, words, { is: 'machine', key: DISK }, { cause: spaceFault });
}

export interface DiskSpaceOptions {
  readonly state: string;
  readonly board: Board;
  /** Called after each check that found room. */
  readonly onSpace?: () => void;
}

/**
 * Checks regularly whether the disk of `state` has room. Puts a fault on the board when it is full, and clears it when there is
 * room again.
 */
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
      // A write that ran out of space reports it before the next check does.
      using _ = board.facts((fact) => {
        const isHit = (fact.is === 'held' || fact.is === 'published') && fact.fault?.code === 'no-space';
        if (isHit && !isFull) checks.wake();
      });
      await checks.run(signal);
    },
  };
}
