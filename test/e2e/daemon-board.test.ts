import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../core/format/index.ts';
import { ERROR_CLASSES, writeDaemonConfig } from '../../core/link/index.ts';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, toStem } from '../../core/state/index.ts';
import { boardId, createConfig, exportAs, findPlaces, installIn, startDaemon } from '../kit/daemon-board.ts';
import { createExport } from '../kit/daemon-export.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream, type UpstreamPersona } from '../kit/upstream/index.ts';

/** The fastest the settings allow, so that an outage is one within seconds. */
const FAST = { primary: { is: 'local' }, pollSeconds: 1, alertAfter: 1 };

const listEvents = (home: TrayHome, identity: string): readonly string[] =>
  home.events(toStem(boardId(identity))).map(({ event }) => event);

/** Installed for that upstream, which knows it by the same tokens. */
function installAt(home: TrayHome, upstream: ReferenceUpstream, identity: string): UpstreamPersona {
  const [tokens] = installIn(home, createConfig(identity, { upstream: upstream.url }));
  assert.ok(tokens !== undefined);
  return upstream.persona('lab', identity, tokens);
}

/** Since when nothing was fetched for ada, in milliseconds: not less before it was asked than `from`, not more after it than `to`. */
async function drainedFor(tray: TrayProcess): Promise<{ readonly from: number; readonly to: number }> {
  const asked = Date.now();
  const { daemon } = await tray.persona(boardId('ada'));
  assert.ok(daemon !== null);
  const drainedAt = Date.parse(daemon.drainedAt);
  return { from: asked - drainedAt, to: Date.now() - drainedAt };
}

/** Every way in which a duration between the two is printed. */
function durationsBetween(least: number, most: number): readonly string[] {
  const steps = Array.from({ length: Math.ceil((most - least) / 1000) }, (_, i) => least + i * 1000);
  return [...new Set([...steps, most].map(formatDuration))];
}

/** Every series of the daemons, `name{labels}`, by a parser of its own. */
async function fetchSeries(tray: TrayProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${tray.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('daemon_'));
  const series = lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]);
  const all = new Map(series as [string, number][]);
  assert.equal(all.size, lines.length, 'none is there twice');
  return all;
}

const parseLabels = (series: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));

