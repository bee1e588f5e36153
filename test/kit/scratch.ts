import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLine } from './process.ts';

/** A directory of a test's own, gone when the test leaves its scope. */
export interface Scratch extends Disposable {
  readonly dir: string;
  at(...names: string[]): string;
  list(): readonly string[];
  write(name: string, text: string | Buffer): string;
  /** Empty when it is not there. */
  text(name: string): string;
  /** Null when it is not there. */
  json(name: string): Record<string, unknown> | null;
  /** The events in a file; none when it is not there. A line that is not whole yet is left out. */
  events(name: string): readonly EventLine[];
  /** Ids of the `new` events in a file. */
  mail(name: string): readonly unknown[];
}

export function scratch(): Scratch {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'hivebar-e2e-')));
  const at = (...names: string[]): string => join(dir, ...names);
  const text = (name: string): string => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
  const events = (name: string): readonly EventLine[] =>
    text(name)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as EventLine);
  return {
    dir,
    at,
    list: () => readdirSync(dir).sort(),
    text,
    write: (name, content) => {
      writeFileSync(at(name), content, { mode: 0o600 });
      return at(name);
    },
    json: (name) => (existsSync(at(name)) ? (JSON.parse(text(name)) as Record<string, unknown>) : null),
    events,
    mail: (name) =>
      events(name)
        .filter(({ event }) => event === 'new')
        .map(({ id }) => id),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
