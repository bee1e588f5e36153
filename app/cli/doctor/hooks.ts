import { findHookTrouble, type HookCheck, RECIPES } from '../../hook/index.ts';
import { type Finding, fail, ok, skipped } from './finding.ts';

export interface HooksSeen {
  /** Those of this user, for each harness. */
  readonly own: readonly HookCheck[];
  /** Of persona daemons that hear of no boundary, a line each. */
  readonly deaf: readonly string[];
}

/** A hook that is installed and does not run leaves its agents without mail, in silence; so does a daemon without hooks. */
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
