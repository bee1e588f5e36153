import type { HookInstaller, HookScope, HookStatus } from './hook-installer.ts';
import { HARNESSES, type HarnessName } from './recipe.ts';

/** What is installed for one harness, and what came when it was run; null: it answered, or was not to be run. */
export interface HookCheck extends HookStatus {
  readonly harness: HarnessName;
  readonly failure: string | null;
}

/** Looks at the hooks of each harness and runs them once. @throws Fault `settings`, `unreadable` */
export function checkHooks(
  installer: HookInstaller,
  scope: HookScope,
  harnesses: readonly HarnessName[] = HARNESSES,
): Promise<readonly HookCheck[]> {
  return Promise.all(
    harnesses.map(async (harness) => {
      const status = installer.readStatus(harness, scope);
      // What is not run anyway is not tried.
      const failure = status.obstacles.length > 0 ? null : await installer.probe(status);
      return { harness, ...status, failure };
    }),
  );
}

/** Why hooks that stand in the settings do not do what they are there for, and the next step. Null: they do, or none are there. */
export function findHookTrouble({ standing, script, obstacles, failure }: HookCheck): string | null {
  if (standing === 'absent') return null;
  if (standing === 'old') return 'the entries are not as they should be: run hivebar hook install';
  if (script !== 'right') return `its script is ${script}: run hivebar hook install`;
  if (obstacles.length > 0) return `they do not run: ${obstacles.join('; ')}`;
  return failure === null ? null : `they do not work: ${failure}: run hivebar hook install`;
}
