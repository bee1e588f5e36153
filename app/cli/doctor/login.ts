import type { LoginStartStatus } from '../../service/index.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface LoginProbe {
  readonly status: LoginStartStatus;
  /** What an entry would need to start anything; null: nothing is missing. */
  readonly missing: string | null;
}

export function judgeLogin({ status, missing }: LoginProbe): Finding {
  switch (status.is) {
    case 'on':
      if (status.gone !== null)
        return fail(`on, but ${status.path} starts ${status.gone}, which is not there`, 'run: hivebar service install');
      if (missing !== null) return fail(`${status.path} starts nothing: ${missing}`, 'run: hivebar service uninstall');
      if (!status.isOld) return ok(`on, by ${status.path}`);
      return warn(
        `on, but ${status.path} is of an older Hivebar, or starts another node or another copy than this one`,
        'run: hivebar service install',
      );
    case 'off':
      if (status.path === null) return ok('off');
      if (status.why === undefined) return ok(`off: ${status.path} is there and switched off`);
      return warn(
        `off: ${status.path} is there, but ${status.why}`,
        'run: hivebar service install, or hivebar service uninstall',
      );
    case 'foreign':
      return warn(`${status.path} ${status.why}`, 'Hivebar leaves it alone; move it away to have start at login');
  }
}
