import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import type { PaneState } from '../../core/hooks/index.ts';
import type { Fault } from '../../core/model/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import type { Pane } from './session.ts';
import { createOpenFault } from './url-opener.node.ts';

const ANSWERS_WITHIN_MS = 2000;
/** The folders of Homebrew, which are not on the PATH of a login session. */
const BESIDE = ['/usr/local/bin', '/opt/homebrew/bin'];

/**
 * Makes the pane the current one of its session, and switches the terminal that was used last to it.
 * @throws Fault `exec-failed` when the pane does not exist any more, or no terminal shows this server
 */
export async function showPane(pane: Pane, env: ProgramEnv, platform: NodeJS.Platform): Promise<void> {
  const tmux = openTmux(pane, env, platform);
  const [session, window] = await tmux.find();
  const client = await tmux.client(session);
  await tmux.ask(['select-window', '-t', window, ';', 'select-pane', '-t', pane.pane]);
  if (client === null) throw createOpenFault(`no terminal shows the tmux session of pane ${pane.pane}`);
  await tmux.ask(['switch-client', '-c', client, '-t', session]);
}

/**
 * Builds the command that shows the pane in a terminal of its own. Its program is an absolute path.
 * @throws Fault `exec-failed` when the pane does not exist any more
 */
export async function buildAttachCommand(
  pane: Pane,
  env: ProgramEnv,
  platform: NodeJS.Platform,
): Promise<readonly string[]> {
  const tmux = openTmux(pane, env, platform);
  const [session, window] = await tmux.find();
  await tmux.ask(['select-window', '-t', window, ';', 'select-pane', '-t', pane.pane]);
  return [tmux.file, '-S', pane.socket, 'attach-session', '-t', session];
}

/** Where the cursor must still be when something is typed into a pane. */
type CursorPosition = PaneState['cursor'];

/**
 * Reads what the pane shows now, all from the same moment.
 * @param pid the agent's process
 * @throws Fault `exec-failed` when the pane does not exist any more
 */
export async function readPane(
  pane: Pane,
  pid: number,
  env: ProgramEnv,
  platform: NodeJS.Platform,
): Promise<PaneState> {
  const tmux = openTmux(pane, env, platform);
  const output = await tmux.ask([
    'display-message',
    '-p',
    '-t',
    pane.pane,
    STATE,
    ';',
    'capture-pane',
    '-p',
    '-t',
    pane.pane,
  ]);
  const [head = '', ...lines] = output.split('\n');
  const [server, id, mode, dead, off, shared, x, y, width, tty = ''] = head.split(' ');
  if (Number(server) !== pane.serverPid || id !== pane.pane) throw createGoneFault(pane);
  return {
    isInMode: mode !== '0',
    takesKeys: dead !== '1' && off !== '1' && shared !== '1',
    hasAgentInFront: isInFront(pid, tty, platform),
    cursor: { x: Number(x), y: Number(y) },
    width: Number(width),
    lines,
  };
}

const STATE =
  '#{pid} #{pane_id} #{pane_in_mode} #{pane_dead} #{pane_input_off} #{pane_synchronized} #{cursor_x} #{cursor_y} ' +
  '#{pane_width} #{pane_tty}';

/**
 * Pastes the words if nothing has moved since the pane was read. tmux itself checks that. It is a paste because programs that
 * recognize one do not take it for a key of a menu. @returns whether it was done. @throws Fault `exec-failed`
 */
export async function pasteWords(
  pane: Pane,
  words: string,
  at: CursorPosition,
  env: ProgramEnv,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const buffer = `hivebar-${process.pid}-${pane.pane.slice(1)}`;
  const tmux = openTmux(pane, env, platform);
  const paste = `paste-buffer -p -d -b ${buffer} -t ${pane.pane} ; display-message -p done`;
  const setBuffer = ['set-buffer', '-b', buffer, '--', words, ';'];
  return (
    (await tmux.ask([...setBuffer, ...buildCondition(pane, at, null, paste, `delete-buffer -b ${buffer}`)])).trim() ===
    'done'
  );
}

/**
 * Presses Enter, or as many backspaces as `words` has characters, if the words are on the screen and the cursor is right after
 * them.
 * @returns whether it was done. @throws Fault `exec-failed`
 */
