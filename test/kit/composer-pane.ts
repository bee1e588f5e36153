import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Pane, readStartKey } from '../../app/open/index.ts';
import type { Scratch } from './scratch.ts';
import { until } from './until.ts';

const PROGRAM = fileURLToPath(import.meta.resolve('./stand-in-composer.mjs'));

/** What the stand-in shows. */
export interface PaneScreen {
  readonly view: 'composer' | 'menu' | 'program';
  readonly text: string;
  readonly at: number;
  readonly status: 'idle' | 'busy' | 'waiting' | 'shell';
  /** What it becomes in the moment in which something is typed. */
  readonly next?: Partial<PaneScreen>;
}

export interface ComposerPane extends AsyncDisposable {
  readonly pane: Pane;
  readonly runner: { readonly pid: number; readonly startKey: string | null };
  /** What the program did with keys, as it told it. */
  readonly did: { readonly sent?: string; readonly approved?: true }[];
  ask(...args: readonly string[]): string;
  /** Shows it, and waits until tmux has drawn it. */
  show(shown: PaneScreen): Promise<void>;
}

/** A tmux server of its own, with a stand-in for an agent program in its first pane: `stand-in-composer.mjs`. */
export async function composerPane(space: Scratch, session: string): Promise<ComposerPane> {
  const socket = space.at('tmux');
  const env = { ...process.env, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', TMUX: undefined, TMUX_PANE: undefined };
  const ask = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' });
  const server = createServer();
  const control = space.at('control');
  await new Promise<void>((resolve) => server.listen(control, resolve));
  const connected = once(server, 'connection') as Promise<[Socket]>;
  ask(
    ...['new-session', '-d', '-s', 'base', '-x', '100', '-y', '24'],
    process.execPath,
    PROGRAM,
    control,
    space.dir,
    session,
  );
  const [link] = await connected;
  const did: { sent?: string; approved?: true }[] = [];
  let drawn = (_n: number): void => {};
  let rest = '';
  link.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const fields = JSON.parse(line);
      if ('drawn' in fields) drawn(fields.drawn);
      else did.push(fields);
    }
  });
  const [serverPid, pane = '', pid] = ask('display-message', '-p', '-t', 'base', '#{pid} #{pane_id} #{pane_pid}')
    .trim()
    .split(' ');
  let n = 0;
  return {
    pane: { socket, serverPid: Number(serverPid), pane },
    runner: { pid: Number(pid), startKey: readStartKey(Number(pid), process.platform) },
    did,
    ask,
    async show(shown) {
      n += 1;
      const written = new Promise<void>((resolve) => {
        drawn = (state) => {
          if (state === n) resolve();
        };
      });
      link.write(`${JSON.stringify({ ...shown, n })}\n`);
      await written; // what is asked before that costs a process and is never there
      await until(`state ${n}`, () => ask('capture-pane', '-p', '-t', pane).includes(`state ${n}\n`));
    },
    async [Symbol.asyncDispose]() {
      spawnSync('tmux', ['-S', socket, 'kill-server'], { env, stdio: 'ignore' });
      link.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
