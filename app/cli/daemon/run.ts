import type { Io } from '../../../core/command/index.ts';
import { isSlug } from '../../../core/link/index.ts';
import type { DaemonPlan } from '../../daemon/daemon-binding.ts';
import { createRealMachine } from '../../host/machine.node.ts';
import { closeUninvitedInspector } from '../../host/poke-signal.node.ts';
import { DAEMON_EXIT, runDaemon } from '../../program/daemon.ts';
import { createStderrLog, exitBy, onCrash } from '../process.node.ts';
import { parseDaemonArgs } from './schema.ts';

/** `hivebar daemon run`: runs the daemon in this process. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const log = createStderrLog(io, 'hivebar daemon');
  const staysDown = args.includes('--stays-down');
  const exit = (code: number): number => (staysDown && code === DAEMON_EXIT.config ? DAEMON_EXIT.clean : code);
  const plan = parsePlan(args);
  if (plan instanceof Error) {
    // A launcher would restart a wrong command line again and again.
    log.error(plan.message);
    return exit(DAEMON_EXIT.config);
  }
  const machine = createRealMachine(log);
  if (await closeUninvitedInspector()) log.warn('closed an inspector that a SIGUSR1 during the start had opened');
  return exit(await runDaemon(plan, { machine, onCrash, exitBy: (ms, code) => exitBy(ms, exit(code)) }));
}

function parsePlan(args: readonly string[]): DaemonPlan | Error {
  try {
    const values = parseDaemonArgs('run', args);
    return {
      tenant: parseSlug('tenant', values.tenant),
      identity: parseSlug('identity', values.identity),
      project: requireValue('project', values.project),
      surface: values.surface ?? null,
      autonomy: values.autonomy ?? null,
      installDeps: values['install-deps'],
      activateVenv: values['activate-venv'],
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function requireValue(flag: string, value: string | undefined): string {
  if (value) return value;
  throw new Error(`daemon run: --${flag} is missing; the unit that hivebar daemon install writes has it`);
}

function parseSlug(flag: string, value: string | undefined): string {
  const text = requireValue(flag, value);
  if (isSlug(text)) return text;
  throw new Error(`--${flag} ${text} is not valid: use 1 to 32 letters a-z, digits and dashes`);
}
