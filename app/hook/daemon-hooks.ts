import type { HookInstaller, HookScope, HookStatus } from './hook-installer.ts';
import { createHookInstaller } from './own-installer.node.ts';
import { HARNESSES, type HarnessName, RECIPES } from './recipe.ts';

const HARNESS_OF_SURFACE: Readonly<Record<string, HarnessName>> = { 'claude-code': 'claude', codex: 'codex' };

/**
 * Returns why a daemon of that surface is told of no turn boundary, and so never rings: neither the hooks of its user nor those
 * of its project run. Null when hooks run or the surface has none.
 * @throws Fault `settings`, `unreadable`
 */
export async function findDeafness(
  { surface, project }: { readonly surface: string; readonly project: string },
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const harness = HARNESS_OF_SURFACE[surface];
  if (harness === undefined) return null;
  const { label } = RECIPES[harness];
  const installer = createHookInstaller(env, project);
  const troubles: string[] = [];
  for (const scope of ['user', 'project'] satisfies readonly HookScope[]) {
    const [tried] = await checkHooks(installer, scope, [harness]);
    if (tried === undefined || tried.standing === 'absent') continue;
    const trouble = findHookTrouble(tried);
    if (trouble === null) return null;
    troubles.push(trouble);
  }
  const [first] = troubles;
  return first === undefined
    ? `${label} has no hooks: run hivebar hook install --harness ${harness}`
    : `the hooks of ${label} are not right: ${first}`;
}

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
