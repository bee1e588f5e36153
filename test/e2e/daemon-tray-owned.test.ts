import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDaemonsService } from '../../app/daemon/daemons-service.ts';
import { readStartKey } from '../../app/open/index.ts';
import type { DaemonConfig, DaemonName, DaemonStatus } from '../../core/link/index.ts';
import { realClock, realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { installHooks } from '../kit/hooks.ts';
import { type TrayDaemons, trayDaemons } from '../kit/tray-daemons.ts';
import type { TrayProcess } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

async function install(home: TrayDaemons, identity: string, ...more: readonly string[]): Promise<void> {
  const pair = ['--tenant', 'acme', '--identity', identity];
  installHooks(home.home, home.dir);
  const done = await home.run(['daemon', 'install', ...pair, '--project', home.home, '--by', 'tray', ...more]);
  assert.equal(done.code, 0, done.stderr);
}

/** Waits for its status. @throws after a minute, with what the tray said */
async function runs(
  home: TrayDaemons,
  tray: TrayProcess | null,
  identity: string,
  fits: (status: DaemonStatus) => boolean = () => true,
): Promise<DaemonStatus> {
  for (const end = performance.now() + 60_000; ; await sleep(20)) {
    const status = await home.askStatus(identity);
    if (status !== null && fits(status)) return status;
    if (performance.now() > end)
      throw new Error(`${identity} is not so: ${JSON.stringify({ ...status, metrics: '' })}\n${tray?.log.join('\n')}`);
  }
}

const logged = (tray: TrayProcess, words: RegExp): Promise<void> =>
  until(
    () => `${words}\n${tray.log.join('\n')}`,
    () => tray.log.some((line) => words.test(line)),
  );

/** One that has ended and was an orphan may never be asked how by anybody: it has no start any more. */
const isAlive = (pid: number): boolean => readStartKey(pid, process.platform) !== null;

function rewrite(home: TrayDaemons, identity: string, config: Partial<DaemonConfig>): void {
  const { config: path } = home.places(identity);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...config }), { mode: 0o600 });
}

