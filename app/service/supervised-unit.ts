import { posix } from 'node:path';
import { resolveConfigHome, runOrThrow, runToEnd, type Unit, type UnitNeeds, unlink } from './unit-file.ts';

export interface SupervisedNeeds extends UnitNeeds {
  /** Null where the platform has no user ids. */
  readonly uid: number | null;
}

/** A unit that is started when it is written, and is kept running from then on. */
export interface SupervisedUnit extends Unit {
  /** Stops it, and prevents its start at login until it is written again. The unit stays. Does nothing when there is no unit. */
  pause(): Promise<void>;
  /** Returns whether the supervisor runs it now; null when that is not known. */
  isRunning(): Promise<boolean | null>;
}

/** systemctl(1): no unit of that name is loaded, so none runs. */
const NOT_LOADED = 5;

/** Creates a unit of the user's systemd. @param name with its `.service` */
export function createSystemdService(needs: SupervisedNeeds, name: string, text: Unit['text']): SupervisedUnit {
  const folder = posix.join(resolveConfigHome(needs), 'systemd/user');
  const systemctl = (...args: string[]): string[] => ['systemctl', '--user', ...args];
  async function afterRemove(): Promise<void> {
    unlink(needs.disk, posix.join(folder, 'default.target.wants', name));
    await runBestEffort(needs, systemctl('stop', name), [NOT_LOADED]);
    await runBestEffort(needs, systemctl('daemon-reload'));
    await runToEnd(needs, systemctl('reset-failed', name)); // else a failed unit is still listed, without its file
  }
  return {
    path: posix.join(folder, name),
    text,
    async afterWrite(isNew) {
      await runOrThrow(needs, systemctl('daemon-reload'));
      await runOrThrow(needs, systemctl('reenable', name));
      await runOrUndo(isNew ? afterRemove : null, () => runOrThrow(needs, systemctl('restart', name)));
    },
    afterRemove,
    async pause() {
      await runBestEffort(needs, systemctl('disable', name));
      await runBestEffort(needs, systemctl('stop', name));
    },
    isRunning: () => isSuccessful(needs, systemctl('is-active', '--quiet', name)),
  };
}

/** Creates an agent of launchd, in the user's session. */
export function createLaunchdAgent(needs: SupervisedNeeds, label: string, text: Unit['text']): SupervisedUnit {
  const path = posix.join(needs.home, `Library/LaunchAgents/${label}.plist`);
  const domain = `gui/${needs.uid ?? 0}`;
  const target = `${domain}/${label}`;
  return {
    path,
    text,
    async afterWrite() {
      await runToEnd(needs, ['launchctl', 'bootout', target]); // an older one, if there is one
      await runToEnd(needs, ['launchctl', 'enable', target]); // a disabled agent cannot be loaded
      await runOrThrow(needs, ['launchctl', 'bootstrap', domain, path]);
    },
    afterRemove: () => runBestEffort(needs, ['launchctl', 'bootout', target]),
    async pause() {
      await runBestEffort(needs, ['launchctl', 'disable', target]); // otherwise its file is read at the next login
      await runBestEffort(needs, ['launchctl', 'bootout', target]);
    },
    isRunning: () => isSuccessful(needs, ['launchctl', 'print', target]),
  };
}

/**
 * Creates a task of the Task Scheduler, which has its own copy. Our copy at `path` shows that the task is ours.
 * @param task its whole name, with folders
 */
export function createScheduledTask(
  needs: SupervisedNeeds,
  task: string,
  path: string,
  text: Unit['text'],
): SupervisedUnit {
  const tasks = (...args: string[]): string[] => ['schtasks.exe', ...args];
  return {
    path,
    text,
    async afterWrite(isNew) {
      await runOrThrow(needs, tasks('/Create', '/TN', task, '/XML', path, ...(isNew ? [] : ['/F'])));
      const undo = (): Promise<void> => deleteTask(needs, task); // what was created is ours
      await runOrUndo(isNew ? undo : null, () => runOrThrow(needs, tasks('/Run', '/TN', task)));
    },
    async afterRemove() {
      await runBestEffort(needs, tasks('/End', '/TN', task));
      await deleteTask(needs, task);
    },
    async pause() {
      await runBestEffort(needs, tasks('/Change', '/TN', task, '/DISABLE'));
      await runBestEffort(needs, tasks('/End', '/TN', task));
    },
    // The scheduler reports the state of a task in the language of the system. Only a missing task can be recognized.
    isRunning: async () => ((await isTaskDeleted(needs, task)) ? false : null),
  };
}

/** Runs `step` and, when it fails, undoes the steps before it. @throws as `step` */
async function runOrUndo(undo: (() => Promise<void>) | null, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    await undo?.();
    throw error;
  }
}

/**
 * Runs a command whose failure is only logged. What is done already stays, and a supervisor that missed the command follows at
 * its next start.
 * @param fine further exit codes that mean no failure
 */
async function runBestEffort(
  needs: UnitNeeds,
  command: readonly string[],
  fine: readonly number[] = [],
): Promise<void> {
  const ended = await runToEnd(needs, command);
  if (ended.is === 'exited' && [0, ...fine].includes(ended.code)) return;
  const why = ended.is === 'exited' ? `ended with ${ended.code}: ${ended.stderr.trim()}` : ended.is;
  needs.disk.log.info(`${command.join(' ')}: ${why}: what runs may go on`);
}

async function isSuccessful(needs: UnitNeeds, command: readonly string[]): Promise<boolean | null> {
  const ended = await runToEnd(needs, command);
  return ended.is === 'exited' ? ended.code === 0 : null;
}

/** Does nothing for a task that somebody deleted by hand. @throws Fault `exec-failed` while the task exists */
export async function deleteTask(needs: UnitNeeds, name: string): Promise<void> {
  try {
    await runOrThrow(needs, ['schtasks.exe', '/Delete', '/TN', name, '/F']);
  } catch (error) {
    if (!(await isTaskDeleted(needs, name))) throw error;
  }
}

/** Returns whether the Task Scheduler has no such task. False when it cannot be asked. */
export async function isTaskDeleted(needs: UnitNeeds, name: string): Promise<boolean> {
  const queryEnd = await runToEnd(needs, ['schtasks.exe', '/Query', '/TN', name]);
  return queryEnd.is === 'exited' && queryEnd.code !== 0;
}
