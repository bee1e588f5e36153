import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** Polls as fast as the settings allow, each with a look at every inbox. */
const FAST = { pollSeconds: 1, holdSeconds: 0, resyncEvery: 1 };

function homeOn(hive: FakeHive, more: object = {}): TrayHome {
  return trayHome({ primary: { is: 'kijito', base: hive.url }, ...FAST, ...more });
}

/** The directory says this of its members from now on; who is not named owns memories. */
function says(hive: FakeHive, changes: Record<string, object>): void {
  const edit = ({ result }: Record<string, unknown>) => ({
    result: (result as { persona: string }[]).map((entry) => ({
      ...entry,
      memory_count: 9,
      ...changes[entry.persona],
    })),
  });
  hive.fail({ is: 'edit', edit }, { endpoint: 'personas' });
}

const alerts = (home: TrayHome, stem: string) =>
  home.events(stem).flatMap((event) => (event.event === 'alert' ? [event] : []));
const all = (tray: TrayProcess, n: number) =>
  tray.until(`${n} of kijito UP`, ({ personas }) => {
    const far = personas.filter(({ source }) => source === 'kijito');
    return far.length === n && far.every(({ state }) => state === 'UP');
  });
/** Time for polls that must bring nothing. */
const polls = (n: number): Promise<void> => sleep(n * 1000);

describe('alarms of a hive', { concurrency: true }, () => {
  test('traps 46, 47: mail to a name that nobody reads is told to members with a reader, not in the stream nobody reads, and again when it comes again', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo', 'test'] });
    says(hive, { test: { memory_count: 0 }, adda: { memory_count: 0 }, nobody: { memory_count: 0 } });
    using home = homeOn(hive);
    await using tray = await home.start(['--no-tray']);
    await all(tray, 3);
    const id = hive.deliver('adda', { from: 'bo' });
    await until('the alarm', () => alerts(home, 'ada').length === 1 && alerts(home, 'bo').length === 1);
    const [alert] = alerts(home, 'ada');
    assert.deepEqual(
      [alert?.reason, alert?.stranded_inboxes, alert?.wake_class, alert?.persona],
      ['stranded', ['adda'], 'diagnostic', 'ada'],
    );
    assert.equal(tray.log.filter((line) => line.includes('adda (1 unread)')).length, 1, 'the second channel');
    await polls(4);
    assert.deepEqual([alerts(home, 'ada').length, alerts(home, 'adda'), alerts(home, 'test')], [1, [], []]);
    for (const persona of (await tray.status()).personas) assert.equal(persona.state, 'UP', 'no outage');

    hive.markRead('adda', [id]);
    await polls(3);
    hive.deliver('nobody', { from: 'bo' });
    await until('the next one', () => alerts(home, 'ada').length === 2);
    assert.deepEqual(alerts(home, 'ada')[1]?.stranded_inboxes, ['nobody'], 'who read once is a reader');
  });

  test('trap 48: a directory that does not say how much its members remember strands nobody', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'adda'] });
    using home = homeOn(hive);
    await using tray = await home.start(['--no-tray']);
    await all(tray, 2);
    hive.deliver('adda', { from: 'ada' });
    await until('the mail', () => home.mail('adda').length === 1);
    await polls(6);
    assert.deepEqual([alerts(home, 'ada'), alerts(home, 'adda')], [[], []]);
  });

  test('trap 50: urgent mail that lies while nothing is seen of its reader; its first act ends it, and the next silence is told', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo', 'idle'] });
    says(hive, {});
    using home = homeOn(hive);
    await using tray = await home.start(['--no-tray']);
    await all(tray, 3);
    hive.deliver('ada', { from: 'bo', urgent: true });
    hive.deliver('idle', { from: 'bo' });
    await until('the alarm', () => alerts(home, 'bo').length === 1);
    const [alert] = alerts(home, 'bo');
    assert.deepEqual([alert?.reason, alert?.urgent_unanswered], ['urgent-unanswered', ['ada']]);
    hive.deliver('bo', { from: 'ada' });
    await polls(3);
    assert.equal(alerts(home, 'bo').length, 1);
    await until('the next silence', () => alerts(home, 'bo').length === 2);
    assert.deepEqual(alerts(home, 'bo')[1]?.urgent_unanswered, ['ada']);
  });

  test('trap 49: each alarm has a setting of its own', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    says(hive, { adda: { memory_count: 0 } });
    using home = homeOn(hive, { strandedAlerts: false });
    await using tray = await home.start(['--no-tray']);
    await all(tray, 2);
    hive.deliver('adda', { from: 'bo' });
    hive.deliver('ada', { from: 'bo', urgent: true });
    await until('the alarm', () => alerts(home, 'bo').length > 0);
    await polls(2);
    assert.deepEqual(
      alerts(home, 'bo').map(({ reason }) => reason),
      ['urgent-unanswered'],
    );
  });
});