describe('persona daemons that the tray owns', { concurrency: 3 }, () => {
  test('each is a child of its own; they are bound to the hive of the tray, and end with it', async () => {
    using home = trayDaemons();
    for (const identity of ['ada', 'bo']) await install(home, identity);
    await using tray = await home.start();
    const all = [];
    for (const identity of ['ada', 'bo']) all.push(await runs(home, tray, identity, ({ fsm }) => fsm === 'CONNECTED'));
    const pids = all.map(({ pid }) => pid);
    assert.equal(new Set(pids).size, 2);
    for (const pid of pids)
      assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), new RegExp(`^PPid:\\t${tray.pid}$`, 'm'));
    const { code } = await tray.stop();
    assert.equal(code, 0);
    assert.deepEqual(pids.map(isAlive), [false, false]);
    assert.deepEqual(
      ['ada', 'bo'].map((identity) => existsSync(home.places(identity).socket)),
      [false, false],
    );
  });

  test('one that crashes is started again, and only that one', async () => {
    using home = trayDaemons();
    for (const identity of ['ada', 'bo']) await install(home, identity);
    await using tray = await home.start();
    const [ada, bo] = [await runs(home, tray, 'ada'), await runs(home, tray, 'bo')];
    process.kill(ada.pid, 'SIGKILL');
    const again = await runs(home, tray, 'ada', ({ pid }) => pid !== ada.pid);
    assert.notEqual(again.pid, ada.pid);
    assert.ok(
      tray.log.some((line) => /acme-ada was killed by SIGKILL; it restarts in (0\.[89]|1\.[0-2]) s/.test(line)),
    );
    assert.equal((await runs(home, tray, 'bo')).pid, bo.pid);
  });

  test('one that was told to end is not started again, before it is installed anew', async () => {
    using home = trayDaemons();
    await install(home, 'ada');
    await using tray = await home.start();
    const first = await runs(home, tray, 'ada');
    assert.equal((await home.run(['daemon', 'shutdown', 'acme-ada'])).code, 0);
    await logged(tray, /acme-ada ended with 0: it is not restarted/);
    assert.equal(await home.askStatus('ada'), null);
    await install(home, 'ada');
    assert.notEqual((await runs(home, tray, 'ada')).pid, first.pid);
  });

  test('a wrong configuration is not tried again before it changes', async () => {
    using home = trayDaemons();
    await install(home, 'ada');
    const { observeToken } = home.places('ada');
    writeFileSync(observeToken, 'short\n', { mode: 0o600 });
    await using tray = await home.start();
    await logged(tray, /acme-ada ended with 78: it is not restarted/);
    writeFileSync(observeToken, `${'0'.repeat(64)}\n`, { mode: 0o600 });
    await runs(home, tray, 'ada');
  });

  test('what is installed, changed, wrapped and destroyed while the tray runs is seen', async () => {
    using home = trayDaemons();
    await using tray = await home.start();
    await install(home, 'ada');
    const first = await runs(home, tray, 'ada');
    await install(home, 'ada', '--surface', 'fallback');
    const second = await runs(home, tray, 'ada', ({ surface }) => surface === 'fallback');
    assert.notEqual(second.pid, first.pid);
    assert.equal((await home.run(['daemon', 'wrap', 'acme-ada'])).code, 0);
    assert.deepEqual([await home.askStatus('ada'), isAlive(second.pid)], [null, false]);
    await install(home, 'ada');
    const third = await runs(home, tray, 'ada');
    assert.equal((await home.run(['daemon', 'destroy', '--project', home.home])).code, 0);
    assert.deepEqual([isAlive(third.pid), existsSync(home.places('ada').dir)], [false, false]);
    await logged(tray, /acme-ada/);
  });

  test("what cannot be read is said once and not started, no more than what is paused or is the launcher's", async () => {
    using home = trayDaemons();
    for (const identity of ['ada', 'bo', 'cy', 'di']) await install(home, identity);
    rewrite(home, 'ada', { owner: 'launcher' });
    rewrite(home, 'di', { paused: true });
    rewrite(home, 'bo', { surface: '' });
    await using tray = await home.start();
    await runs(home, tray, 'cy');
    for (const identity of ['ada', 'bo', 'di']) assert.equal(await home.askStatus(identity), null);
    assert.ok(!tray.log.some((line) => /acme-(ada|bo|di) was started/.test(line)));
    assert.equal(tray.log.filter((line) => /acme-bo is not started: .*surface is ""/.test(line)).length, 1);
    rewrite(home, 'bo', { surface: 'fallback' });
    await runs(home, tray, 'bo');
  });

  test('one that outlived a killed tray is taken over as it is, and started again when it dies; never two', async () => {
    using home = trayDaemons();
    await install(home, 'ada');
    const first = await home.start();
    const { pid } = await runs(home, first, 'ada');
    await first.kill();
    assert.equal((await home.askStatus('ada'))?.pid, pid);
    await using tray = await home.start();
    await logged(tray, new RegExp(`acme-ada was running already and is supervised now \\(pid ${pid}\\)`));
    await runs(home, tray, 'ada', (status) => status.pid === pid && status.fsm === 'CONNECTED');
    process.kill(pid, 'SIGKILL');
    const again = await runs(home, tray, 'ada', (status) => status.pid !== pid);
    await tray.stop();
    assert.equal(isAlive(again.pid), false);
  });

  test('one that outlived a killed tray ends with the next one', async () => {
    using home = trayDaemons();
    await install(home, 'ada');
    const first = await home.start();
    const { pid } = await runs(home, first, 'ada');
    await first.kill();
    await using tray = await home.start();
    await logged(tray, /acme-ada was running already/);
    await tray.stop();
    assert.equal(isAlive(pid), false);
  });

  test('persona daemon check 13: a tray that quits asks, terminates and kills the one that hangs, having ended the other', {
    timeout: 120_000,
  }, async () => {
    using home = trayDaemons();
    for (const identity of ['ada', 'bo']) await install(home, identity);
    await using tray = await home.start();
    const [ada, bo] = [await runs(home, tray, 'ada'), await runs(home, tray, 'bo')];
    process.kill(ada.pid, 'SIGSTOP');
    const { code, ms } = await tray.stop();
    assert.equal(code, 0);
    assert.ok(ms >= 7000, `${ms}: 5 s and 2 s come before the kill`);
    assert.deepEqual([isAlive(ada.pid), isAlive(bo.pid)], [false, false]);
    assert.ok(tray.log.includes('the daemon acme-ada was ended: killed'));
    assert.ok(tray.log.includes('the daemon acme-bo was ended: asked'));
  });

  test('whoever keeps them and is over ends them, also without having been told to stop', async () => {
    using home = trayDaemons();
    await install(home, 'ada');
    const lines: string[] = [];
    const log = { ...silentLog, info: (line: string) => void lines.push(line) };
    const machine = {
      disk: createRealDisk(log),
      clock: realClock,
      random: realRandom,
      env: { ...process.env, ...home.env },
      stop: new AbortController().signal,
      log,
    };
    const options = { directory: home.at('daemons'), findPlaces: ({ identity }: DaemonName) => home.places(identity) };
    let pid = 0;
    const stop = new AbortController();
    const running = createDaemonsService(options, machine).run(stop.signal);
    pid = (await runs(home, null, 'ada')).pid;
    stop.abort();
    await running;
    assert.equal(isAlive(pid), false);
    assert.deepEqual(lines, [`the daemon acme-ada was started (pid ${pid})`, 'the daemon acme-ada was ended: asked']);
  });
});
