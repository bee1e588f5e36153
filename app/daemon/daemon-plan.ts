import type { DaemonName } from '../../core/link/index.ts';

/** The command line of a daemon. What it leaves out is taken from the installed configuration. */
export interface DaemonPlan extends DaemonName {
  readonly project: string;
  readonly surface: string | null;
  readonly autonomy: string | null;
  readonly installDeps: boolean;
  readonly activateVenv: boolean;
}
