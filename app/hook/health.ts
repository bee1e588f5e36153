import type { Installer, Looked, Reach } from './install.ts';
import { HARNESSES, type HarnessName } from './recipe.ts';

/** What is installed for one harness, and what came when it was run; null: it answered, or was not to be run. */
export interface Tried extends Looked {
  readonly harness: HarnessName;
  readonly failure: string | null;
}

/** Looks at the hooks of each harness and runs them once. @throws Fault `settings`, `unreadable` */
export function tryHooks(
  installer: Installer,
  reach: Reach,
  harnesses: readonly HarnessName[] = HARNESSES,
): Promise<readonly Tried[]> {
  return Promise.all(
    harnesses.map(async (harness) => {
      const look = installer.look(harness, reach);
      // What is not run anyway is not tried.
      const failure = look.obstacles.length > 0 ? null : await installer.probe(look);
      return { harness, ...look, failure };
    }),
  );
}

/** Why hooks that stand in the settings do not do what they are there for, and the next step. Null: they do, or none are there. */
export function findHookTrouble({ standing, script, obstacles, failure }: Tried): string | null {
  if (standing === 'absent') return null;
  if (standing === 'old') return 'the entries are not as they should be: run hivebar hook install';
  if (script !== 'right') return `its script is ${script}: run hivebar hook install`;
  if (obstacles.length > 0) return `they do not run: ${obstacles.join('; ')}`;
  return failure === null ? null : `they do not work: ${failure}: run hivebar hook install`;
}
