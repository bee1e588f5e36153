import type { TrayProbe } from './doctor-context.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export interface InstanceProbe {
  readonly path: string;
  /** `run/hivebar.json`. */
  readonly file:
    | { readonly is: 'absent' }
    | { readonly is: 'garbage' }
    | {
        readonly is: 'running';
        readonly id: string;
        readonly pid: number;
        readonly startedAt: number;
        readonly port: number | null;
      };
  /** The process with that pid. `startedAt` is null where the system does not tell. */
  readonly owner: { readonly is: 'gone' } | { readonly is: 'alive'; readonly startedAt: number | null };
  readonly answer: TrayProbe;
  readonly ourVersion: string;
}

const START = 'start it: hivebar';
/** The start of a process is known to the second, and by a clock that may have been set since. */
const CLOCK_MS = 3000;

export function judgeInstance({ path, file, owner, answer, ourVersion }: InstanceProbe): Finding {
  if (answer.is === 'answered') {
    const running = `Hivebar ${answer.version} is running: pid ${answer.pid}, port ${answer.status.port}`;
    if (answer.version !== ourVersion)
      return warn(
        `${running}; this one is ${ourVersion}`,
        'stop it and start this one, or use the command line of that one',
      );
    if (file.is !== 'running' || file.id !== answer.id)
      return warn(
        `${running}, but ${path} names another one`,
        'stop it and start it again: others find it by that file',
      );
    return ok(running);
  }
  if (file.is === 'absent') return reportNotRunning(answer, 'Hivebar is not running', START);
  if (file.is === 'garbage')
    return reportNotRunning(
      answer,
      `Hivebar is not running; ${path} is empty or garbage`,
      `${START} (it takes the file over)`,
    );
  const { pid, startedAt } = file;
  if (owner.is === 'gone')
    return reportNotRunning(
      answer,
      `Hivebar is not running; ${path} was left behind by pid ${pid}, which is gone`,
      `${START} (it takes the file over)`,
    );
  if (owner.startedAt !== null && owner.startedAt > startedAt + CLOCK_MS)
    return reportNotRunning(
      answer,
      `Hivebar is not running; pid ${pid} of ${path} is another program by now`,
      `${START} (it takes the file over)`,
    );
  if (file.port === null) return warn(`Hivebar is starting: pid ${pid}`, 'ask again in a few seconds');
  const why = answer.is === 'failed' ? answer.why : 'nobody listens on its socket';
  return fail(`Hivebar (pid ${pid}) runs and does not answer: ${why}`, `end it and start it again: kill ${pid}`);
}

function reportNotRunning(answer: TrayProbe, text: string, next: string): Finding {
  return answer.is === 'failed' ? fail(`${text}; its socket: ${answer.why}`, next) : warn(text, next);
}