describe('persona daemons on the board', { concurrency: 3 }, () => {
  test('each is a persona: up with what waits for it, which its surface fetches; nothing is told as mail', async () => {
    using home = trayHome(FAST);
    installIn(home, createConfig('ada'), createConfig('bo'));
    await using tray = await home.start();
    await using _ada = await startDaemon(home, 'ada');
    await using _bo = await startDaemon(home, 'bo');
    const isQuiet = ({ state, unread, agent }: { state: string; unread: number | null; agent: string }): boolean =>
      state === 'UP' && unread === 0 && agent !== 'stalled';
    const ada = await tray.persona(boardId('ada'), isQuiet);
    await tray.persona(boardId('bo'), isQuiet);
    assert.deepEqual([ada.source, ada.label, ada.urgent], ['daemon', 'ada · lab', 0], 'of nothing, nothing is urgent');
    assert.deepEqual(
      [ada.daemon?.fsm, ada.daemon?.surface, ada.daemon?.project.split('/').at(-1)],
      ['CONNECTED', 'claude-code', 'lab'],
    );
    assert.equal((await home.run(['send', '--to', 'ada', '--from', 'me', 'hello'])).code, 0);
    const { urgent } = await tray.persona(boardId('ada'), ({ unread }) => unread === 1);
    assert.equal(urgent, null, 'a daemon is told no priority');
    assert.equal((await tray.persona(boardId('bo'))).unread, 0);
    await tray.persona('ada', ({ unread }) => unread === 1);
    const { totals } = await tray.status();
    assert.deepEqual([totals.unread, totals.personas, totals.up], [1, 4, 4], 'one message is counted once');
    assert.equal((await home.run(['inbox', 'read', 'ada'])).code, 0);
    await tray.persona(boardId('ada'), ({ unread }) => unread === 0);
    assert.ok(!listEvents(home, 'ada').includes('new'), 'mail is told by the hive that it lies in');
  });

  test('one that is installed while the tray process runs comes by itself, and goes when it is uninstalled', async () => {
    using home = trayHome(FAST);
    await using tray = await home.start();
    assert.deepEqual((await tray.status()).personas, []);
    installIn(home, createConfig('ada'));
    await tray.persona(boardId('ada'), ({ state }) => state === 'DOWN');
    rmSync(findPlaces(home, 'ada').dir, { recursive: true });
    await tray.until('nobody', ({ personas }) => personas.length === 0);
  });

  test('killed: one alert, DOWN with the socket and the next step; started again: one recovered', async () => {
    using home = trayHome(FAST);
    installIn(home, createConfig('ada'), createConfig('bo'));
    await using tray = await home.start();
    await using _bo = await startDaemon(home, 'bo');
    let before = 0;
    {
      await using ada = await startDaemon(home, 'ada');
      await tray.persona(boardId('ada'), ({ state, unread }) => state === 'UP' && unread === 0);
      await until('its first events', () => listEvents(home, 'ada').includes('armed'));
      before = listEvents(home, 'ada').filter((event) => event === 'alert').length;
      await ada.kill();
    }
    const down = await tray.persona(boardId('ada'), ({ state }) => state === 'DOWN');
    assert.ok(down.reason?.includes(findPlaces(home, 'ada').socket), down.reason ?? '');
    assert.match(down.reason ?? '', /is not running: .*hivebar daemon/);
    assert.deepEqual([down.daemon, (await tray.persona(boardId('bo'))).state], [null, 'UP']);
    const { causes } = await tray.status();
    assert.deepEqual(
      causes.map(({ scope, personas }) => [scope, personas]),
      [['persona', [boardId('ada')]]],
    );
    const count = (name: string): number => listEvents(home, 'ada').filter((event) => event === name).length;
    await until('the alert', () => count('alert') === before + 1);
    const recovered = count('recovered');
    await using _again = await startDaemon(home, 'ada');
    await tray.persona(boardId('ada'), ({ state, unread }) => state === 'UP' && unread === 0);
    await until('the recovery', () => count('recovered') === recovered + 1);
    assert.equal(count('alert'), before + 1);
    assert.equal(count('new'), 0);
  });

  test('one that is paused and does not run is no outage', async () => {
    using home = trayHome(FAST);
    installIn(home, createConfig('ada', { paused: true }));
    await using tray = await home.start();
    const { agent, agentReason } = await tray.persona(boardId('ada'), ({ state }) => state === 'UP');
    assert.deepEqual([agent, agentReason, (await tray.status()).causes], ['gone', 'paused', []]);
    const config = createConfig('ada');
    writeDaemonConfig(createRealDisk(silentLog), realRandom, findPlaces(home, 'ada'), config);
    await tray.persona(boardId('ada'), ({ state }) => state === 'DOWN');
  });

  test('it lives and nothing is fetched: stalled, a state of its own on page, command line and JSON; fetched, it is over', async () => {
    await using upstream = await referenceUpstream({ pingMs: 100, heartbeatMs: 6000 });
    using home = trayHome(FAST);
    const ada = installAt(home, upstream, 'ada');
    await using daemon = await startDaemon(home, 'ada', 60);
    await daemon.connected();
    ada.signals(3);
    for (let age = 0; age < 600; ) {
      await sleep(100);
      age = (await daemon.status())?.drain_age_s ?? 0;
    }
    await using tray = await home.start();
    const stalled = await tray.persona(boardId('ada'), ({ agent }) => agent === 'stalled');
    assert.deepEqual(
      [stalled.state, stalled.agentReason, stalled.unread, stalled.daemon?.fsm, stalled.reason],
      ['UP', 'drain-stalled', 3, 'CONNECTED', null],
    );
    const { drainedAt = '' } = stalled.daemon ?? {};
    assert.ok(Date.parse(stalled.asOf ?? '') - Date.parse(drainedAt) >= 600_000, drainedAt);
    assert.match(
      (await home.run(['status'])).stdout,
      /^STALLED +3 .*ada · lab \(daemon-lab-ada\): nobody takes its mail \(drain-stalled\)$/m,
    );
    // The daemon's clock runs 60 times as fast, so the moment moves back from look to look: it is between these two.
    const earlier = await drainedFor(tray);
    const page = await (await fetch(`${tray.url}/`)).text();
    const later = await drainedFor(tray);
    assert.match(page, /data-id="daemon-lab-ada"[^>]* data-look="stalled"/);
    for (const words of [
      'Nobody takes its mail',
      'Drain stalled',
      'CONNECTED, ',
      'Nobody takes the mail of 1 of 1 inbox',
    ])
      assert.ok(page.replaceAll('\u00a0', ' ').includes(words), words);
    const may = durationsBetween(earlier.from, later.to);
    const output = /Nothing fetched for (\d+ [a-z]+)/.exec(page)?.[1];
    assert.ok(output !== undefined && may.includes(output), `${output} is none of ${may.join(', ')}`);
    assert.deepEqual((await tray.status()).causes, [], 'a daemon that lives is no outage');
    ada.drain();
    await tray.persona(boardId('ada'), ({ agent, unread }) => agent === 'live' && unread === 0);
    assert.match((await home.run(['status'])).stdout, /^UP +0 /m);
  });

  test('an upstream that is away is no outage of the daemon: up, its number unknown, and why', async () => {
    await using upstream = await referenceUpstream();
    using home = trayHome(FAST);
    const ada = installAt(home, upstream, 'ada');
    ada.signals(2);
    await using _ = await startDaemon(home, 'ada');
    await using tray = await home.start();
    await tray.persona(boardId('ada'), ({ unread }) => unread === 2);
    await upstream.refuse();
    const away = await tray.persona(boardId('ada'), ({ unreadIs }) => unreadIs === 'unknown');
    assert.deepEqual([away.state, away.unread, away.agentReason], ['UP', null, 'upstream-unreachable']);
    assert.equal(away.daemon?.fsm, 'DISCONNECTED');
    await tray.persona(boardId('ada'), ({ daemon }) => daemon?.lastErrorClass === 'ws_connect_failed');
    await upstream.heal();
    await tray.persona(boardId('ada'), ({ unread, agent }) => unread === 2 && agent !== 'unknown');
  });

  test('hivebar doctor counts them, and names the one that does not answer', async () => {
    using home = trayHome(FAST);
    const line = async (): Promise<string> => /^.*daemons.*$/m.exec((await home.run(['doctor'])).stdout)?.[0] ?? '';
    assert.match(await line(), /no daemon is installed/);
    installIn(home, createConfig('ada'), createConfig('bo'));
    await using _ = await startDaemon(home, 'ada').then(async (daemon) => {
      for (let isThere = false; !isThere; await sleep(20)) isThere = (await daemon.status()) !== null;
      return daemon;
    });
    assert.match(await line(), /2 installed, 1 runs; the daemon lab-bo at .*is not running/);
    writeFileSync(findPlaces(home, 'bo').config, '{}', { mode: 0o600 });
    assert.match(await line(), /2 installed, 1 runs; .*lab-bo.daemon\.json/);
  });
});

