import { end, run, type UnitNeeds } from './unit-file.ts';

/** Nothing for a task that somebody deleted by hand. @throws Fault `exec-failed` while the task is there */
export async function deleteTask(needs: UnitNeeds, name: string): Promise<void> {
  try {
    await run(needs, ['schtasks.exe', '/Delete', '/TN', name, '/F']);
  } catch (error) {
    const asked = await end(needs, ['schtasks.exe', '/Query', '/TN', name]);
    if (asked.is !== 'exited' || asked.code === 0) throw error;
  }
}
