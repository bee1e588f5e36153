import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './until.ts';

/** Terminals in which real agent programs run, on a tmux server of their own; each ends with the scope. */
export interface AgentTerminals extends AsyncDisposable {
  readonly socket: string;
  /** Starts a program in a session with this name. Its environment is `env`, what a terminal gives it and nothing else. */
  start(name: string, cwd: string, env: Readonly<Record<string, string>>, command: readonly string[]): void;
  ask(...args: readonly string[]): string;
  screen(name: string): string;
  /** Waits until the screen fits. */
  shows(name: string, pattern: RegExp): Promise<void>;
  /** As a person: the text, and then Enter. */
  say(name: string, text: string): Promise<void>;
  key(name: string, ...keys: readonly string[]): void;
  /** Presses a key, and again each second until the screen fits: a program drops a key that comes as soon as a dialog is drawn. */
  press(name: string, key: string, fits: (screen: string) => boolean): Promise<void>;
}

const WITHIN_MS = 90_000;
/** A program that takes fast typing for a paste takes an Enter in it for a line end. */
const PAUSE_MS = 400;
const PRESS_AGAIN_MS = 1000;

/** @param home below it the programs keep everything; processes that outlive their terminal are known by it */
export function agentTerminals(home: string): AgentTerminals {
  const socket = join(home, 'tmux');
  const outside = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' };
  const ask = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env: outside, encoding: 'utf8' });
  const screen = (name: string): string => ask('capture-pane', '-p', '-t', name);
  const shows = (name: string, pattern: RegExp): Promise<void> =>
    until(
      () => `${pattern} in ${name}:\n${screen(name)}`,
      () => pattern.test(screen(name)),
      WITHIN_MS,
    );
  return {
    socket,
    ask,
    screen,
    shows,
    start(name, cwd, env, command) {
      // Whatever is asked beside the model goes to a port of this machine where nobody listens.
      const nowhere = {
        HTTPS_PROXY: 'http://127.0.0.1:9',
        HTTP_PROXY: 'http://127.0.0.1:9',
        NO_PROXY: '127.0.0.1,localhost',
      };
      const all = Object.entries({ ...outside, ...nowhere, ...env, TERM: 'tmux-256color' }).map(
        ([key, value]) => `${key}=${value}`,
      );
      const clean = ['sh', '-c', 'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$@"', 'sh', ...all, ...command];
      ask('new-session', '-d', '-s', name, '-x', '140', '-y', '45', '-c', cwd, ...clean);
    },
    async say(name, text) {
      ask('send-keys', '-t', name, '-l', '--', text);
      await sleep(PAUSE_MS);
      ask('send-keys', '-t', name, 'Enter');
    },
    key: (name, ...keys) => void ask('send-keys', '-t', name, ...keys),
    async press(name, key, fits) {
      let again = 0;
      await until(
        () => `after ${key} in ${name}:\n${screen(name)}`,
        () => {
          if (fits(screen(name))) return true;
          if (performance.now() >= again) {
            ask('send-keys', '-t', name, key);
            again = performance.now() + PRESS_AGAIN_MS;
          }
          return false;
        },
        WITHIN_MS,
      );
    },
    async [Symbol.asyncDispose]() {
      spawnSync('tmux', ['-S', socket, 'kill-server'], { env: outside, stdio: 'ignore' });
      for (let tries = 0; tries < 50; tries += 1) {
        const left = listProcesses(home);
        if (left.length === 0) return;
        for (const pid of left) signal(pid);
        await sleep(100);
      }
    },
  };
}

/** The processes of this user whose program or command line is of that home: servers that outlive a terminal. */
export function listProcesses(home: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && belongsTo(pid, home));
}

function belongsTo(pid: number, home: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/exe`).startsWith(`${home}/`)) return true;
    const [variable] = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((assignment) => assignment === `HOME=${home}`);
    return variable !== undefined;
  } catch {
    return false; // it ended, or is not ours
  }
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

const KEY = 'sk-ant-loopback-00000000000000000000-loopback';

/** What Claude Code asks at a first start, answered; and the environment in which it asks that model alone. */
export function prepareClaude(home: string, project: string, url: string): Readonly<Record<string, string>> {
  const config = join(home, '.claude');
  mkdirSync(config, { recursive: true });
  const trusted = { allowedTools: [], hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const answered = {
    ...{
      hasCompletedOnboarding: true,
      lastOnboardingVersion: '99.0.0',
      theme: 'dark',
      numStartups: 5,
      autoUpdates: false,
    },
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [project]: trusted },
  };
  writeFileSync(join(config, '.claude.json'), JSON.stringify(answered));
  return {
    ...{ CLAUDE_CONFIG_DIR: config, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, DISABLE_AUTOUPDATER: '1' },
    ...{ DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  };
}

/** Likewise for Codex, with the folders it may work in. */
export function prepareCodex(home: string, projects: readonly string[], url: string): Readonly<Record<string, string>> {
  const config = join(home, '.codex');
  mkdirSync(config, { recursive: true });
  const provider = { name: '"loopback"', base_url: `"${url}/v1"`, wire_api: '"responses"', env_key: '"LOOPBACK_KEY"' };
  const lines = [
    ...['model = "gpt-5.2-codex"', 'model_provider = "loopback"', 'check_for_update_on_startup = false'],
    ...['approval_policy = "on-request"', 'sandbox_mode = "workspace-write"', '[analytics]', 'enabled = false'],
    '[model_providers.loopback]',
    ...Object.entries(provider).map(([key, value]) => `${key} = ${value}`),
    ...projects.flatMap((project) => [`[projects."${project}"]`, 'trust_level = "trusted"']),
  ];
  writeFileSync(join(config, 'config.toml'), `${lines.join('\n')}\n`);
  return { CODEX_HOME: config, LOOPBACK_KEY: 'loopback' };
}

/** Answers its question about new hooks. */
export async function trustCodexHooks(terminals: AgentTerminals, name: string): Promise<void> {
  await terminals.shows(name, /Hooks need review/);
  await until('all are trusted', () => {
    const asks = /(›)? *2\. Trust all/.exec(terminals.screen(name));
    if (asks !== null) terminals.key(name, asks[1] === undefined ? '2' : 'Enter');
    return asks === null;
  });
}

/** Waits until Codex takes keys: those right after its start are lost. */
export async function waitForCodex(terminals: AgentTerminals, name: string): Promise<void> {
  await terminals.shows(name, /Ask Codex to do anything/);
  await until(`keys are taken in ${name}`, () => {
    if (/› x+\s*\n/.test(terminals.screen(name))) return true;
    terminals.key(name, 'x');
    return false;
  });
  terminals.key(name, 'C-u');
  await terminals.shows(name, /Ask Codex to do anything/);
}
