import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DaemonConfig } from '../../core/link/index.ts';
import { realClock, type Spawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { openPersonNotifier } from './person-notifier.ts';

interface Rig {
  readonly machine: Machine;
  /** What `notify-send` was given. */
  readonly shown: string[][];
  readonly file: string;
  /** Whether `notify-send` works. */
  works: boolean;
}

/** A Linux machine with a `notify-send` of the test's own, and these settings. */
function createRig(t: TestContext, settings: string, hasProgram = true): Rig {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hivebar-person-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  fs.mkdirSync(join(folder, 'config'));
  const file = join(folder, 'notifications.ndjson');
  fs.writeFileSync(join(folder, 'config', 'config.json'), settings.replace('FILE', JSON.stringify(file)));
  if (hasProgram) fs.writeFileSync(join(folder, 'notify-send'), '', { mode: 0o700 });
  const shown: string[][] = [];
  const spawn: Spawn = {
    run: async ({ args }) => {
      shown.push([...args]);
      return { is: 'exited', code: rig.works ? 0 : 1, stderr: '' };
    },
  };
  const env = { HIVEBAR_HOME: folder, PATH: `${folder}${delimiter}${join(folder, 'none')}` };
  const machine = { ...{ env, spawn, os: 'linux', clock: realClock }, disk: createRealDisk(silentLog), log: silentLog };
  const rig: Rig = { machine: machine as unknown as Machine, shown, file, works: true };
  return rig;
}

const CONFIG = { tenant: 'acme', identity: 'ada' } as DaemonConfig;
const WITH_FILE = '{"channels": {"file": {"path": FILE}}}';

test('a daemon notifies on the desktop, with the same words as ever, and on the channels of the settings', async (t) => {
  const rig = createRig(t, WITH_FILE);
  await using person = openPersonNotifier(CONFIG, rig.machine);
  assert.equal(person.isAvailable, true);
  await person.notify();
  assert.deepEqual(rig.shown, [['--app-name=Hivebar', '--', 'Hivebar', 'Work waits for acme/ada']]);
  const { notification } = JSON.parse(fs.readFileSync(rig.file, 'utf8'));
  assert.deepEqual(
    [notification.key, notification.title, notification.body],
    ['wake', 'Hivebar', 'Work waits for acme/ada'],
  );
});

test('what one channel accepted is a ring, and what none accepted is none', async (t) => {
  const both = createRig(t, WITH_FILE);
  both.works = false;
  await using person = openPersonNotifier(CONFIG, both.machine);
  await person.notify();
  assert.equal(fs.readFileSync(both.file, 'utf8').split('\n').length, 2);
  fs.rmSync(both.file);
  fs.mkdirSync(both.file);
  await assert.rejects(person.notify(), /no channel accepted the notification/);
});

test('without notify-send a channel of the settings is enough; with neither, nobody can be notified', async (t) => {
  await using person = openPersonNotifier(CONFIG, createRig(t, WITH_FILE, false).machine);
  assert.equal(person.isAvailable, true);
  await person.notify();
  await using nobody = openPersonNotifier(CONFIG, createRig(t, '{}', false).machine);
  assert.equal(nobody.isAvailable, false);
});

test('settings that cannot be read leave the desktop', async (t) => {
  const rig = createRig(t, '{"channels": ');
  await using person = openPersonNotifier(CONFIG, rig.machine);
  await person.notify();
  assert.equal(rig.shown.length, 1);
});
