import { spawn } from 'node:child_process';
import { programEntry } from './program.ts';
import { type Scratch, scratch } from './scratch.ts';

const ENTRY = programEntry('hivebar');
/** What the installed script runs. */
const HOOK_ENTRY = programEntry('hook');
const STARTS = "require('node:child_process').spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' })";
const FOREIGN =
  /^(HIVEBAR_|KIJITOMON_|XDG_|NODE_|npm_|TMUX|TERM_SESSION_ID|WT_SESSION|GT_|AI_AGENT|CODEX_|CLAUDE|CURSOR_)|_proxy$/i;

export interface HookCallResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface CallOptions {
  readonly harness?: string;
  /** Without: nobody is named. */
  readonly persona?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the JSON: these bytes. */
  readonly raw?: string;
  /** stdin is left open. */
  readonly opens?: boolean;
  /** Nobody reads stdout, from the beginning. */
  readonly unread?: boolean;
  /** Started by a process that is called as Codex's server is, which is a stand-in. */
  readonly isInServer?: boolean;
  /** A file that stdout goes to. */
  readonly into?: number;
}

/** A machine of its own, on which the real program runs. */
export interface HookMachine extends Disposable {
  readonly home: Scratch;
  /** The folder the agent works in. */
  readonly cwd: string;
  hivebar(args: readonly string[], input?: string, options?: CallOptions): Promise<HookCallResult>;
  /** One call of a hook, as a harness makes it. */
  hook(event: string, given?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<HookCallResult>;
}

export function hookMachine(): HookMachine {
  const home = scratch();
  const cwd = scratch();
  const start = (args: readonly string[], input: string, options: CallOptions): Promise<HookCallResult> => {
    const inherited = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
    const env = {
      ...Object.fromEntries(inherited),
      HIVEBAR_HOME: home.dir,
      ...(options.persona === undefined ? {} : { HIVEBAR_PERSONA: options.persona }),
      ...options.env,
    };
    return run(options.isInServer === true ? ['-e', STARTS, 'app-server', ...args] : args, {
      env,
      cwd: cwd.dir,
      input,
      options,
    });
  };
  return {
    home,
    cwd: cwd.dir,
    hivebar: (args, input = '', options = {}) => start([ENTRY, ...args], input, options),
    hook(event, given = {}, options = {}) {
      const { harness = 'claude', flags = [] } = options;
      const stdin = { session_id: 's1', cwd: cwd.dir, hook_event_name: event, ...given };
      const args = [HOOK_ENTRY, 'hook', '--harness', harness, '--event', event, ...flags];
      return start(args, options.raw ?? JSON.stringify(stdin), options);
    },
    [Symbol.dispose]() {
      home[Symbol.dispose]();
      cwd[Symbol.dispose]();
    },
  };
}

interface Run {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly input: string;
  readonly options: CallOptions;
}

function run(args: readonly string[], { env, cwd, input, options }: Run): Promise<HookCallResult> {
  const began = performance.now();
  const child = spawn(process.execPath, [...args], {
    cwd,
    env,
    stdio: ['pipe', options.into ?? 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  if (options.unread === true) child.stdout?.destroy();
  else {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
  }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin?.on('error', () => {}); // one that ended before it read all of it
  if (options.opens === true) child.stdin?.write(input);
  else child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      child.stdin?.destroy();
      resolve({ code, stdout, stderr, ms: performance.now() - began });
    });
  });
}
