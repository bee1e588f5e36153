import type { LoginLook } from '../../service/index.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface LoginSeen {
  readonly look: LoginLook;
  /** What would have to be there for an entry to start anything; null: it is there. */
  readonly missing: string | null;
}

export function judgeLogin({ look, missing }: LoginSeen): Finding {
  switch (look.is) {
    case 'on':
      if (look.gone !== null)
        return fail(`on, but ${look.path} starts ${look.gone}, which is not there`, 'run: hivebar service install');
      if (missing !== null) return fail(`${look.path} starts nothing: ${missing}`, 'run: hivebar service uninstall');
      if (!look.isOld) return ok(`on, by ${look.path}`);
      return warn(
        `on, but ${look.path} is of an older Hivebar, or starts another node or another copy than this one`,
        'run: hivebar service install',
      );
    case 'off':
      if (look.path === null) return ok('off');
      if (look.why === undefined) return ok(`off: ${look.path} is there and switched off`);
      return warn(
        `off: ${look.path} is there, but ${look.why}`,
        'run: hivebar service install, or hivebar service uninstall',
      );
    case 'foreign':
      return warn(`${look.path} ${look.why}`, 'Hivebar leaves it alone; move it away to have start at login');
  }
}
