import { type ChildProcess, spawn } from 'node:child_process';
import { type Clock, killTree, resolveProgram, toInvocation } from '../../ports/index.ts';
import { createLineSplitter } from './lines.ts';
import type { ShimProcess, StartShim } from './process.ts';

/** Between the question to end and the end, so that both fit into the 5 s of a shutdown. */
const GRACE_MS = 1500;

/**
 * Starts a shim from its command, in the folder of its project: no shell, a process group of its own, lines on stdin and stdout. What it writes to
 * stderr goes nowhere: it could be of messages, and no log of ours may hold that.
 */
export function createShimStarter(
  [name = '', ...words]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  cwd: string,
): StartShim {
  return (listener): ShimProcess => {
    let child: ChildProcess | null = null;
    let hasEnded = false;
    let resolveExit = (): void => {};
    const exited = new Promise<void>((resolve) => {
      resolveExit = resolve;
    });
    const ended = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (child !== null) killTree(child, 'SIGKILL'); // what it started and left behind
      child?.stdin?.destroy();
      child?.stdout?.destroy();
      resolveExit();
      listener.ended();
    };
    try {
      const program = resolveProgram(name, env, process.platform) ?? name;
      const { file, args, windowsVerbatimArguments } = toInvocation(program, words, env, process.platform);
      child = spawn(file, [...args], {
        windowsVerbatimArguments,
        cwd,
        env: { ...env },
        detached: true,
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
    } catch {
      // No name, or one that cannot be an argument: it cannot be started, as one that is not there.
      clock.after(0, ended);
      return { pid: null, write: () => {}, end: () => Promise.resolve() };
    }
    const started = child;
    const split = createLineSplitter();
    started.on('error', ended);
    started.on('exit', ended);
    started.stdin?.on('error', () => {}); // it reads no more: its end or the next probe tells
    started.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      for (const line of split(piece)) if (!hasEnded) listener.line(line);
    });
    return {
      pid: started.pid ?? null,
      write: (line) => void (hasEnded || started.stdin?.write(line)),
      async end() {
        if (hasEnded) return;
        // Windows has no question to end but the end of its input.
        if (process.platform !== 'win32') killTree(started, 'SIGTERM');
        started.stdin?.end();
        using stack = new DisposableStack();
        stack.use(clock.after(GRACE_MS, () => killTree(started, 'SIGKILL')));
        await exited;
      },
    };
  };
}
