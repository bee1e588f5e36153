import { findHookTrouble, type HookCheck, RECIPES } from '../../hook/index.ts';
import { type Finding, fail, ok, skipped } from './finding.ts';

export interface HooksSeen {
  /** Checks of this user's hooks, per harness. */
  readonly own: readonly HookCheck[];
  /** Persona daemons that get no turn boundaries, one line each. */
  readonly deaf: readonly string[];
}

/**
 * Judges the hooks. An installed hook that does not run silently leaves its agents without mail, and so does a daemon without
 * hooks.
 */
export function judgeHooks({ own, deaf }: HooksSeen): Finding {
  const ours = own.filter(({ standing }) => standing !== 'absent');
  const labels = ours.map(({ harness }) => RECIPES[harness].label).join(', ');
  const troubles = ours.flatMap((hook) => {
    const trouble = findHookTrouble(hook);
    return trouble === null ? [] : [`${RECIPES[hook.harness].label}: ${trouble}`];
  });
  const hooks = [...troubles, ...deaf];
  if (hooks.length > 0)
    return fail(hooks.join('; '), 'hivebar hook status names the files; hivebar hook install writes ours anew');
  if (ours.length === 0) return skipped('none are installed for this user: hivebar hook install');
  return ok(`${labels}: installed, and they answer`);
}
