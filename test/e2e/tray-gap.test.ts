import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import type { EventLine } from '../kit/process.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** A hive that sends windows, and for a time says nonsense about what it left out, at the real process (D2, traps 14 to 27). */
const NO_SURFACES = ['--no-tray', '--no-notifications'];

const createHome = (hive: FakeHive): TrayHome =>
  trayHome({ primary: { is: 'kijito', base: hive.url }, pollSeconds: 3600, holdSeconds: 60 });

/** Every answer withholds rows, and says that there are none older. */
const contradict = (hive: FakeHive): void =>
  hive.fail({
    is: 'edit',
    edit: (answer) => ('result' in answer && answer.truncated === true ? { ...answer, next_before_id: null } : answer),
  });

const words = (events: readonly EventLine[]): string[] =>
  events.map((event) =>
    event.event === 'new' ? `new ${event.id}` : event.event === 'alert' ? `alert ${event.reason}` : event.event,
  );

describe('a gap in what a hive sends', { concurrency: true }, () => {
  test('D2: what is missing is asked for again by itself, told once it is there, and nothing is told twice', async () => {
    await using hive = await fakeHive({ personas: ['ada'], window: 2 });
    using home = createHome(hive);
    await using tray = await home.start(NO_SURFACES);
    await until('armed', () => words(home.events('ada')).includes('armed'));
    contradict(hive);
    const ids = Array.from({ length: 5 }, () => hive.deliver('ada'));
    await until('the newest are told', () => home.mail('ada').includes(ids[4] ?? 0));
    await until('the gap is told', () => words(home.events('ada')).includes('alert gap'));
    const gap = home.events('ada').find((event) => event.reason === 'gap');
    assert.deepEqual([gap?.cursor_at, gap?.pinned, gap?.wake_class], [0, true, 'diagnostic']);
    const asked = hive.asked('inbox').length;
    await until('it is asked again although nothing came', () => hive.asked('inbox').length > asked);
    assert.equal(words(home.events('ada')).filter((word) => word === 'alert gap').length, 1);
    const { state } = await tray.persona('ada');
    assert.equal(state, 'UP', 'a gap is no outage');
    await hive.heal();
    await until('all are told', () => home.mail('ada').length === 5, 60_000);
    assert.deepEqual(
      home
        .mail('ada')
        .map(Number)
        .sort((a, b) => a - b),
      ids,
    );
  });

  test('trap 25: killed in a gap and started again, it tells what was missing and nothing again', async () => {
    await using hive = await fakeHive({ personas: ['ada'], window: 2 });
    using home = createHome(hive);
    let last = 0;
    {
      await using tray = await home.start(NO_SURFACES);
      await until('armed', () => words(home.events('ada')).includes('armed'));
      contradict(hive);
      for (let n = 0; n < 6; n += 1) last = hive.deliver('ada');
      await until('the newest is told', () => home.mail('ada').includes(last));
      await until('the gap is told', () => words(home.events('ada')).includes('alert gap'));
      await tray.kill();
    }
    await using _again = await home.start(NO_SURFACES);
    await until('armed again', () => words(home.events('ada')).filter((word) => word === 'armed').length === 2);
    assert.equal(words(home.events('ada')).filter((word) => word === 'alert gap').length, 1, 'one gap, one alert');
    await hive.heal();
    await until('all are told', () => home.mail('ada').length >= 6, 60_000);
    assert.deepEqual(
      home
        .mail('ada')
        .map(Number)
        .sort((a, b) => a - b),
      [1, 2, 3, 4, 5, 6],
    );
    assert.ok(!words(home.events('ada')).includes('replay_capped'));
  });
});
