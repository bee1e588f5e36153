import { execFile } from 'node:child_process';
import { type Env, programOnPath } from '../programs.node.ts';
import { failed } from './launch.node.ts';
import type { Pane } from './session.ts';

const ANSWERS_WITHIN_MS = 2000;
/** Where Homebrew puts it: a login session's PATH does not lead there. */
const BESIDE = ['/usr/local/bin', '/opt/homebrew/bin'];

/**
 * Makes the pane the current one of its session, and brings the terminal used last to it.
 * @throws Fault `exec-failed`: there is no such pane any more, or no terminal shows this server
 */
export async function showPane(pane: Pane, env: Env, platform: NodeJS.Platform): Promise<void> {
  const tmux = tmuxFor(pane, env, platform);
  const [session, window] = await tmux.find();
  const client = await tmux.client(session);
  await tmux.ask(['select-window', '-t', window, ';', 'select-pane', '-t', pane.pane]);
  if (client === null) throw failed(`no terminal shows the tmux session of pane ${pane.pane}`);
  await tmux.ask(['switch-client', '-c', client, '-t', session]);
}

/**
 * The command that shows the pane in a terminal of its own; its program is an absolute path.
 * @throws Fault `exec-failed`: there is no such pane any more
 */
export async function attachCommand(pane: Pane, env: Env, platform: NodeJS.Platform): Promise<readonly string[]> {
  const tmux = tmuxFor(pane, env, platform);
  const [session, window] = await tmux.find();
  await tmux.ask(['select-window', '-t', window, ';', 'select-pane', '-t', pane.pane]);
  return [tmux.file, '-S', pane.socket, 'attach-session', '-t', session];
}

/**
 * Types a line into the pane as a person would, and after `pause` the Enter: a program that reads fast typing as a paste
 * takes an Enter in it for a line end.
 * @throws Fault `exec-failed`: there is no such pane any more
 */
export async function typeInto(
  pane: Pane,
  line: string,
  pause: () => Promise<void>,
  env: Env,
  platform: NodeJS.Platform,
): Promise<void> {
  const tmux = tmuxFor(pane, env, platform);
  await tmux.find();
  await tmux.ask(['send-keys', '-t', pane.pane, '-l', '--', line]);
  await pause();
  await tmux.ask(['send-keys', '-t', pane.pane, 'Enter']);
}

function tmuxFor({ socket, serverPid, pane }: Pane, env: Env, platform: NodeJS.Platform) {
  const file = programOnPath('tmux', env, platform, BESIDE);
  if (file === null) throw failed('tmux is not on PATH');
  const ask = (args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const { TMUX: _, TMUX_PANE: __, ...around } = env; // a tray started inside a tmux is not meant by it
      execFile(
        file,
        ['-S', socket, ...args],
        { env: around, timeout: ANSWERS_WITHIN_MS, windowsHide: true },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(failed(`tmux ${args[0]}: ${stderr.trim().slice(0, 200) || error.message}`, error));
        },
      );
    });
  return {
    file,
    ask,
    /** The ids of the session and the window that hold the pane. */
    async find(): Promise<readonly [session: string, window: string]> {
      const said = await ask(['display-message', '-p', '-t', pane, '#{pid} #{pane_id} #{session_id} #{window_id}']);
      const [pid, found, session = '', window = ''] = said.trim().split(' ');
      // A server that was started again counts its panes from the beginning.
      if (Number(pid) !== serverPid || found !== pane) throw failed(`tmux has no pane ${pane} any more (${socket})`);
      return [session, window];
    },
    /** The terminal to use: one that shows the session, else the one used last; null when the server has none. */
    async client(session: string): Promise<string | null> {
      const said = await ask([
        'list-clients',
        '-F',
        '#{client_activity} #{session_id} #{client_control_mode} #{client_name}',
      ]);
      const clients = said.split('\n').flatMap((line) => {
        const [, activity, shows, control, name] = /^(\d+) (\S*) ([01]) (.+)$/.exec(line) ?? [];
        // A program in control mode draws no screen.
        return name === undefined || control === '1'
          ? []
          : [{ activity: Number(activity), name, here: shows === session }];
      });
      clients.sort((a, b) => Number(b.here) - Number(a.here) || b.activity - a.activity);
      return clients[0]?.name ?? null;
    },
  };
}