export async function finishWords(
  pane: Pane,
  words: string,
  way: 'enter' | 'take back',
  at: CursorPosition,
  env: ProgramEnv,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const keys = way === 'enter' ? 'Enter' : `-N ${words.length} BSpace`;
  const press = `send-keys -t ${pane.pane} ${keys} ; display-message -p done`;
  return (await openTmux(pane, env, platform).ask(buildCondition(pane, at, words, press, ''))).trim() === 'done';
}

/**
 * Builds one tmux command that runs `then` only if the pane takes keys, the cursor is at this position and the pane shows
 * `words`.
 */
function buildCondition(
  { pane }: Pane,
  { x, y }: CursorPosition,
  words: string | null,
  then: string,
  otherwise: string,
): readonly string[] {
  const facts = [
    '#{==:#{pane_in_mode}#{pane_dead}#{pane_input_off}#{pane_synchronized},0000}',
    `#{==:#{cursor_x} #{cursor_y},${x} ${y}}`,
  ];
  if (words !== null) facts.push(`#{C:${words}}`);
  const condition = facts.reduce((left, right) => `#{&&:${left},${right}}`);
  return ['if-shell', '-F', '-t', pane, condition, then, ...(otherwise === '' ? [] : [otherwise])];
}

function createGoneFault({ pane, socket }: Pane): Fault {
  return createOpenFault(`tmux has no pane ${pane} any more (${socket})`);
}

function openTmux({ socket, serverPid, pane }: Pane, env: ProgramEnv, platform: NodeJS.Platform) {
  const file = programOnPath('tmux', env, platform, BESIDE);
  if (file === null) throw createOpenFault('tmux is not on PATH');
  const ask = (args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const { TMUX: _, TMUX_PANE: __, ...around } = env; // a tray that was started inside tmux does not use that tmux
      execFile(
        file,
        ['-S', socket, ...args],
        { env: around, timeout: ANSWERS_WITHIN_MS, windowsHide: true },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(createOpenFault(`tmux ${args[0]}: ${stderr.trim().slice(0, 200) || error.message}`, error));
        },
      );
    });
  return {
    file,
    ask,
    /** Finds the ids of the session and the window that contain the pane. */
    async find(): Promise<readonly [session: string, window: string]> {
      const output = await ask(['display-message', '-p', '-t', pane, '#{pid} #{pane_id} #{session_id} #{window_id}']);
      const [pid, paneId, session = '', window = ''] = output.trim().split(' ');
      // A server that was restarted counts its panes from the beginning.
      if (Number(pid) !== serverPid || paneId !== pane) throw createGoneFault({ socket, serverPid, pane });
      return [session, window];
    },
    /** Finds the terminal to use: one that shows the session, else the one used last. Null when the server has none. */
    async client(session: string): Promise<string | null> {
      const output = await ask([
        'list-clients',
        '-F',
        '#{client_activity} #{session_id} #{client_control_mode} #{client_name}',
      ]);
      const clients = output.split('\n').flatMap((line) => {
        const [, activity, shows, control, name] = /^(\d+) (\S*) ([01]) (.+)$/.exec(line) ?? [];
        // A program in control mode draws no screen.
        return name === undefined || control === '1'
          ? []
          : [{ activity: Number(activity), name, showsSession: shows === session }];
      });
      clients.sort((a, b) => Number(b.showsSession) - Number(a.showsSession) || b.activity - a.activity);
      return clients[0]?.name ?? null;
    },
  };
}

const WITHIN_MS = 2000;

/** Returns whether this process is in the terminal's foreground group, and so reads what is typed there. False when not known. */
function isInFront(pid: number, tty: string, platform: NodeJS.Platform): boolean {
  try {
    return platform === 'linux' ? isInLinuxFront(pid, tty) : isInListedFront(pid, tty);
  } catch {
    return false; // it ended, or the system does not report it
  }
}

function isInLinuxFront(pid: number, tty: string): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // proc_pid_stat(5), after the name in parentheses: state, ppid, pgrp, session, tty_nr, tpgid.
  const [, , group, , device, front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === front && Number(device) === statSync(tty).rdev;
}

function isInListedFront(pid: number, tty: string): boolean {
  const listing = execFileSync('/bin/ps', ['-o', 'pgid=,tpgid=,tty=', '-p', `${pid}`], {
    encoding: 'utf8',
    timeout: WITHIN_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [group, front, name] = listing.trim().split(/\s+/);
  return group !== undefined && group === front && `/dev/${name}` === tty;
}
