import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A unit under a supervisor that obeys what the unit says, except that it waits for nothing. */
export interface Supervisor extends AsyncDisposable {
  /** How often it was started. */
  readonly starts: number;
  readonly stderr: string;
  /** The exit that it was not started again for; null while it runs. */
  readonly downFor: number | null;
  /** SIGKILL to what runs now. */
  kill(): void;
}

/** Runs the ExecStart of a systemd unit as systemd reads it, with its Restart= and RestartPreventExitStatus=. */
export function supervise(unit: string, env: Readonly<Record<string, string>>): Supervisor {
  const [file = '', ...args] = splitWords(findSetting(unit, 'ExecStart'));
  const variables = listSettings(unit, 'Environment').map((text) => splitWords(text)[0] ?? '');
  const final = findSetting(unit, 'RestartPreventExitStatus').split(' ').map(Number);
  if (findSetting(unit, 'Restart') !== 'on-failure') throw new Error('another Restart= than the supervisor knows');
  let child: ChildProcess;
  let starts = 0;
  let stderr = '';
  let downFor: number | null = null;
  let stopped = false;

  function start(): void {
    starts += 1;
    const whole = {
      ...process.env,
      ...env,
      ...Object.fromEntries(variables.map((pair) => pair.split(/=(.*)/s).slice(0, 2))),
    };
    child = spawn(file, args, { env: whole, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('exit', (code) => {
      if (stopped) return;
      if (code === 0 || (code !== null && final.includes(code))) downFor = code;
      else start();
    });
  }
  start();
  return {
    get starts() {
      return starts;
    },
    get stderr() {
      return stderr;
    },
    get downFor() {
      return downFor;
    },
    kill: () => void child.kill('SIGKILL'),
    async [Symbol.asyncDispose]() {
      stopped = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function listSettings(unit: string, name: string): readonly string[] {
  return unit.split('\n').flatMap((text) => (text.startsWith(`${name}=`) ? [text.slice(name.length + 1)] : []));
}

function findSetting(unit: string, name: string): string {
  const [value] = listSettings(unit, name);
  if (value === undefined) throw new Error(`the unit says no ${name}`);
  return value;
}

/** systemd.service(5), "Command lines": quotes and backslashes, then `%%` and `$$`. */
function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'),
  );
}
