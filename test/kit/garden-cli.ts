import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Garden } from './garden-store.ts';
import { programEntry } from './program.ts';

export interface GardenAnswer {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  /** What it printed, of which each is a JSON. @throws when it is none */
  json<T = Readonly<Record<string, unknown>>>(): T;
}

export interface GardenCliOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Instead of `--store` of the garden: null gives none. */
  readonly store?: string | null;
  readonly wrap?: readonly string[];
}

export type GardenCli = (args: readonly string[], options?: GardenCliOptions) => Promise<GardenAnswer>;

const FOREIGN = /^(HIVEBAR_|KIJITOMON_|XDG_|NODE_|npm_|PI_|ENTWURF_)|_proxy$/i;

/** `hivebar garden ARGS --store STORE` as a process of its own, whose state is beside the store. */
export function gardenCli(garden: Garden): GardenCli {
  return async (args, { input = '', env = {}, cwd = garden.dir, store = garden.store, wrap = [] } = {}) => {
    const inherited = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
    const own = { HIVEBAR_HOME: garden.at('hivebar'), HOME: garden.dir, ENTWURF_DIR: garden.at('control') };
    const [file = '', ...rest] = [...wrap, process.execPath, programEntry('hivebar'), 'garden', ...args];
    const child = spawn(file, [...rest, ...(store === null ? [] : ['--store', store])], {
      ...{ cwd, env: { ...Object.fromEntries(inherited), ...own, ...env } },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.stdin.on('error', () => {}); // it ended without reading
    child.stdin.end(input);
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return {
      ...{ code, signal, out, err },
      json: <T>() => {
        assert.match(out, /^\{.*\}\n$/, `no JSON\n${out}\n${err}`);
        return JSON.parse(out) as T;
      },
    };
  };
}

/** The messages of `hivebar garden: MESSAGE`, a line each. */
export function complaintsIn(err: string): readonly string[] {
  return err
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace(/^hivebar garden: /, ''));
}
