import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { StatusWire } from '../../app/status/index.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** Settings that change while the real tray process runs. */
const FAST = { primary: { is: 'local' }, pollSeconds: 1, alertAfter: 2, holdSeconds: 1 };
const BARE = ['--no-tray', '--no-notifications'];

const config = (home: TrayHome): string => home.at('config', 'config.json');

const isQuiet = ({ notifications }: StatusWire): boolean => notifications.quietUntil !== null;

async function set(home: TrayHome, key: string, value: unknown): Promise<string> {
  const { code, stdout, stderr } = await home.run(['config', 'set', key, JSON.stringify(value)]);
  assert.equal(code, 0, stderr);
  return stdout;
}

const countNew = (home: TrayHome, stem: string): number[] =>
  home.events(stem).flatMap(({ event, id }) => (event === 'new' ? [Number(id)] : []));

test('a hive that is added delivers mail at once, and one that is removed is gone; nothing is lost or told twice', async () => {
  using home = trayHome(FAST);
  await using team = await fakeHive({ personas: ['ada'] });
  team.deliver('ada');
  await using tray = await home.start(BARE);
  await home.run(['send', '--to', 'bo', '--from', 'me', 'first']);
  await until('the mail of bo', () => countNew(home, 'bo').length === 1);

  const added = await home.run(['hive', 'add', team.url, '--name', 'team']);
  assert.match(added.stdout, /^team is http\S+ its personas are team-NAME, from now on\n$/);
  await tray.persona('team-ada', ({ state }) => state === 'UP');
  const first = team.deliver('ada');
  await until('the mail of the new hive', () => countNew(home, 'team-ada').includes(first));
  await home.run(['send', '--to', 'bo', '--from', 'me', 'second']);
  await until('the next mail of bo', () => countNew(home, 'bo').length === 2);

  const removed = await home.run(['hive', 'remove', 'team']);
  assert.match(removed.stdout, /is not watched, from now on; its event files stay\n$/);
  const left = await tray.status();
  assert.deepEqual(
    left.personas.filter(({ id }) => id.startsWith('team-')),
    [],
  );
  assert.deepEqual(
    left.hives.filter(({ source }) => source === 'team'),
    [],
  );
  const asked = team.requests.length;
  const meanwhile = team.deliver('ada');
  await home.run(['send', '--to', 'bo', '--from', 'me', 'third']);
  await until('the third mail of bo', () => countNew(home, 'bo').length === 3);
  assert.equal(team.requests.length, asked, 'nobody asks it any more');

  await home.run(['hive', 'add', team.url, '--name', 'team']);
  await until('the mail of the time between', () => countNew(home, 'team-ada').includes(meanwhile));
  assert.deepEqual(countNew(home, 'bo'), [1, 2, 3]);
  assert.deepEqual(countNew(home, 'team-ada'), [first, meanwhile]);
  const ids = ['bo', 'team-ada'].flatMap((stem) => home.events(stem).map(({ event_id: id }) => id));
  assert.equal(new Set(ids).size, ids.length, 'no event has the id of another');
});

test('quiet hours begin at once and end at once, and polling follows its setting', async () => {
  using home = trayHome({ primary: { is: 'local' } });
  await using team = await fakeHive({ personas: ['ada'], pending: 'absent' });
  await using tray = await home.start(BARE);
  assert.equal(isQuiet(await tray.status()), false);
  assert.match(await set(home, 'quietHours', { from: '00:00', to: '23:59' }), /^quietHours is .*, from now on\n$/);
  assert.equal(isQuiet(await tray.status()), true);
  await home.run(['config', 'unset', 'quietHours']);
  assert.equal(isQuiet(await tray.status()), false);

  await set(home, 'hives', [{ name: 'team', base: team.url }]);
  await tray.persona('team-ada', ({ state }) => state === 'UP');
  await set(home, 'pollSeconds', 1);
  const id = team.deliver('ada');
  await until('mail long before the next minute', () => countNew(home, 'team-ada').includes(id), 30_000);
});

test('what needs a start says so, and what is back to its value of the start does not', async () => {
  using home = trayHome();
  await using tray = await home.start(BARE);
  assert.match(await set(home, 'historyDays', 5), /^historyDays is 5, from the next start on: hivebar restart\n$/);
  assert.match(await set(home, 'historyDays', 30), /, from now on\n$/);
  await tray.stop();
  assert.match(await set(home, 'sound', true), /^sound is true, from the next start of hivebar on\n$/);
});

test('a file that was edited by hand is applied; a mistake changes nothing and is a cause with its line', async () => {
  using home = trayHome();
  await using tray = await home.start(BARE);
  const save = (text: string): void => {
    writeFileSync(`${config(home)}.new`, text, { mode: 0o600 });
    renameSync(`${config(home)}.new`, config(home)); // as editors do
  };
  const good = readFileSync(config(home), 'utf8');
  const edited = { ...JSON.parse(good), quietHours: { from: '00:00', to: '23:59' } };
  save(JSON.stringify(edited));
  await tray.until('quiet hours', isQuiet);
  save('{\n  "quietHours": {"from": "soon", "to": "07:00"}\n}\n');
  const bad = await tray.until('the cause', (now) => now.causes.length > 0);
  assert.match(bad.causes[0]?.message ?? '', /config\.json:2:\d+: quietHours\.from/);
  assert.equal(isQuiet(bad), true, 'nothing has changed');
  const refused = await home.run(['config', 'set', 'sound', 'true']);
  assert.equal(refused.code, 1);
  writeFileSync(config(home), good); // in place, as other editors do
  await tray.until('no cause and no quiet hours', (now) => now.causes.length === 0 && !isQuiet(now));
});
