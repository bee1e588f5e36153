import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEntry } from './program.ts';

/** The folder of the repository, which is the marketplace. */
export const MARKETPLACE = join(import.meta.dirname, '..', '..');

const WITHIN_MS = 120_000;

/** Puts `hivebar` on a PATH as an installation does, and returns that PATH. */
export function installCommand(home: string): string {
  const bin = join(home, 'bin');
  const command = join(bin, 'hivebar');
  mkdirSync(bin);
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${programEntry('hivebar')}' "$@"\n`);
  chmodSync(command, 0o755);
  return `${bin}:${process.env.PATH}`;
}

/** Runs a program without a terminal, and returns what it wrote. @throws with that when it fails */
export async function runToEnd(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(program, [...args], {
    ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: WITHIN_MS },
    env: { HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost', ...env },
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      written += chunk.toString('utf8');
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0, written);
  return written;
}
