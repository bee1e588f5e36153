import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const GRAVE_MS = 60_000;

/**
 * Runs `work` while no other process runs work under the same `lock` path; others wait their turn. The lock is a
 * folder that appears whole, its owner inside; one whose owner died is moved aside.
 * @template T
 * @param {string} lock
 * @param {() => T | Promise<T>} work
 * @param {(owner: number) => void} waiting called once when somebody else has it
 * @returns {Promise<T>}
 */
export async function once(lock, work, waiting) {
  mkdirSync(dirname(lock), { recursive: true });
  const mine = `${lock}.${process.pid}-${randomUUID()}`;
  mkdirSync(mine);
  writeFileSync(join(mine, 'owner'), `${process.pid} ${randomUUID()}`);
  try {
    let hasWaited = false;
    while (!moved(mine, lock)) {
      const owner = readOwner(lock);
      if (owner === null) {
        // Given back between the two looks; or there is nothing to go in with any more, for ever.
        if (!existsSync(mine)) throw new Error(`${mine} is gone: somebody has removed it while it waited for ${lock}`);
        continue;
      }
      if (isAlive(owner.pid)) {
        if (!hasWaited) waiting(owner.pid);
        hasWaited = true;
        await sleep(200);
      } else {
        // The name is that owner's alone and keeps its content for a while, so a second process that also saw it dead
        // cannot move a new owner's lock away: the place it would move it to is taken.
        moved(lock, `${lock}.dead-${owner.token}`);
      }
    }
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    throw error;
  }
  // Aside first: with its owner removed it would be an empty folder, whose place the next one takes, and that is not ours to remove.
  const give = () => {
    if (moved(lock, mine)) rmSync(mine, { recursive: true, force: true });
  };
  process.once('exit', give);
  try {
    return await work();
  } finally {
    process.removeListener('exit', give);
    give();
    sweep(lock);
  }
}

/** A rename that says whether the place was free. */
function moved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(error.code)) return false; // also when it was given back in this moment
    if (['EPERM', 'ENOENT', 'EACCES'].includes(error.code) && isRefusedInOrder(to, from)) return false;
    throw error;
  }
}

/** Why a rename may fail without anything being wrong: the target is there, or the origin is gone. */
function isRefusedInOrder(to, from) {
  return (
    statSync(to, { throwIfNoEntry: false }) !== undefined || statSync(from, { throwIfNoEntry: false }) === undefined
  );
}

function readOwner(lock) {
  try {
    const [pid, token] = readFileSync(join(lock, 'owner'), 'utf8').split(' ');
    return { pid: Number(pid), token };
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM'; // somebody else's process is alive too
  }
}

/** Old graves and the folders of processes that died while waiting. */
function sweep(lock) {
  const folder = dirname(lock);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(lock)}.`)) continue;
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    const waiter = /\.(\d+)-/.exec(name.slice(basename(lock).length));
    const stale = waiter === null || !isAlive(Number(waiter[1]));
    if (stat !== undefined && stale && Date.now() - stat.ctimeMs > GRAVE_MS)
      rmSync(path, { recursive: true, force: true });
  }
}
