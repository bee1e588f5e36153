/**
 * Asks a port every millisecond, in a small process of its own whose garbage is nobody's stall:
 * `node ping.ts PORT PATH`. A line of stdin begins a stretch, which says `begun` when it is warm; the next ends it, and it
 * says its times as a list.
 */
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** The first answers after a rest load and compile what answers. */
const COLD = 100;

const [, , port, path] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let took: number[] | null = null;

function ping(): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path }, (response) => response.resume().once('end', resolve))
      .once('error', reject)
      .end();
  });
}

async function stretch(times: number[]): Promise<void> {
  for (let i = 0; took === times; i += 1) {
    const from = performance.now();
    await ping();
    if (i >= COLD) times.push(performance.now() - from);
    if (i === COLD) process.stdout.write('begun\n');
    await sleep(1);
  }
}

createInterface({ input: process.stdin })
  .on('line', () => {
    if (took === null) {
      took = [];
      void stretch(took);
    } else {
      process.stdout.write(`${JSON.stringify(took)}\n`);
      took = null;
    }
  })
  .on('close', () => process.exit());
