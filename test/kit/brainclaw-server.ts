import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Clock, type Log, realClock, silentLog } from '../../core/ports/index.ts';
import { type ActionClient, type ActionClientOptions, createActionClient } from '../../core/sources/brainclaw/index.ts';
import { type Scratch, scratch } from './scratch.ts';
import { until } from './until.ts';

export type ServerFault =
  | 'none'
  | 'junk'
  | 'only-junk'
  | 'flood'
  | 'mute'
  | 'slow'
  | 'dies'
  | 'exits'
  | 'error'
  | 'refuses'
  | 'stubborn';

/** One line of what the stand-in was started with and asked for. */
export type ServerNote =
  | {
      readonly is: 'started';
      readonly pid: number;
      readonly argv: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | { readonly is: 'greeted'; readonly params: Readonly<Record<string, unknown>> }
  | { readonly is: 'called'; readonly params: { readonly name: string; readonly arguments: object } }
  | { readonly is: 'asked to end' }
  | { readonly is: 'appended'; readonly seq: number };

/** A stand-in for `brainclaw mcp`, and what it noted. */
export interface StandInServer {
  /** Program and arguments that run it. */
  readonly command: readonly [string, ...string[]];
  readonly noted: readonly ServerNote[];
  list<K extends ServerNote['is']>(is: K): readonly Extract<ServerNote, { readonly is: K }>[];
  /** Of servers that still run. */
  readonly alive: readonly number[];
}

const STAND_IN = fileURLToPath(import.meta.resolve('./brainclaw-mcp.ts'));

/** @param store what it writes to when it is asked to act; null: nothing */
export function recorded(files: Scratch, fault: ServerFault = 'none', store: string | null = null): StandInServer {
  const record = files.write('recorded', '');
  const noted = (): readonly ServerNote[] =>
    readFileSync(record, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as ServerNote);
  const list: StandInServer['list'] = (is) => noted().filter((note) => note.is === is) as never;
  return {
    command: [process.execPath, STAND_IN, record, fault, store ?? '-', 'mcp'],
    get noted() {
      return noted();
    },
    list,
    get alive() {
      return list('started')
        .map(({ pid }) => pid)
        .filter(isAlive);
    },
  };
}

/** A stand-in as a command `brainclaw` on PATH, which has nothing else but what a shell needs. */
export interface ServerOnPath extends StandInServer {
  readonly env: Readonly<Record<string, string>>;
}

export const NOT_INSTALLED = { PATH: '/usr/bin:/bin' };

export function installed(files: Scratch, fault: ServerFault = 'none', store: string | null = null): ServerOnPath {
  const server = recorded(files, fault, store);
  mkdirSync(files.at('bin'));
  const words = server.command.slice(0, -1).map((word) => `'${word}'`);
  writeFileSync(files.at('bin', 'brainclaw'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o700 });
  const env = { PATH: `${files.at('bin')}:${NOT_INSTALLED.PATH}` };
  return {
    ...{ env, command: server.command, list: server.list },
    get noted() {
      return server.noted;
    },
    get alive() {
      return server.alive;
    },
  };
}

/** An action client of a project of its own, with a stand-in for its server. */
export interface Acting extends AsyncDisposable {
  readonly files: Scratch;
  readonly server: StandInServer;
  readonly client: ActionClient;
  readonly warned: readonly string[];
  /** When no server runs. */
  over(): Promise<void>;
}

/** What a shell of an agent has, next to what everybody has. */
export const AGENT_SHELL = {
  BRAINCLAW_AGENT: 'codex',
  BRAINCLAW_AGENT_ID: 'agt_1',
  BRAINCLAW_AGENT_NAME: 'codex',
  BRAINCLAW_SESSION_ID: 'sess_1',
  BRAINCLAW_CLAIM_ID: 'clm_1',
  BRAINCLAW_PROJECT: 'another',
  BRAINCLAW_CWD: '/',
  BRAINCLAW_STORE_BOUNDARY: '/',
  CLAUDE_SESSION_ID: 'sess_2',
  COPILOT_SESSION_ID: 'sess_3',
  OPENCLAW_SESSION_ID: 'sess_4',
  CLAUDECODE: '1',
  NODE_OPTIONS: '--no-warnings',
};

export function acting(
  fault: ServerFault = 'none',
  options: Partial<Pick<ActionClientOptions, 'command' | 'callMs' | 'killMs'>> & { readonly clock?: Clock } = {},
): Acting {
  const files = scratch();
  const server = recorded(files, fault);
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => void warned.push(line) };
  const client = createActionClient({
    root: files.dir,
    command: () => server.command,
    env: { ...process.env, ...AGENT_SHELL, LANG: 'C.UTF-8' },
    principal: 'ada-of-this-machine',
    version: '1.2.3',
    clock: realClock,
    log,
    ...options,
  });
  return {
    files,
    server,
    client,
    warned,
    over: () => until('no server runs', () => server.alive.length === 0),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      for (const pid of server.alive) process.kill(pid, 'SIGKILL');
      files[Symbol.dispose]();
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
}
