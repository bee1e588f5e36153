import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** One bad entry of a list that a hive sends: the others are watched as if it were not there. */
const BAD: readonly unknown[] = ['', null, 5, {}, [], { persona: '' }, { persona: null }];

/** Every list of the hive begins with these entries, from now on. */
function plant(hive: FakeHive, bad: readonly unknown[]): void {
  for (const endpoint of ['personas', 'pending'] as const) {
    const edit = (answer: Record<string, unknown>) => ({
      ...answer,
      result: [...bad, ...(answer.result as unknown[])],
    });
    hive.fail({ is: 'edit', edit }, { endpoint });
  }
}

describe('an entry of a list that cannot be read', { concurrency: 4 }, () => {
  test('F6 B10 bad entries at the first headless start: everybody else is watched, and one line names each list', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    plant(hive, BAD);
    await using cli = startCli(['watch', '--hive', hive.url, '--poll-seconds', '1']);
    await cli.event('armed', ({ persona }) => persona === 'ada');
    await cli.event('armed', ({ persona }) => persona === 'bo');
    hive.deliver('bo');
    await cli.event('new', ({ persona }) => persona === 'bo');
    for (const list of ['personas', 'notify/pending']) {
      const output = cli.stderr.split('\n').filter((line) => line.includes(`/api/${list}`) && line.includes('entry 0'));
      assert.equal(output.length, 1, cli.stderr);
      assert.match(output[0] ?? '', /entry 0: it is an empty string; entry 1: it is null; .* and 4 more/);
    }
  });

  test('F6 names that no file could have are watched beside the others', async () => {
    using files = scratch();
    const odd = ['..', 'a/b', 'line\nbreak', '\u0000', 'x'.repeat(3000), '\ud800', ' ', 'con', 'ada.'];
    await using hive = await fakeHive({ personas: [...odd, 'ada'] });
    const args = ['watch', '--hive', hive.url, '--poll-seconds', '1', '--state-file', files.at('hive.json')];
    await using cli = startCli([...args, '--events-file-template', files.at('events.{persona}.ndjson')]);
    await cli.until('ada is armed', () => files.text('events.ada.ndjson').includes('"armed"'));
    hive.deliver('ada');
    await cli.until('ada is told', () => files.mail('events.ada.ndjson').length === 1);
  });

  test('B10 F6 a directory with a bad entry is up in the tray process, and mail of the others comes', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    plant(hive, BAD);
    using home = trayHome({ primary: { is: 'kijito', base: hive.url }, pollSeconds: 1, alertAfter: 1 });
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    const now = await tray.until('both are UP', ({ personas }) =>
      ['ada', 'bo'].every((id) => personas.some((each) => each.id === id && each.state === 'UP')),
    );
    assert.deepEqual(now.hives.map(({ source, state }) => [source, state])[0], ['kijito', 'UP']);
    assert.deepEqual(now.causes, []);
    const id = hive.deliver('ada');
    await until('ada is told', () => home.mail('ada').includes(id));
  });
});
