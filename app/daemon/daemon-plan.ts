import type { DaemonName } from '../../core/link/index.ts';

/** What the command line of a daemon says; what it leaves out comes from what was installed. */
export interface DaemonPlan extends DaemonName {
  readonly project: string;
  readonly surface: string | null;
  readonly autonomy: string | null;
  readonly installDeps: boolean;
  readonly activateVenv: boolean;
}
