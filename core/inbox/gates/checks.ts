import type { CheckAnswer } from './evaluate.ts';
import type { CheckName } from './gate.ts';

/** Where the session works, for the checks. */
export interface Workplace {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Checks a folder with `git status`: `open` if there is anything to commit, `failed` if git fails. Never rejects. */
export type GitCheck = (place: Workplace) => Promise<CheckAnswer>;

/** The variable with the bead that the session was started for. */
const HOOKED = 'GT_HOOK_BEAD';

/** Runs these checks, each once (contract 4). A folder without git, or without a repository, counts as clean. */
export async function runChecks(
  names: ReadonlySet<CheckName>,
  place: Workplace,
  git: GitCheck,
): Promise<ReadonlyMap<CheckName, CheckAnswer>> {
  const answers = [...names].map(async (name) => [name, await runCheck(name, place, git)] as const);
  return new Map(await Promise.all(answers));
}

async function runCheck(name: CheckName, place: Workplace, git: GitCheck): Promise<CheckAnswer> {
  switch (name) {
    case 'commit-push':
      return await git(place);
    case 'bead-update':
    case 'mol-gate-pending': {
      const bead = place.env[HOOKED] ?? '';
      return bead === '' ? { is: 'clear' } : { is: 'open', detail: bead };
    }
    case 'decision-waiting':
      return { is: 'failed', why: 'it is a mark and not looked at here' };
  }
}
