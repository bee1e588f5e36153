import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hookShell } from '../kit/hook-shell.ts';
import { until } from '../kit/until.ts';

const WORKER = fileURLToPath(import.meta.resolve('../kit/stamp-worker.ts'));
const PERSONAS = ['ada', 'bob', 'Eve Ö'];
const ROUNDS = '40';

interface Worker extends Disposable {
  readonly pid: number;
  readonly output: Promise<Record<string, number>>;
}

function worker(...args: readonly string[]): Worker {
  const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const output = new Promise<Record<string, number>>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(out) as Record<string, number>);
      else reject(new Error(`${args[0]} ended with ${code}`));
    });
  });
  output.catch(() => {}); // whoever waits for it is told
  return { pid: child.pid ?? -1, output, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

test('no hook misses what was pushed before it began, whoever stamps, drains and pushes meanwhile', async () => {
  using h = hookShell();
  using workers = new DisposableStack();
  const stamps = () => workers.use(worker('stamp', h.state.dir, PERSONAS.join()));
  const stampers = [stamps(), stamps()];
  const areReady = (): boolean => stampers.every(({ pid }) => h.state.list().includes(`ready-${pid}`));
  await Promise.race([until('stampers', areReady, 60_000), ...stampers.map(({ output }) => output)]);
  const pushers = PERSONAS.map((persona) => workers.use(worker('push', h.state.dir, persona, ROUNDS)));
  try {
    const seen = await Promise.all(pushers.map(({ output }) => output));
    for (const { missed } of seen) assert.equal(missed, 0);
    // Else nothing was tried: a hook that always asks misses nothing.
    assert.ok(seen.reduce((sum, { quiet = 0 }) => sum + quiet, 0) > 10, JSON.stringify(seen));
  } finally {
    h.state.write('over', '');
  }
  const output = await Promise.all(stampers.map((stamper) => stamper.output));
  assert.ok(
    output.every(({ written = 0 }) => written > 0),
    JSON.stringify(output),
  );
});
