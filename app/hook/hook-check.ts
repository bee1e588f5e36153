import type { HookInstaller, HookScope, HookStatus } from './hook-installer.ts';
import { HARNESSES, type HarnessName } from './recipe.ts';

/** What is installed for one harness, and how its command failed when it was run. Null when it answered, or was not run. */
export interface HookCheck extends HookStatus {
  readonly harness: HarnessName;
  readonly failure: string | null;
}

/** Reads the hooks of each harness and runs them once. @throws Fault `settings`, `unreadable` */
export function checkHooks(
  installer: HookInstaller,
  scope: HookScope,
  harnesses: readonly HarnessName[] = HARNESSES,
): Promise<readonly HookCheck[]> {
  return Promise.all(
    harnesses.map(async (harness) => {
      const status = installer.readStatus(harness, scope);
      // Hooks that the harness does not run are not tried.
      const failure = status.obstacles.length > 0 ? null : await installer.probe(status);
      return { harness, ...status, failure };
    }),
  );
}

/** Returns why hooks in the settings do not work, and the next step. Null when they work or none are installed. */
export function findHookTrouble({ standing, script, obstacles, failure }: HookCheck): string | null {
  if (standing === 'absent') return null;
  if (standing === 'old') return 'the entries are not as they should be: run hivebar hook install';
  if (script !== 'right') return `its script is ${script}: run hivebar hook install`;
  if (obstacles.length > 0) return `they do not run: ${obstacles.join('; ')}`;
  return failure === null ? null : `they do not work: ${failure}: run hivebar hook install`;
}
