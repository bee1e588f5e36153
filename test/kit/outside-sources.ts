import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Scratch } from './scratch.ts';

const PROGRAM = fileURLToPath(import.meta.resolve('./line-source.mjs'));

/** What the program of `line-source.mjs` does. */
export interface LineScript {
  readonly ready?: object;
  readonly lines?: readonly (object | string)[];
  readonly done?: object;
  readonly pages?: Readonly<Record<string, { readonly lines?: readonly (object | string)[]; readonly done?: object }>>;
  readonly fault?: object;
  readonly sleepMs?: number;
  readonly exit?: number;
  readonly storm?: boolean;
  readonly flood?: 'line' | 'lines';
}

/** A source that does what a test says, as a program of its own. */
export interface LineSource {
  readonly argv: readonly string[];
  /** What it does from the next poll on. */
  set(script: LineScript): void;
  /** Every line that Hivebar sent to it, of all its runs. */
  readonly heard: readonly {
    readonly op: string;
    readonly id?: number;
    readonly cursor?: string | null;
    readonly persona?: string;
  }[];
  /** How it was started last; null when it never was. */
  readonly started: { readonly env: Readonly<Record<string, string>>; readonly cwd: string } | null;
}

export function createLineSource(place: Scratch, name: string, script: LineScript): LineSource {
  const path = place.at(`${name}.json`);
  const read = (suffix: string): string => (existsSync(path + suffix) ? readFileSync(path + suffix, 'utf8') : '');
  const set = (now: LineScript): void => {
    writeFileSync(`${path}.tmp`, JSON.stringify(now));
    renameSync(`${path}.tmp`, path);
  };
  set(script);
  return {
    argv: [process.execPath, PROGRAM, path],
    set,
    get heard() {
      return read('.heard')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { op: string });
    },
    get started() {
      const text = read('.env');
      return text === '' ? null : (JSON.parse(text) as { env: Record<string, string>; cwd: string });
    },
  };
}

/** An unread item of a persona. */
export const unread = (persona: string, key: string, more: object = {}): object => ({
  ...{ op: 'item', persona, key, state: 'unread', from: 'bo', content: `text of ${key}` },
  ...more,
});
