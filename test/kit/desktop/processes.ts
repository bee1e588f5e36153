import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface OwnedProcess {
  readonly name: string;
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: a pid that was given to someone else since has another one. */
  readonly start: string;
}

export interface StartOptions {
  readonly stdout?: string;
  readonly pipe3?: boolean;
}

/** Processes of one rig. It ends these and no others: by pid, and only while the start time is still the same. */
export class Processes implements AsyncDisposable {
  readonly #owned: OwnedProcess[] = [];
  readonly #logs: string;
  readonly #env: NodeJS.ProcessEnv;

  /** For a test run that is torn down without disposing. */
  readonly #atExit = (): void => {
    for (const o of this.#owned.toReversed()) if (readStartTime(o.pid) === o.start) signal(o.pid, 'SIGKILL');
  };

  constructor(logs: string, env: NodeJS.ProcessEnv) {
    this.#logs = logs;
    this.#env = env;
    process.once('exit', this.#atExit);
  }

  /** Output goes to `logs/COMMAND.log`, or stdout to a file of its own; `pipe3` opens descriptor 3 for reading. */
  start(command: string, args: readonly string[], { stdout, pipe3 }: StartOptions = {}): ChildProcess {
    const log = openSync(this.findLog(command), 'a');
    const out = stdout === undefined ? log : openSync(stdout, 'a');
    const child = spawn(command, [...args], {
      env: this.#env,
      stdio: ['ignore', out, log, pipe3 === true ? 'pipe' : 'ignore'],
    });
    closeSync(log);
    if (out !== log) closeSync(out);
    child.on('error', () => {}); // not found: `missing.ts` says so beforehand, and the wait for its name fails
    if (child.pid !== undefined) this.adopt(command, child.pid);
    return child;
  }

  findLog(command: string): string {
    return `${this.#logs}/${command}.log`;
  }

  /** Takes on a process that one of ours started. */
  adopt(name: string, pid: number): void {
    const start = readStartTime(pid);
    if (start !== null && pid !== process.pid && !this.#owned.some((o) => o.pid === pid && o.start === start)) {
      this.#owned.push({ name, pid, start });
    }
  }

  async stop(name: string): Promise<void> {
    await end(this.#owned.filter((o) => o.name === name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#owned.toReversed());
    process.removeListener('exit', this.#atExit);
  }
}

async function end(list: readonly OwnedProcess[]): Promise<void> {
  const alive = (): OwnedProcess[] => list.filter((o) => readStartTime(o.pid) === o.start);
  for (const o of alive()) signal(o.pid, 'SIGTERM');
  for (let i = 0; i < 100 && alive().length > 0; i += 1) await sleep(20);
  for (const o of alive()) signal(o.pid, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended in between: what was wanted
  }
}

/** Null when there is no such process, or only its remains. */
function readStartTime(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null; // gone
  }
}
