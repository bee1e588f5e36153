import { findHookTrouble, RECIPES, type Tried } from '../../hook/index.ts';
import { type Finding, fail, ok, skipped } from './finding.ts';

/** A hook that is installed and does not run leaves its agents without mail, in silence. */
export function judgeHooks(all: readonly Tried[]): Finding {
  const ours = all.filter(({ standing }) => standing !== 'absent');
  const labels = ours.map(({ harness }) => RECIPES[harness].label).join(', ');
  if (ours.length === 0) return skipped('none are installed for this user: hivebar hook install');
  const troubles = ours.flatMap((one) => {
    const trouble = findHookTrouble(one);
    return trouble === null ? [] : [`${RECIPES[one.harness].label}: ${trouble}`];
  });
  if (troubles.length === 0) return ok(`${labels}: installed, and they answer`);
  return fail(troubles.join('; '), 'hivebar hook status names the files; hivebar hook install writes ours anew');
}
