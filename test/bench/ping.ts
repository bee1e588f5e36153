/**
 * Asks a port without pause, in a small process of its own whose garbage is nobody's stall:
 * `node ping.ts PORT PATH`. Each line of stdin begins or ends a stretch; at its end it says the times as a list.
 */
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';

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

createInterface({ input: process.stdin })
  .on('line', async () => {
    if (took !== null) {
      process.stdout.write(`${JSON.stringify(took)}\n`);
      took = null;
      return;
    }
    const times: number[] = [];
    took = times;
    while (took === times) {
      const from = performance.now();
      await ping();
      times.push(performance.now() - from);
    }
  })
  .on('close', () => process.exit());
