import { spawn } from 'node:child_process';
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSessionBus, type SessionBus } from '../../app/desktop/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { type Desktop, startDesktop } from '../kit/desktop/index.ts';
import { type RecordedCall, startStandInDaemon } from '../kit/stand-in-notification-daemon.ts';
import { bench, type Measurement, ms, quantile } from './harness.ts';
import { fileText, kijitoHome, packed, post, until } from './rig.ts';

const SAMPLES = 20;
/** New banners share one when there are more than five in 10 s; so long between two of them, each is its own. */
const APART_MS = 2100;
const BAR_MS = 20;
const CAPABILITIES = ['actions', 'body', 'body-markup'];

export const benches = [
  bench('event written -> notification on the bus, p50', `<= ${BAR_MS} ms`, async () => {
    await using desktop = await startDesktop({ host: 'none', notify: 'none' });
    await using bus = await openBus(desktop);
    const notified = new Map<string, number>();
    using _daemon = await startStandInDaemon(bus, CAPABILITIES, {
      push: ({ member, args }: RecordedCall) => {
        if (member === 'Notify') notified.set(String(args[3]).split(':')[0] ?? '', performance.now());
      },
    });
    const floor = await measureFloor(desktop);
    return await measured(desktop, notified, floor);
  }),
];

async function measured(desktop: Desktop, notified: ReadonlyMap<string, number>, floor: number): Promise<Measurement> {
  const home = kijitoHome('http://127.0.0.1:1', { primary: { is: 'local' } });
  const dir = join(home, 'hivebar');
  const events = join(dir, 'events');
  mkdirSync(events, { mode: 0o700 });
  const env = { ...desktop.env, HOME: home, HIVEBAR_HOME: dir };
  const entry = join(await packed(), 'hivebar.cjs');
  const child = spawn(process.execPath, [entry, 'run', '--port', '0', '--no-tray'], { env, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const written = new Map<string, number>();
  const watcher = watch(events, (_, name) => {
    const persona = /^events\.(.+)\.ndjson$/.exec(name ?? '')?.[1];
    if (persona !== undefined && !written.has(persona)) written.set(persona, performance.now());
  });
  try {
    const port = Number(await until('port file', () => fileText(join(dir, 'run', 'port'))));
    const token = (fileText(join(dir, 'run', 'token')) ?? '').trim();
    const took: number[] = [];
    for (let i = -1; i < SAMPLES; i += 1) {
      const persona = `p${i + 1}`;
      await post(port, token, '/api/send', { to: persona, from: 'bench', content: `mail ${i}` });
      const at = await until(`the banner of ${persona}`, () => notified.get(persona));
      // Created empty and then written: the first word of the file is a moment early, which counts against us.
      if (i >= 0) took.push(at - (written.get(persona) ?? at));
      await sleep(APART_MS);
    }
    const [p50, most] = [quantile(took, 0.5), Math.max(...took)];
    return { figure: `${ms(p50)} (most ${ms(most)})`, floor: `${ms(floor)} a call on the bus`, met: p50 <= BAR_MS };
  } finally {
    watcher.close();
    child.kill('SIGTERM');
    await ended;
  }
}

/** A Notify call of our own to the same stand-in, there and back. */
export async function measureFloor(desktop: Desktop): Promise<number> {
  await using bus = await openBus(desktop);
  const took: number[] = [];
  for (let i = 0; i < 50; i += 1) {
    const from = performance.now();
    await bus.call({
      dest: 'org.freedesktop.Notifications',
      path: '/org/freedesktop/Notifications',
      iface: 'org.freedesktop.Notifications',
      member: 'Notify',
      signature: 'susssasa{sv}i',
      body: ['bench', 0, '', 'floor', '', [], {}, -1],
    });
    took.push(performance.now() - from);
  }
  return quantile(took, 0.5);
}

export async function openBus(desktop: Desktop): Promise<SessionBus> {
  const bus = await openSessionBus({ env: desktop.env, log: silentLog, clock: realClock });
  if (bus.is === 'none') throw new Error(bus.why);
  await until('the session bus', () => bus.state.is === 'connected');
  return bus;
}
