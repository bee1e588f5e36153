import { runOrThrow, runToEnd, type UnitNeeds } from './unit-file.ts';

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
