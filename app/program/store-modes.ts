import { join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { waitUntil } from '../../core/services/index.ts';
import { type Dirs, isDamage } from '../../core/state/index.ts';
import { findDiskFault } from '../host/disk-space-service.ts';
import type { Machine } from '../host/machine.node.ts';
import { copyToAnotherDisk } from '../host/store-copy-service.node.ts';

/** The truth of this machine: mail, outbox, checkpoints, announcements, mutes. */
export const DATABASE = 'hivebar.sqlite';
/** Holds what the outbox was just given and has not written to the database yet. */
export const JOURNAL = 'outbox.journal';
const NO_COPY_MS = 2000;

/** How the store can be used. */
export type StoreMode = WholeMode | ReadOnlyMode;

/** The store is read and written. */
interface WholeMode {
  readonly is: 'whole';
  /** Called when the store is found damaged. */
  readonly onDamage: () => void;
}

/** The disk is full: `state` holds a copy on another disk, which is read instead. */
interface ReadOnlyMode {
  readonly is: 'read-only';
  readonly state: string;
  readonly fault: Fault;
}

/** `space`: the disk has room again, so the program can start whole. */
export type RunEnd = 'stopped' | 'space';

/**
 * Runs the program in the mode that the state of the disk and the store allows, and again in another mode when that
 * changes. Resolves when it was asked to stop.
 * @throws what `run` throws
 */
export async function runInModes(
  dirs: Dirs,
  machine: Machine,
  run: (mode: StoreMode, machine: Machine) => Promise<RunEnd>,
): Promise<void> {
  let isChecked = false;
  for (;;) {
    const fault = findDiskFault(machine, dirs.state);
    const end =
      fault?.code === 'no-space'
        ? await runReadOnly(dirs, machine, fault, run)
        : await runWhole(dirs, machine, isChecked, run);
    if (end === 'stopped') return;
    if (end === 'damaged') isChecked = true;
  }
}

/**
 * Runs with a store that can be written. Returns `damaged` when the store is found damaged; the next start then reads all of
 * it and recovers what can be read. With `isChecked` this process has done that already and does not do it again.
 */
async function runWhole(
  dirs: Dirs,
  machine: Machine,
  isChecked: boolean,
  run: (mode: WholeMode, machine: Machine) => Promise<RunEnd>,
): Promise<RunEnd | 'damaged'> {
  const damage = new AbortController();
  const onDamage = (): void => {
    if (isChecked || damage.signal.aborted) return;
    const path = join(dirs.state, DATABASE);
    machine.log.error(`${path} is damaged: all of it is checked now, and what can be read is recovered`);
    damage.abort();
  };
  const stop = AbortSignal.any([machine.stop, damage.signal]);
  try {
    const end = await run({ is: 'whole', onDamage }, { ...machine, stop });
    return damage.signal.aborted && !machine.stop.aborted ? 'damaged' : end;
  } catch (error) {
    if (damage.signal.aborted && error instanceof Fault && isDamage(error)) return 'damaged';
    throw error;
  }
}

/**
 * Runs while nothing can be written: shows the last known state, accepts nothing, and ends as soon as the disk has room.
 */
async function runReadOnly(
  dirs: Dirs,
  machine: Machine,
  fault: Fault,
  run: (mode: ReadOnlyMode, machine: Machine) => Promise<RunEnd>,
): Promise<RunEnd> {
  const { clock, log, stop } = machine;
  log.error(`hivebar starts read-only: ${fault.explain()}`);
  using copy = copyToAnotherDisk(dirs.state, [DATABASE, `${DATABASE}-wal`, JOURNAL]);
  if (copy !== null) return await run({ is: 'read-only', state: copy.directory, fault }, machine);
  log.error('Hivebar waits until the disk has free space');
  await waitUntil(() => findDiskFault(machine, dirs.state) === null, NO_COPY_MS, clock, stop);
  return stop.aborted ? 'stopped' : 'space';
}