describe('the metrics of all daemons', () => {
  test('persona daemon check 10: six names with the four labels each, of real daemons and in one exposition', async () => {
    using home = trayHome(FAST);
    installIn(home, createConfig('ada'), createConfig('bo'));
    await using tray = await home.start();
    await using _ada = await startDaemon(home, 'ada');
    await using bo = await startDaemon(home, 'bo');
    let series: ReadonlyMap<string, number> = new Map();
    for (let ups = 0; ups < 2; await sleep(50)) {
      series = await fetchSeries(tray);
      ups = [...series].filter(([name, value]) => name.startsWith('daemon_up{') && value === 1).length;
    }
    assert.equal(series.size, 48);
    const names = [...series.keys()].map((name) => name.slice(0, name.indexOf('{')));
    assert.deepEqual([...new Set(names)].sort(), [
      ...['daemon_drain_age_seconds', 'daemon_errors_total', 'daemon_heartbeat_age_seconds'],
      ...['daemon_last_error_timestamp_seconds', 'daemon_signal_queue_depth', 'daemon_up'],
    ]);
    const four = ['agent_identity', 'agent_surface', 'machine_id', 'tenant_id'];
    for (const name of series.keys()) {
      const { error_class, ...labels } = parseLabels(name);
      assert.deepEqual(Object.keys(labels).sort(), four, name);
      assert.ok(
        Object.values(labels).every((value) => value !== ''),
        name,
      );
      assert.equal(error_class !== undefined, /^daemon_(errors|last_error)/.test(name), name);
    }
    const machines = new Set([...series.keys()].map((name) => parseLabels(name).machine_id));
    assert.equal(machines.size, 1);
    await bo.kill();
    const gone = [...(await fetchSeries(tray))].filter(([name]) => parseLabels(name).agent_identity === 'bo');
    assert.deepEqual(
      gone.map(([name, value]) => [name.slice(0, name.indexOf('{')), value, parseLabels(name).machine_id]),
      [['daemon_up', 0, [...machines][0]]],
      'at once, under the labels it had',
    );
  });

  test('persona daemon check 11: 50 personas are exactly 1,200 series, and session_id is on none', async () => {
    using home = trayHome(FAST);
    const generated = Array.from({ length: 48 }, (_, i) => `p${i}`);
    installIn(home, ...['ada', 'bo', ...generated].map((identity) => createConfig(identity)));
    for (const identity of generated) exportAs(home, identity);
    await using tray = await home.start();
    await using _ada = await startDaemon(home, 'ada');
    await using _bo = await startDaemon(home, 'bo');
    const fresh = setInterval(() => generated.forEach((identity) => void exportAs(home, identity)), 10_000);
    try {
      let series: ReadonlyMap<string, number> = new Map();
      for (const end = performance.now() + 60_000; series.size !== 1200 && performance.now() < end; await sleep(50)) {
        series = await fetchSeries(tray);
      }
      assert.equal(series.size, 1200);
      const count = (name: string): number => [...series.keys()].filter((key) => key.startsWith(`${name}{`)).length;
      assert.deepEqual(
        [count('daemon_errors_total'), count('daemon_last_error_timestamp_seconds'), count('daemon_up')],
        [500, 500, 50],
      );
      const classes = new Set([...series.keys()].flatMap((name) => parseLabels(name).error_class ?? []));
      assert.deepEqual([...classes].sort(), [...ERROR_CLASSES].sort());
      clearInterval(fresh); // or it would be right again before it is read
      exportAs(home, 'p0', createExport('lab', 'p0').replaceAll('machine_id=', 'session_id="s1",machine_id='));
      const text = await (await fetch(`${tray.url}/metrics`)).text();
      assert.ok(!text.includes('session_id') && !text.includes('"s1"'));
      const p0 = [...(await fetchSeries(tray))].filter(([name]) => parseLabels(name).agent_identity === 'p0');
      assert.deepEqual(
        p0.map(([, value]) => value),
        [0],
        'what is not understood is not up',
      );
      await until('the log', () =>
        tray.log.some((line) => /the metrics of lab-p0 are left out: .*session_id/.test(line)),
      );
    } finally {
      clearInterval(fresh);
    }
  });
});
