import assert from 'node:assert/strict';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { skipUnless } from '../kit/desktop/index.ts';
import { doctor } from '../kit/doctor.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { describeSnapshot, hasPython, holdByPython, leaveState } from '../kit/old-monitor.ts';
import { startCli } from '../kit/process.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

const python = skipUnless(hasPython() ? null : 'python3 is missing: apt-get install python3');
const cache = (home: TrayHome): string => join(home.home, '.cache', 'kijito-inbox-monitor');
const HOUR_AGO = Date.now() / 1000 - 3600;

describe('hivebar doctor, where the Kijito inbox monitor was', () => {
  test('a lock that it holds, and one that it left', { skip: python }, async () => {
    using home = trayHome();
    const lock = `${leaveState(cache(home), 'ada', 'http://127.0.0.9:1', 3)}.lock`;
    const before = describeSnapshot(cache(home));
    {
      await using _held = await holdByPython(lock);
      const held = (await doctor(home)).findCheck('second producer');
      assert.equal(held.is, 'warn');
      assert.ok(held.seen.includes(lock), held.seen);
      assert.match(held.next ?? '', /hivebar migrate/);
    }
    assert.equal((await doctor(home)).findCheck('second producer').is, 'ok');
    assert.equal(describeSnapshot(cache(home)), before);
  });

  test('a position just saved of an inbox of our hives, not of others, and not an old one', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ primary: { is: 'kijito', base: hive.url } });
    const path = leaveState(cache(home), 'ada', hive.url, 3);
    const seen = (await doctor(home)).findCheck('second producer');
    assert.match(seen.seen, /another monitor saved its position of ada \d+ s ago/);
    utimesSync(path, HOUR_AGO, HOUR_AGO);
    leaveState(cache(home), 'bo', 'http://127.0.0.9:1', 3);
    assert.equal((await doctor(home)).findCheck('second producer').is, 'ok');
  });

  test('our own headless watch beside the tray program', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using home = trayHome({ primary: { is: 'kijito', base: hive.url } });
    const files = ['--state-file', home.at('headless', 'hive.json'), '--events-file', home.at('e.ndjson')];
    await using cli = startCli(['watch', '--hive', hive.url, ...files], { env: home.env });
    await cli.says(/watching 1 of 1/);
    assert.equal((await doctor(home)).findCheck('second producer').is, 'ok');
    await using _tray = await home.start();
    const both = (await doctor(home)).findCheck('second producer');
    assert.match(both.seen, /the headless watch runs beside Hivebar/);
  });

  test('the shared events.ndjson that nobody writes any more, and what to follow instead', async () => {
    using home = trayHome();
    const shared = join(cache(home), 'events.ndjson');
    mkdirSync(cache(home), { recursive: true });
    assert.equal((await doctor(home)).findCheck('shared events file').is, 'skipped');
    writeFileSync(shared, '{}\n');
    assert.equal((await doctor(home)).findCheck('shared events file').is, 'ok');
    utimesSync(shared, HOUR_AGO, HOUR_AGO);
    const { is, seen, next } = (await doctor(home)).findCheck('shared events file');
    assert.equal(is, 'warn');
    assert.match(seen, /no program has written to .*\.cache\/kijito-inbox-monitor\/events\.ndjson for 1 h/);
    assert.ok(next?.includes(`tail -F ${home.at('events', 'events.PERSONA.ndjson')}`), next ?? '');
  });
});
