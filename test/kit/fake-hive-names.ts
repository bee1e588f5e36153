import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What host names resolve to in a process of our own: its system resolver is stood in for, and nothing else. */
export interface FakeNames extends Disposable {
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** From the next look-up on. Null: as a machine without a network says it (`EAI_AGAIN`). */
  set(name: string, addresses: readonly string[] | null): void;
}

/** Names that were never set are not found (`ENOTFOUND`). */
export function fakeNames(): FakeNames {
  const dir = mkdtempSync(join(tmpdir(), 'hivebar-names-'));
  const table = join(dir, 'names.json');
  const preload = join(dir, 'names.mjs');
  const names: Record<string, readonly string[] | null> = {};
  const write = (): void => {
    writeFileSync(`${table}.new`, JSON.stringify(names));
    renameSync(`${table}.new`, table);
  };
  write();
  writeFileSync(
    preload,
    `import { readFileSync } from 'node:fs';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
dns.lookup = async (name) => {
  const found = JSON.parse(readFileSync(${JSON.stringify(table)}, 'utf8'))[name];
  if (Array.isArray(found)) return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const code = found === null ? 'EAI_AGAIN' : 'ENOTFOUND';
  throw Object.assign(new Error('getaddrinfo ' + code + ' ' + name), { code });
};
syncBuiltinESMExports();
`,
  );
  return {
    env: { NODE_OPTIONS: `--import=${preload}` },
    set(name, addresses) {
      names[name] = addresses;
      write();
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
