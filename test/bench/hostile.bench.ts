import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench, type Measurement, ms, quantile } from './harness.ts';
import { hostileHive } from './hostile-hive.ts';
import { post, startTray, temporary } from './rig.ts';

export const benches = [
  bench(
    'POST /api/send beside a hive of 6 MB brackets each second, p95 above that beside a good one',
    '<= 20 ms',
    send,
  ),
];

const FOR_MS = 20_000;

async function send(): Promise<Measurement> {
  const home = temporary();
  const folder = join(home, 'hivebar', 'config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await using hive = await hostileHive();
  const settings = { primary: { is: 'local' }, pollSeconds: 1, hives: [{ name: 'team', base: hive.url }] };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  await using tray = await startTray(home);
  const agent = new Agent({ keepAlive: true });
  const sample = async (): Promise<readonly number[]> => {
    const took: number[] = [];
    for (const end = performance.now() + FOR_MS; performance.now() < end; await sleep(Math.random() * 20)) {
      const from = performance.now();
      took.push(
        (await post(tray.port, tray.token, '/api/send', { to: 'ada', from: 'bench', content: 'x' }, agent)) - from,
      );
    }
    return took;
  };
  await sleep(2000);
  const good = await sample();
  hive.isHostile = true;
  await sleep(2000);
  const before = hive.answers.hostile;
  const hostile = await sample();
  const asked = hive.answers.hostile - before;
  agent.destroy();
  if (asked < FOR_MS / 1000 / 2) throw new Error(`the hostile hive was asked only ${asked} times`);
  const [floor, own] = [quantile(good, 0.95), quantile(hostile, 0.95)];
  const most = Math.max(...hostile) - Math.max(...good);
  return {
    figure: `${ms(own - floor)} (at most ${ms(most)}; ${asked} hostile answers)`,
    floor: `${ms(floor)} beside a good one`,
    met: own - floor <= 20,
  };
}
