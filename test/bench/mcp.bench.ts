import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buildPackage } from '../../build/package.ts';
import { goals, ms, quantile } from './harness.ts';
import { readMemory } from './rig.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const RUNS = 40;
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

export const benches = [
  goals(
    [
      { name: 'hivebar mcp, start to first answer, packed', unit: 'x', bar: 2 },
      { name: 'hivebar mcp, resident after 20 calls, packed', unit: 'MiB', bar: 75 },
    ],
    async () => {
      const home = mkdtempSync(join(tmpdir(), 'hivebar-bench-'));
      try {
        await buildPackage(join(home, 'package', 'dist'));
        symlinkSync(join(ROOT, 'node_modules'), join(home, 'package', 'node_modules'));
        symlinkSync(join(ROOT, 'package.json'), join(home, 'package', 'package.json'));
        const entry = join(home, 'package', 'dist', 'hivebar.cjs');
        for (let n = 0; n < 3; n += 1) await measureStart(home, entry); // fills the compile cache
        const own: number[] = [];
        const floor: number[] = [];
        for (let n = 0; n < RUNS; n += 1) {
          own.push(await measureStart(home, entry));
          floor.push(await measureNode(home));
        }
        const [start, bare] = [quantile(own, 0.5), quantile(floor, 0.5)];
        return [
          { value: start / bare, note: ms(start), floor: { value: bare, unit: 'ms', what: 'node -e 0' } },
          { value: await measureMemory(home, entry) },
        ];
      } finally {
        rmSync(home, { recursive: true, force: true });
      }
    },
  ),
];

interface Served {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly lines: Interface;
}

function start(home: string, entry: string): Served {
  const env = { PATH: process.env.PATH, HOME: home, HIVEBAR_HOME: home, HIVEBAR_PERSONA: 'ada' };
  const child = spawn(process.execPath, [entry, 'mcp'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  return { child, lines: createInterface({ input: child.stdout }) };
}

/** Sends a request and waits for the next line. */
function ask({ child, lines }: Served, id: number, method: string, params: object): Promise<string> {
  const answer = new Promise<string>((resolve, reject) => {
    const failed = (): void => reject(new Error('hivebar mcp ended'));
    lines.once('close', failed).once('line', (line: string) => {
      lines.off('close', failed);
      resolve(line);
    });
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  return answer;
}

async function stop({ child }: Served): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.end();
  await ended;
}

/** Milliseconds from the start of the process to its first answer. */
async function measureStart(home: string, entry: string): Promise<number> {
  const from = performance.now();
  const served = start(home, entry);
  await ask(served, 1, 'initialize', HELLO);
  const took = performance.now() - from;
  await stop(served);
  return took;
}

function measureNode(home: string): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { env: { HOME: home }, stdio: 'ignore' });
  return new Promise((resolve) => child.once('close', () => resolve(performance.now() - from)));
}

/** MiB that a server has after an agent sent, listed and read some messages. */
async function measureMemory(home: string, entry: string): Promise<number> {
  const served = start(home, entry);
  await ask(served, 0, 'initialize', HELLO);
  served.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const send = { name: 'inbox_send', arguments: { to: 'ada', text: 'x'.repeat(1000) } };
  const calls = [send, { name: 'inbox_list', arguments: { all: true } }, { name: 'inbox_read', arguments: {} }];
  for (let n = 1; n <= 20; n += 1) {
    const answer = await ask(served, n, 'tools/call', calls[n % calls.length] ?? send);
    if (answer.includes('"isError":true') || answer.includes('"error":')) throw new Error(answer);
  }
  const { rss } = readMemory(served.child.pid ?? 0);
  await stop(served);
  return rss;
}
