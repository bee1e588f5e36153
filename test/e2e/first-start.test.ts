import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brainclaw } from '../kit/brainclaw-store.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** What a source had before Hivebar is no news: it is counted. The garden has a test of its own. */

const CODEX = 'bc-prj_lab0001-codex';
const kinds = (home: TrayHome, persona: string): readonly string[] => home.events(persona).map(({ event }) => event);
const hasBegun = (home: TrayHome, persona: string) => () => kinds(home, persona).includes('armed');

test('given a garden on this machine, the first start says so in a line, and so does the command', async () => {
  using home = trayHome(null);
  const sessions = join(home.home, '.pi', 'agent', 'meta-sessions');
  mkdirSync(sessions, { recursive: true });
  writeFileSync(join(sessions, '20260614T100037-000001.meta.json'), '{}');
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  const line = `found garden: 1 citizen (${join(home.home, '.pi', 'agent')})`;
  assert.ok(tray.log.includes(line), tray.log.join('\n'));
  const { stdout } = await home.run(['source', 'list']);
  assert.match(stdout, /garden +found +0 personas +garden: .*agent \(1 citizen\)/);
  assert.match(stdout, /codex +not there/);
});

test('A10 given a hive with unread mail, the first start counts it and tells what comes then', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  for (let mail = 0; mail < 3; mail += 1) hive.deliver('ada');
  using home = trayHome({ primary: { is: 'kijito', base: hive.url }, pollSeconds: 1, holdSeconds: 0 });
  await using tray = await home.start(['--no-tray', '--no-notifications']);
  const { lastMailAt } = await tray.persona('ada', ({ unread }) => unread === 3);
  assert.equal(lastMailAt, null);
  await until('it is watched', hasBegun(home, 'ada'));
  const id = hive.deliver('ada');
  await until('it is told', () => home.mail('ada').length > 0);
  assert.deepEqual(home.mail('ada'), [id]);
});

for (const backfill of [false, true]) {
  const outcome = backfill ? 'with brainclaw.backfill it is told' : 'it is counted and not told';
  test(`A10 given a brainclaw project with pending messages, at the first start ${outcome}`, async () => {
    using store = brainclaw();
    const project = { is: 'on', projects: [store.dir], ...(backfill ? { backfill } : {}) };
    using home = trayHome({ primary: { is: 'local' }, brainclaw: project });
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    await tray.persona(CODEX, ({ unread }) => unread === 2);
    await until('it is watched', hasBegun(home, CODEX));
    const delivered = (): readonly string[] =>
      kinds(home, CODEX).filter((kind) => !/^(armed|baseline_skipped)$/.test(kind));
    if (!backfill) assert.deepEqual(delivered(), []);
    else await until('mail, handoffs and assignments', () => /new.*handoff.*assigned/.test(delivered().join()));
  });
}
