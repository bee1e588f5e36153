import { parseArgs } from 'node:util';
import { isSlug } from '../../../core/link/index.ts';
import { DAEMON_EXIT, runDaemon } from '../../compose/daemon.ts';
import type { DaemonPlan } from '../../compose/daemon-plan.ts';
import { closeUninvitedInspector } from '../../compose/early.node.ts';
import { realMachine } from '../../compose/machine.node.ts';
import type { Io } from '../command.ts';
import { stderrLog } from '../stderr-log.ts';
import { exitBy, onCrash } from './exit.node.ts';

/** `hivebar daemon run`: the process itself. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const log = stderrLog(io, 'hivebar daemon');
  const staysDown = args.includes('--stays-down');
  const exit = (code: number): number => (staysDown && code === DAEMON_EXIT.config ? DAEMON_EXIT.clean : code);
  const plan = planOf(args);
  if (plan instanceof Error) {
    // A launcher that runs a wrong line would run it again and again.
    log.error(plan.message);
    return exit(DAEMON_EXIT.config);
  }
  const machine = realMachine(log);
  if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
  return exit(await runDaemon(plan, { machine, onCrash, exitBy: (ms, code) => exitBy(ms, exit(code)) }));
}

function planOf(args: readonly string[]): DaemonPlan | Error {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        tenant: { type: 'string' },
        identity: { type: 'string' },
        project: { type: 'string' },
        surface: { type: 'string' },
        autonomy: { type: 'string' },
        'install-deps': { type: 'boolean', default: false },
        'activate-venv': { type: 'boolean', default: false },
        'stays-down': { type: 'boolean', default: false },
      },
    });
    return {
      tenant: slug('tenant', values.tenant),
      identity: slug('identity', values.identity),
      project: given('project', values.project),
      surface: values.surface ?? null,
      autonomy: values.autonomy ?? null,
      installDeps: values['install-deps'],
      activateVenv: values['activate-venv'],
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function given(flag: string, value: string | undefined): string {
  if (value) return value;
  throw new Error(`daemon run: --${flag} is missing; hivebar daemon install writes the whole line`);
}

function slug(flag: string, value: string | undefined): string {
  const text = given(flag, value);
  if (isSlug(text)) return text;
  throw new Error(`--${flag} ${text} is no slug: 1 to 32 letters a-z, digits and dashes`);
}
