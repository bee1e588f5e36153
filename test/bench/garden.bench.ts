import { closeSync, fstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { computeGardenPlaces, createGardenSource } from '../../core/sources/garden/index.ts';
import { createRealDisk, toStem } from '../../core/state/index.ts';
import { bench, goals, ms, quantile, type Sample } from './harness.ts';
import { fileText, measureCost, readMemory, spin, startBareNode, startTray, temporary, until } from './rig.ts';

export const benches = [
  bench('garden: message file appears -> event line, p50 / p99, 500 citizens', '<= 20 ms', fileToLine),
  bench('garden: 10,000 records listed, cold / again with no change', '<= 1500 / 50 ms', listing),
  bench('garden: idle CPU, 500 citizens', '<= 0.3 % of a core', idle),
  goals(
    [
      { name: '5,000 garden citizens, resident at rest', unit: 'MiB', bar: 150 },
      { name: '5,000 garden citizens, idle CPU', unit: '%', bar: 0.5 },
    ],
    measureThousands,
    { isSlow: true, atOnce: true },
  ),
];

/** Ids of citizens without a box, whose records were written as another program writes them. */
function plant(store: string, count: number): readonly string[] {
  const sessions = join(store, 'meta-sessions');
  mkdirSync(sessions, { recursive: true });
  return Array.from({ length: count }, (_, i) => {
    const gardenId = `20260614T100037-${i.toString(16).padStart(6, '0')}`;
    const at = '2026-06-14T01:00:37.000Z';
    const record = {
      ...{ schemaVersion: 2, gardenId, backend: 'claude-code', nativeSessionId: `session-${i}`, cwd: `/w/${i}` },
      ...{
        model: null,
        transcriptPath: null,
        parentGardenId: null,
        isEntwurf: false,
        createdAt: at,
        recordUpdatedAt: at,
      },
    };
    writeFileSync(join(sessions, `${gardenId}.meta.json`), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
    return gardenId;
  });
}

/** A home whose tray process watches so many citizens, each with a box; all of them armed. */
async function watched(count: number) {
  const home = temporary();
  const store = join(home, 'agent');
  const citizens = plant(store, count);
  for (const id of citizens) {
    mkdirSync(join(store, 'meta-mailbox', id), { recursive: true });
    writeFileSync(join(store, 'meta-mailbox', id, 'inbox.signal'), '');
  }
  const folder = join(home, 'hivebar', 'config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const settings = { primary: { is: 'local' }, garden: { is: 'auto', store } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  await sleep(1000); // what was written just now is not taken for granted
  const tray = await startTray(home);
  const findEventFile = (id: string): string =>
    join(home, 'hivebar', 'events', `events.${toStem(`garden-${id}`)}.ndjson`);
  for (const id of citizens)
    await until(`armed of ${id}`, () => fileText(findEventFile(id))?.includes('"armed"'), 60_000);
  return { tray, store, citizens, findEventFile };
}

async function fileToLine() {
  const { tray, store, citizens, findEventFile } = await watched(500);
  await using _tray = tray;
  const took: number[] = [];
  for (let i = 0; i < 250; i += 1) {
    const id = citizens[(i * 7) % citizens.length] ?? '';
    const box = join(store, 'meta-mailbox', id);
    const fd = openSync(findEventFile(id), 'r');
    const before = fstatSync(fd).size;
    const at = new Date().toISOString();
    const stem = `${at.replaceAll(/[:.]/g, '-')}-${i.toString(16).padStart(6, '0')}`;
    writeFileSync(join(box, `${stem}.msg`), `message ${i}\n`);
    const appeared = performance.now();
    writeFileSync(join(box, 'inbox.signal'), `${at}\n`);
    await spin(() => fstatSync(fd).size > before);
    if (i >= 50) took.push(performance.now() - appeared);
    closeSync(fd);
    await sleep(Math.random() * 5);
  }
  const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
  return { figure: `${ms(p50)} / ${ms(p99)}`, floor: 'none', met: p50 <= 20 };
}

async function listing() {
  const store = join(temporary(), 'agent');
  plant(store, 10_000);
  await sleep(1000); // what was written just now is not taken for granted
  const places = computeGardenPlaces({ store, env: {}, home: store, cwd: store });
  await using source = createGardenSource({
    ...{
      places,
      disk: createRealDisk(silentLog),
      clock: realClock,
      log: silentLog,
      contentChars: 220,
      backfill: false,
    },
    probes: { readProcesses: async () => new Map(), probeListener: async () => 'absent' },
  });
  const never = new AbortController().signal;
  const timed = async (): Promise<number> => {
    const from = performance.now();
    const { length } = await source.personas(never);
    if (length !== 10_000) throw new Error(`${length} citizens`);
    return performance.now() - from;
  };
  const cold = await timed();
  const again = [await timed(), await timed(), await timed()];
  const warm = quantile(again, 0.5);
  return { figure: `${ms(cold)} / ${ms(warm)}`, floor: 'none', met: cold <= 1500 && warm <= 50 };
}

/** What a start leaves to be done is done, and the first poll, which compiles what a poll is made of. */
const QUIET_MS = 75_000;
/** A minute, so that one poll of all boxes is in it. */
const IDLE_MS = 60_000;

async function idle() {
  const { tray } = await watched(500);
  await using _tray = tray;
  await sleep(QUIET_MS);
  const { percent } = await measureCost(tray.pid, IDLE_MS);
  return { figure: `${percent.toFixed(2)} %`, floor: 'none', met: percent <= 0.3 };
}

/** The event files of all are on the disk after this time, two every 20 ms. */
const CROWD_QUIET_MS = 150_000;
/** Three polls of all boxes are in it. */
const CROWD_IDLE_MS = 180_000;

async function measureThousands(): Promise<readonly Sample[]> {
  const { tray } = await watched(5000);
  await using _tray = tray;
  using bare = await startBareNode("require('fastify'); require('node:sqlite')");
  await sleep(CROWD_QUIET_MS);
  const [own, least] = await Promise.all([measureCost(tray.pid, CROWD_IDLE_MS), measureCost(bare.pid, CROWD_IDLE_MS)]);
  const { rss, own: unshared } = readMemory(tray.pid);
  return [
    {
      value: rss,
      note: `private ${unshared.toFixed(0)} MiB`,
      floor: { value: readMemory(bare.pid).rss, unit: 'MiB', what: 'a Node with fastify and SQLite' },
    },
    {
      value: own.percent,
      note: `${own.wakeUpsPerMinute.toFixed(0)} wake-ups per minute`,
      floor: { value: least.percent, unit: '%', what: 'a Node that waits' },
    },
  ];
}
