import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratch } from '../../test/kit/scratch.ts';

const MODULE = fileURLToPath(import.meta.resolve('./nonblocking-io.node.ts'));
const READS = `
  import { readSync, writeSync } from 'node:fs';
  import { openUnblocked } from ${JSON.stringify(MODULE)};
  const into = Buffer.alloc(100);
  const seen = [];
  const fd = openUnblocked(0);
  for (;;) {
    try { const got = readSync(fd, into); seen.push(into.toString('utf8', 0, got)); if (got === 0) break; }
    catch (error) { if (seen.at(-1) !== error.code) seen.push(error.code); if (seen.at(-2) === 'all' || error.code !== 'EAGAIN') break; }
  }
  writeSync(1, seen.join(' '));`;
const WRITES = `
  import { writeSync } from 'node:fs';
  import { openUnblocked } from ${JSON.stringify(MODULE)};
  const fd = openUnblocked(1);
  try { for (;;) writeSync(fd, 'x'.repeat(4096)); } catch (error) { writeSync(2, error.code); }`;

const node = (code: string): readonly string[] => ['--input-type=module-typescript', '--eval', code];

/** One that waits after all is a failure, and does not stay. */
const LIMITS = { timeout: 60_000, killSignal: 'SIGKILL' } as const;

test('a socket with nothing in it is not waited for, nor is one that takes no more', {
  timeout: LIMITS.timeout,
}, async () => {
  const reader = spawn(process.execPath, node(READS), { ...LIMITS, stdio: ['pipe', 'pipe', 'inherit'] });
  reader.stdin.write('all'); // and it stays open
  const [output] = await once(reader.stdout.setEncoding('utf8'), 'data');
  assert.match(output, /^(EAGAIN )?all EAGAIN$/);
  reader.stdin.end();
  const writer = spawn(process.execPath, node(WRITES), { ...LIMITS, stdio: ['ignore', 'pipe', 'pipe'] });
  const [why] = await once(writer.stderr.setEncoding('utf8'), 'data');
  assert.equal(why, 'EAGAIN');
  writer.stdout.destroy();
});

test('a pipe likewise, and one that has ended has ended; a file is read as ever', {
  skip: process.platform === 'win32',
}, () => {
  using home = scratch();
  home.write('reads.mts', READS);
  home.write('writes.mts', WRITES);
  home.write('in', 'all');
  execFileSync('mkfifo', [home.at('fifo')]);
  const pipe = openSync(home.at('fifo'), constants.O_RDWR); // somebody reads and writes, and does neither now
  const file = openSync(home.at('in'), 'r');
  const run = (name: string, stdin: number | 'pipe', stdout: number | 'pipe'): readonly [string, string] => {
    const options = { stdio: [stdin, stdout, 'pipe'], encoding: 'utf8', ...LIMITS } as const;
    const ran = spawnSync(process.execPath, [home.at(name)], { ...options, stdio: [...options.stdio] });
    return [ran.stdout ?? '', ran.stderr];
  };
  try {
    writeSync(pipe, 'all');
    assert.deepEqual(run('reads.mts', pipe, 'pipe'), ['all EAGAIN', '']);
    assert.deepEqual(run('writes.mts', file, pipe), ['', 'EAGAIN']);
    assert.deepEqual(run('reads.mts', file, 'pipe'), ['all ', '']);
  } finally {
    closeSync(pipe);
    closeSync(file);
  }
  const ended = execFileSync('/bin/sh', ['-c', 'printf all | "$0" "$1"', process.execPath, home.at('reads.mts')]);
  assert.match(String(ended), /^(EAGAIN )?all (EAGAIN )?$/);
});
