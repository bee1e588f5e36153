import { fstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { startNatsServer } from '../kit/nats-server.ts';
import { bench, ms, quantile } from './harness.ts';
import { fileText, post, startTray, temporary, until } from './rig.ts';

export const benches = [bench('push on A -> line in the event file of B, over NATS, p50', '<= 10 ms', pushToLine)];

const COUNT = 300;

async function pushToLine() {
  const dir = temporary();
  await using server = await startNatsServer({ dir });
  const [a, b] = [machine('ada'), machine('bo')];
  await using trayA = await startTray(a);
  await using trayB = await startTray(b);
  const agent = new Agent({ keepAlive: true });
  const path = join(b, 'hivebar', 'events', 'events.bo.ndjson');
  const send = (content: string): Promise<number> =>
    post(trayA.port, trayA.token, '/api/send', { to: 'bo', from: 'ada', content }, agent);
  await send('first');
  await until('the first line', () => (fileText(path) ?? '').includes('first'));
  const fd = openSync(path, 'r');
  const took: number[] = [];
  for (let i = 0; i < COUNT; i += 1) {
    const before = fstatSync(fd).size;
    const from = performance.now();
    await send(`mail ${i}`);
    // Not in a loop without rest: four processes share the machine already, and a millisecond is nothing here.
    while (fstatSync(fd).size === before) await sleep(1);
    took.push(performance.now() - from);
    await sleep(Math.random() * 5);
  }
  agent.destroy();
  const floor = await roundTrip(server.url, server.token);
  void trayB;
  const p50 = quantile(took, 0.5);
  return {
    figure: `${ms(p50)} (p99 ${ms(quantile(took, 0.99))})`,
    floor: `a request over the same server ${ms(floor)}`,
    met: p50 <= 10,
  };

  function machine(persona: string): string {
    const home = temporary();
    const config = join(home, 'hivebar', 'config');
    mkdirSync(config, { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'token'), server.token, { mode: 0o600 });
    const nats = { url: server.url, tokenFile: join(home, 'token'), personas: [persona] };
    writeFileSync(join(config, 'config.json'), JSON.stringify({ primary: { is: 'local' }, nats }), { mode: 0o600 });
    return home;
  }
}

/** p50 of a request that another client of the server answers. */
async function roundTrip(url: string, token: string): Promise<number> {
  const [client, responder] = await Promise.all([connect({ servers: url, token }), connect({ servers: url, token })]);
  responder.subscribe('floor', { callback: (_error, message) => void message.respond(message.data) });
  await responder.flush();
  const took: number[] = [];
  for (let i = 0; i < COUNT; i += 1) {
    const from = performance.now();
    await client.request('floor', 'x');
    took.push(performance.now() - from);
  }
  await Promise.all([client.close(), responder.close()]);
  return quantile(took, 0.5);
}
