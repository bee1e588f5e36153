import { checkHooks, findHookTrouble } from './hook-check.ts';
import type { HookScope } from './hook-installer.ts';
import { createHookInstaller } from './own-installer.node.ts';
import { type HarnessName, RECIPES } from './recipe.ts';

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
