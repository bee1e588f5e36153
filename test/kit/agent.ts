import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Output, parseHookOutput } from './hook-output.ts';
import { type Cli, type CliOptions, runCli, startCli } from './process.ts';
import type { TrayHome } from './tray-process.ts';

export type HarnessName = 'claude' | 'codex';

/** Where a user's settings of each harness are, below HOME. */
const SETTINGS: Readonly<Record<HarnessName, string>> = {
  claude: '.claude/settings.json',
  codex: '.codex/hooks.json',
};

/** An agent in a session of its harness, in a folder that is a git repository with one commit. */
export interface Agent {
  readonly persona: string;
  readonly harness: HarnessName;
  readonly session: string;
  readonly home: TrayHome;
  readonly folder: string;
  readonly settings: string;
  /** Ids of the items it was shown so far, in their order. */
  readonly shown: readonly number[];
  git(...args: readonly string[]): string;
  /** `hivebar ARGS` in its folder, as one of its tool calls: nobody tells who it is. @throws unless it ends with `code` */
  hivebar(args: readonly string[], code?: number): Promise<readonly string[]>;
  /** The same with HIVEBAR_PERSONA. */
  asItself(args: readonly string[]): Promise<readonly string[]>;
  start(args: readonly string[]): Cli;
  /** One moment of the session: the command in the settings, run by a shell, with the harness's JSON on stdin. */
  at(event: string, given?: Readonly<Record<string, unknown>>): Promise<Output>;
}

export function agent(home: TrayHome, persona: string, harness: HarnessName): Agent {
  const folder = join(home.home, `work of ${persona}`);
  const session = `session-of-${persona}`;
  const settings = join(home.home, SETTINGS[harness]);
  mkdirSync(folder);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, encoding: 'utf8' });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const shown: number[] = [];
  const run = async (args: readonly string[], more: CliOptions['env'], code: number): Promise<readonly string[]> => {
    const ended = await runCli(args, { env: { ...home.env, ...more }, cwd: folder });
    assert.deepEqual([ended.code, ended.stderr], [code, ''], `${args.join(' ')}\n${ended.stdout}`);
    return ended.stdout.split('\n').slice(0, -1);
  };
  return {
    ...{ persona, harness, session, home, folder, settings, shown, git },
    hivebar: (args, code = 0) => run(args, {}, code),
    asItself: (args) => run(args, { HIVEBAR_PERSONA: persona }, 0),
    start: (args) => startCli(args, { env: home.env, cwd: folder }),
    async at(event, given = {}) {
      const command = commandFor(settings, event);
      const stdin = { session_id: session, hook_event_name: event, cwd: folder, ...given };
      const output = await spoken(
        command,
        JSON.stringify(stdin),
        { HOME: home.home, XDG_CACHE_HOME: home.env.XDG_CACHE_HOME, PATH: process.env.PATH },
        folder,
      );
      shown.push(...output.ids);
      return output;
    },
  };
}

/** How often a hook of a busy machine may say that it had not the time, which costs nothing but another call. */
const PATIENCE = 5;
const NO_TIME = /database is locked|must be a JSON object|nothing was marked/;

async function spoken(command: string, stdin: string, env: NodeJS.ProcessEnv, cwd: string): Promise<Output> {
  for (let left = PATIENCE; ; left -= 1) {
    const { code, stdout, stderr } = await byShell(command, stdin, env, cwd);
    assert.equal(code, 0, stderr);
    if (left > 0 && NO_TIME.test(stderr)) continue;
    assert.equal(stderr, '', command);
    return parseHookOutput(stdout);
  }
}

export interface ByShell {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** As a harness runs a hook. */
export async function byShell(command: string, stdin: string, env: NodeJS.ProcessEnv, cwd: string): Promise<ByShell> {
  const began = performance.now();
  const child = spawn('/bin/sh', ['-c', command], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {}); // the script need not read it
  child.stdin.end(stdin);
  const [code] = await once(child, 'close');
  return { code, stdout, stderr, ms: performance.now() - began };
}

interface Settings {
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>>;
}

/** What the harness would run at this moment, beside the waiter, which runs behind the turn. */
export function commandFor(settings: string, event: string): string {
  const { hooks } = JSON.parse(readFileSync(settings, 'utf8')) as Settings;
  const all = (hooks[event] ?? []).flatMap((group) => group.hooks.map(({ command }) => command));
  const commands = all.filter((command) => !/ Wait\b/.test(command));
  assert.equal(commands.length, 1, `${event} in ${settings}`);
  return commands[0] ?? '';
}
