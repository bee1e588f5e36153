import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { isAbsolute, join, parse } from 'node:path';
import { parseVersion, type Version } from '../../core/hooks/index.ts';
import { findProgram, realClock, realRandom } from '../../core/ports/index.ts';
import { findOwnDirs, findOwnHome, requireCurrentFolder } from '../../core/state/index.ts';
import { findNodeCandidates } from './hook-entries.ts';
import { createInstaller, type HookInstaller } from './hook-installer.ts';
import { HARNESSES, type HarnessName, RECIPES } from './recipe.ts';
import { PROBE, PROBE_ANSWER, SCRIPT_NAME } from './script.ts';

type HookEnv = Readonly<Record<string, string | undefined>>;

// In the package every compiled file is in dist/, beside the programs. In a checkout this file is in app/hook/.
const IS_SOURCE = import.meta.filename.endsWith('.ts');
const ROOT = join(import.meta.dirname, ...(IS_SOURCE ? ['..', '..'] : ['..']));
const ENTRY = IS_SOURCE ? join(ROOT, 'app', 'cli', 'hook.node.ts') : join(import.meta.dirname, 'hook.cjs');

/**
 * Creates the installer of this program, for this user's harnesses or those of a project.
 * @param project its folder; null for the current one
 */
export function createHookInstaller(env: HookEnv, project: string | null = null): HookInstaller {
  const { state, run } = findOwnDirs({ ...env });
  const home = env.HOME && isAbsolute(env.HOME) && process.platform !== 'win32' ? env.HOME : findOwnHome();
  return createInstaller({
    random: realRandom,
    os: process.platform,
    managed: listManagedSettings(process.platform, env),
    findVersion: createVersionFinder(env),
    tryCommand: (command) => tryCommand(command, env),
    run,
    scriptPath: join(state, 'hook', SCRIPT_NAME),
    script: {
      ...{ node: process.execPath, otherNodes: findNodeCandidates(ROOT, process.platform) },
      ...{ entry: ENTRY, state, leads: findLeads(env, state) },
    },
    folders: {
      user: listFolders((name) => findHarnessHome(name, env, home)),
      // Computed only where a project is meant.
      get project() {
        const folder = project ?? requireCurrentFolder('--project means the current folder');
        return listFolders((name) => join(folder, RECIPES[name].projectFolder));
      },
    },
  });
}

type Folders = Readonly<Record<HarnessName, string>>;

const listFolders = (find: (name: HarnessName) => string): Folders =>
  Object.fromEntries(HARNESSES.map((name) => [name, find(name)])) as Folders;

function findHarnessHome(name: HarnessName, env: HookEnv, home: string): string {
  const { variable, folder, configHome } = RECIPES[name].home;
  if (configHome !== undefined && env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, configHome);
  return (variable !== null && env[variable]) || join(home, folder);
}

/** An absent folder has none, and one that cannot be read says nothing here. */
function listJsonFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    return names.toSorted().map((name) => join(folder, name));
  } catch {
    return []; // see above
  }
}

/** Lists where administrators put settings that come before those of a user. A harness that has none is left out. */
export function listManagedSettings(
  os: NodeJS.Platform,
  env: HookEnv,
): Readonly<Partial<Record<HarnessName, readonly string[]>>> {
  // Claude Code keeps what an organisation sends it in the last one.
  const claude = (folder: string): readonly string[] => [
    join(folder, 'managed-settings.json'),
    ...listJsonFiles(join(folder, 'managed-settings.d')),
    join(findHarnessHome('claude', env, findOwnHome()), 'remote-settings.json'),
  ];
  switch (os) {
    case 'darwin':
      return { claude: claude('/Library/Application Support/ClaudeCode'), codex: ['/etc/codex/requirements.toml'] };
    case 'win32':
      return {
        claude: claude(join(env.ProgramFiles ?? 'C:\\Program Files', 'ClaudeCode')),
        codex: [join(env.ProgramData ?? 'C:\\ProgramData', 'OpenAI', 'Codex', 'requirements.toml')],
      };
    default:
      return { claude: claude('/etc/claude-code'), codex: ['/etc/codex/requirements.toml'] };
  }
}

/**
 * Returns the variables that determined the state directory, with absolute paths, because a hook may run in another directory.
 */
function findLeads(env: HookEnv, state: string): Readonly<Record<string, string>> {
  if (env.HIVEBAR_HOME) return { HIVEBAR_HOME: state };
  const base = { HIVEBAR_HOME: '' };
  return process.platform === 'linux' ? { ...base, XDG_STATE_HOME: env.XDG_STATE_HOME ?? '' } : base;
}

/** How long to wait until a program has printed its version, in milliseconds. */
const VERSION_MS = 10_000;

/**
 * Creates the function that runs `NAME --version` of the program of that name on PATH, once. It returns null when there is none, or it does not
 * say its version.
 */
function createVersionFinder(env: HookEnv): (harness: HarnessName) => Version | null {
  const known = new Map<HarnessName, Version | null>();
  return (harness) => {
    const before = known.get(harness);
    if (before !== undefined) return before;
    const program = findProgram(harness, env, process.platform);
    const options = { env: { ...env }, encoding: 'utf8', timeout: VERSION_MS, windowsHide: true } as const;
    const { stdout } = program === null ? { stdout: null } : spawnSync(program, ['--version'], options);
    const version = parseVersion(stdout ?? '');
    known.set(harness, version);
    return version;
  };
}

/** The same time that a harness gives a hook. */
const WITHIN_MS = 10_000;
const MOST_CHARS = 300;

/** A command for PowerShell begins with its call operator. */
const findWindowsShell = (command: string): string | true => (command.startsWith('& ') ? 'powershell.exe' : true);

/**
 * Runs the command of a hook once as a harness does, with the shell of the system. A variable makes it answer and do nothing
 * else. Returns null when it answered, else what came instead.
 */
function tryCommand(command: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  const isWindows = process.platform === 'win32';
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: isWindows ? findWindowsShell(command) : '/bin/sh',
      cwd: parse(process.execPath).root,
      env: { ...env, [PROBE]: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let stdout = '';
    let stderr = '';
    let isOver = false;
    const end = (answer: string | null): void => {
      if (isOver) return;
      isOver = true;
      timer[Symbol.dispose]();
      resolve(answer);
    };
    const timer = realClock.after(WITHIN_MS, () => {
      child.kill('SIGKILL');
      for (const stream of child.stdio) stream?.destroy();
      end(`it timed out after ${WITHIN_MS / 1000} s`);
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, MOST_CHARS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, MOST_CHARS);
    });
    child.stdin.on('error', () => {}); // the command ended before it read its input
    child.stdin.end('{}\n');
    child.on('error', ({ message }) => end(message));
    child.on('close', (code) => {
      if (stdout.trim() === PROBE_ANSWER) return end(null);
      const output = (stderr.trim() || stdout.trim()).split('\n')[0] ?? '';
      end(`it ended with ${code} and ${output === '' ? 'printed nothing' : `printed: ${output}`}`);
    });
  });
}
