import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDesktop } from '../kit/desktop/index.ts';
import { type RecordedCall, startStandInDaemon } from '../kit/stand-in-notification-daemon.ts';
import { goals, quantile, type Sample } from './harness.ts';
import { measureFloor, openBus } from './notify.bench.ts';
import { fileText, measureCost, packed, startTray, temporary, until } from './rig.ts';

export const benches = [
  goals([{ name: 'a session file says waiting -> banner on the bus, p50', unit: 'ms', bar: 100 }], measureBanner),
  goals([{ name: 'team mail that lies 200 ms on disk, 1,000 of them', unit: 'missed', bar: 0 }], measureMissed),
  goals([{ name: '200 sessions idle, all sources on, more than without', unit: '%', bar: 0.5 }], measureIdle, {
    isSlow: true,
  }),
];

/** The start key of this process, whose sessions these are: what a session file has of a process that lives. */
function readStartKey(): string {
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

interface PlantedSession {
  readonly id: string;
  set(fields: object): void;
}

/** Session files as Claude Code writes them, all of a process that lives. */
function plantSessions(root: string, count: number): readonly PlantedSession[] {
  const folder = join(root, 'sessions');
  mkdirSync(folder, { recursive: true });
  const procStart = readStartKey();
  return Array.from({ length: count }, (_, n) => {
    const id = `${(n + 1).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const base = {
      ...{ pid: process.pid, sessionId: id, cwd: root, startedAt: 1, procStart, version: '2.1.332', peerProtocol: 1 },
      ...{ kind: 'interactive', entrypoint: 'cli', name: `bench-${n}`, nameSource: 'derived' },
    };
    const set = (fields: object): void => {
      const now = Date.now();
      const text = JSON.stringify({ ...base, updatedAt: now, statusUpdatedAt: now, ...fields });
      writeFileSync(join(folder, `${n + 1}.json`), text);
    };
    set({ status: 'idle' });
    return { id: id.slice(0, 8), set };
  });
}

function plantHome(settings: object): { readonly home: string; readonly root: string } {
  const home = temporary();
  const folder = join(home, 'hivebar', 'config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ primary: { is: 'local' }, ...settings }), {
    mode: 0o600,
  });
  return { home, root: join(home, '.claude') };
}

const findEventFile = (home: string, persona: string): string =>
  join(home, 'hivebar', 'events', `events.${persona}.ndjson`);

const BANNERS = 12;
/** Waits share a banner when more than a few begin within 10 s. */
const APART_MS = 4000;

async function measureBanner(): Promise<readonly Sample[]> {
  await using desktop = await startDesktop({ host: 'none', notify: 'none' });
  await using bus = await openBus(desktop);
  const notified: { readonly at: number; readonly title: string }[] = [];
  using _daemon = await startStandInDaemon(bus, ['actions', 'body', 'body-markup'], {
    push: ({ member, args }: RecordedCall) => {
      if (member === 'Notify') notified.push({ at: performance.now(), title: String(args[3]) });
    },
  });
  const floor = await measureFloor(desktop);
  const { home, root } = plantHome({});
  const sessions = plantSessions(root, BANNERS + 1);
  const dir = join(home, 'hivebar');
  const env = { ...desktop.env, HOME: home, HIVEBAR_HOME: dir };
  const entry = join(await packed(), 'hivebar.cjs');
  const child = spawn(process.execPath, [entry, 'run', '--port', '0', '--no-tray'], { env, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await until('port file', () => fileText(join(dir, 'run', 'port')));
    for (const { id } of sessions)
      await until(`armed of ${id}`, () => fileText(findEventFile(home, `claude-${id}`))?.includes('"armed"'));
    const took: number[] = [];
    for (const [i, session] of sessions.entries()) {
      const before = notified.length;
      const at = performance.now();
      session.set({ status: 'waiting', waitingFor: 'permission prompt' });
      const banner = await until(`the banner of ${session.id}`, () =>
        notified.slice(before).find(({ title }) => title.includes('permission prompt')),
      );
      if (i > 0) took.push(banner.at - at);
      session.set({ status: 'idle' });
      await sleep(APART_MS);
    }
    const most = Math.max(...took);
    return [
      {
        value: quantile(took, 0.5),
        note: `most ${most.toFixed(1)} ms`,
        floor: { value: floor, unit: 'ms', what: 'a call on the bus' },
      },
    ];
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

const MEMBERS = 10;
const ROUNDS = 100;
const LIES_MS = 200;

/** Ten inboxes, each with a message every 250 ms that is taken 200 ms later, by files of their own that are renamed. */
async function measureMissed(): Promise<readonly Sample[]> {
  const { home, root } = plantHome({});
  const [lead] = plantSessions(root, 1);
  const id = lead?.id ?? '';
  const team = join(root, 'teams', `session-${id}`);
  const names = Array.from({ length: MEMBERS }, (_, n) => `m${n}`);
  mkdirSync(join(team, 'inboxes'), { recursive: true });
  const members = ['team-lead', ...names].map((name) => ({ name, tmuxPaneId: 'in-process', cwd: root }));
  const leadSessionId = `${id}-0000-4000-8000-000000000000`;
  writeFileSync(join(team, 'config.json'), JSON.stringify({ name: `session-${id}`, leadSessionId, members }));
  const write = (name: string, entries: readonly object[]): void => {
    const path = join(team, 'inboxes', `${name}.json`);
    writeFileSync(`${path}.tmp.0`, JSON.stringify(entries));
    renameSync(`${path}.tmp.0`, path);
  };
  for (const name of names) write(name, []);
  await using _tray = await startTray(home);
  for (const name of names)
    await until(`armed of ${name}`, () => fileText(findEventFile(home, `claude-${id}-${name}`))?.includes('"armed"'));
  const sent: string[] = [];
  const send = async (name: string, index: number): Promise<void> => {
    await sleep((index * (LIES_MS + 50)) / MEMBERS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const text = `mail ${name} ${round}`;
      const message = {
        from: 'team-lead',
        text,
        timestamp: new Date().toISOString(),
        msg_id: `bench-${name}-${round}`,
      };
      write(name, [{ ...message, read: false }]);
      sent.push(text);
      await sleep(LIES_MS);
      write(name, []);
      await sleep(50);
    }
  };
  await Promise.all(names.map(send));
  const listNew = (name: string): readonly string[] =>
    (fileText(findEventFile(home, `claude-${id}-${name}`)) ?? '')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { readonly event?: unknown; readonly content?: unknown })
      .flatMap(({ event, content }) => (event === 'new' ? [String(content)] : []));
  let delivered: readonly string[] = [];
  for (let n = 0; n < 50 && delivered.length < sent.length; n += 1) {
    await sleep(100);
    delivered = names.flatMap(listNew);
  }
  const found = new Set(delivered);
  const missed = sent.filter((text) => !found.has(text)).length;
  return [{ value: missed, note: `${delivered.length - found.size} delivered twice` }];
}

const SESSIONS = 200;
const QUIET_MS = 75_000;
/** Two polls of all, and twelve sweeps. */
const IDLE_MS = 120_000;

/** A tray process with everything on and 200 sessions, beside one in which the sources of other programs are off. */
async function measureIdle(): Promise<readonly Sample[]> {
  const { home, root } = plantHome({});
  plantSessions(root, SESSIONS);
  await using busy = await startTray(home);
  const off = Object.fromEntries(
    ['agmsg', 'amail', 'claude', 'codex', 'garden', 'gas'].map((name) => [name, { is: 'off' }]),
  );
  await using bare = await startTray(plantHome(off).home);
  await sleep(QUIET_MS);
  const [own, least] = await Promise.all([measureCost(busy.pid, IDLE_MS), measureCost(bare.pid, IDLE_MS)]);
  return [
    {
      value: Math.max(0, own.percent - least.percent),
      note: `${own.percent.toFixed(2)} %, ${own.wakeUpsPerMinute.toFixed(0)} wake-ups per minute`,
      floor: { value: least.percent, unit: '%', what: 'without' },
    },
  ];
}
