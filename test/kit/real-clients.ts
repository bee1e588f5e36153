import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** The agent programs that tests drive, at these versions: their vendors' own, installed from npm into the cache of this checkout. */
const CLIENTS = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.332', find: findClaude },
  codex: { name: '@openai/codex', version: '0.171.0', find: findCodex },
  gemini: { name: '@google/gemini-cli', version: '0.61.0', find: findAt('@google/gemini-cli/bundle/gemini.js') },
  qwen: { name: '@qwen-code/qwen-code', version: '0.24.4', find: findAt('@qwen-code/qwen-code/cli.js') },
  copilot: { name: '@github/copilot', version: '1.0.102', find: findCopilot },
  opencode: { name: 'opencode-ai', version: '1.18.33', find: findAt(`opencode-linux-${process.arch}/bin/opencode`) },
} as const;

/** These are driven without a terminal. */
const WITHOUT_TERMINAL: ReadonlySet<string> = new Set(['gemini', 'qwen', 'copilot', 'opencode']);

const INSTALL_MS = 300_000;

/** The program, absolute; else what is missing, for `needs`. Installed when it is first asked for. */
export function realClient(which: keyof typeof CLIENTS): { readonly program: string } | { readonly missing: string } {
  const { name, version, find } = CLIENTS[which];
  if (process.platform !== 'linux') return { missing: `${name} is driven on Linux alone` };
  if (!WITHOUT_TERMINAL.has(which) && spawnSync('tmux', ['-V']).status !== 0)
    return { missing: 'tmux is missing: apt-get install tmux' };
  const dir = join(ROOT, '.cache', 'clients', `${which}-${version}`);
  if (!existsSync(dir)) {
    // Made beside it and moved, so that a folder with that name is whole; the first of two wins.
    const making = `${dir}.${process.pid}`;
    mkdirSync(making, { recursive: true });
    const args = ['install', '--prefix', making, '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`];
    const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', timeout: INSTALL_MS });
    if (status !== 0 || find(making) === null) {
      rmSync(making, { recursive: true, force: true });
      return {
        missing: `${name}@${version} cannot be had: npm ${args.join(' ')}: ${(stderr ?? '').trim().slice(-300)}`,
      };
    }
    try {
      renameSync(making, dir);
    } catch {
      rmSync(making, { recursive: true, force: true }); // another test was sooner
    }
  }
  const program = find(dir);
  return program === null ? { missing: `${dir} holds no program for this machine: remove it` } : { program };
}

function findClaude(dir: string): string | null {
  return firstIn(join(dir, 'node_modules', '@anthropic-ai'), 'claude-code-', (path) => [join(path, 'claude')]);
}

function findCodex(dir: string): string | null {
  return firstIn(join(dir, 'node_modules', '@openai'), 'codex-', (path) => {
    const vendor = join(path, 'vendor');
    return existsSync(vendor) ? readdirSync(vendor).map((target) => join(vendor, target, 'bin', 'codex')) : [];
  });
}

function findAt(path: string): (dir: string) => string | null {
  return (dir) => (existsSync(join(dir, 'node_modules', path)) ? join(dir, 'node_modules', path) : null);
}

function findCopilot(dir: string): string | null {
  return firstIn(join(dir, 'node_modules', '@github'), 'copilot-', (path) => [join(path, 'copilot')]);
}

function firstIn(folder: string, prefix: string, programs: (path: string) => readonly string[]): string | null {
  if (!existsSync(folder)) return null;
  const packages = readdirSync(folder).filter((name) => name.startsWith(prefix));
  return packages.flatMap((name) => programs(join(folder, name))).find((path) => existsSync(path)) ?? null;
}
