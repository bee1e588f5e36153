import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Another program of Node at work, to its end: what it told on stdout, a JSON value a line. @throws when it does not end with 0 */
export async function readLines<T>(argv: readonly string[]): Promise<readonly T[]> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 0);
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T);
}
