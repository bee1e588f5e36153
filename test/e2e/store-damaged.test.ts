import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import type { StatusWire } from '../../app/status/index.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

const texts = (word: string, n: number): string[] => Array.from({ length: n }, (_, i) => `${word} ${i}`);

/** A store with twenty messages and a copy, closed; then, killed, with ten more. */
async function prepare(home: TrayHome): Promise<void> {
  {
    await using tray = await home.start();
    for (const content of texts('old', 20)) await tray.post('/api/send', { to: 'ada', from: 'bo', content });
    await tray.until('told', () => home.mail('ada').length === 20);
    await tray.stop();
  }
  assert.ok(existsSync(home.at('hivebar.sqlite.last-good')), 'a clean end leaves a copy');
  await using tray = await home.start();
  for (const content of texts('later', 10)) await tray.post('/api/send', { to: 'ada', from: 'bo', content });
  await tray.until('told', () => home.mail('ada').length === 30);
  await tray.kill();
}

describe('a damaged store', { concurrency: 2 }, () => {
  const first = trayHome();
  const prepared = prepare(first);
  after(() => first[Symbol.dispose]());

  async function harmed(harm: (path: string, home: TrayHome) => void): Promise<TrayHome> {
    await prepared;
    const home = trayHome();
    cpSync(first.dir, home.dir, { recursive: true });
    harm(home.at('hivebar.sqlite'), home);
    return home;
  }

  const LOSSES: readonly (readonly [string, (path: string) => void])[] = [
    ['garbage', (path) => writeFileSync(path, Buffer.alloc(40_000, 'no database at all'))],
    ['a cut file', (path) => truncateSync(path, Math.floor(statSync(path).size / 3))],
    [
      'a missing file',
      (path) => {
        for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      },
    ],
  ];
  for (const [label, harm] of LOSSES) {
    test(`A3 given ${label}, it starts, has every message, and board, log and doctor say what happened`, async () => {
      using home = await harmed(harm);
      await using tray = await home.start();
      await tray.post('/api/send', { to: 'ada', from: 'bo', content: 'fresh' });
      const status = await tray.until('told', () => home.mail('ada').length === 31);
      const delivered = home.events('ada').flatMap(({ event, content }) => (event === 'new' ? [String(content)] : []));
      assert.deepEqual(delivered, [...texts('old', 20), ...texts('later', 10), 'fresh']);
      const { stdout } = await home.run(['inbox', 'list', 'ada', '--json', '--limit', '100']);
      for (const text of delivered) assert.ok(stdout.includes(`"${text}"`), `${text} is in the inbox`);
      const [cause] = status.causes;
      assert.equal(cause?.key, 'store');
      assert.match(String(cause?.message), /hivebar\.sqlite/);
      assert.ok(tray.log.some((line) => line.includes(String(cause?.message).slice(0, 60))));
      const hasAside = readdirSync(home.dir).some((name) => name.startsWith('hivebar.sqlite.damaged-'));
      assert.equal(hasAside, label !== 'a missing file');
      if (hasAside) return;
      const doctor = await home.run(['doctor']);
      assert.match(doctor.stdout, /report\.json/);
    });
  }

  test('A3 given a missing file and commands without the program, they share one recovery and lose nothing', async () => {
    using home = await harmed(LOSSES[2]?.[1] as (path: string) => void);
    const sends = texts('closed', 4).map((text) => home.run(['send', '--to', 'ada', '--from', 'bo', text]));
    for (const { code, stderr } of await Promise.all(sends)) assert.equal(code, 0, stderr);
    await using tray = await home.start();
    await tray.until('told', () => home.mail('ada').length === 34);
    const delivered = home.events('ada').flatMap(({ event, content }) => (event === 'new' ? [String(content)] : []));
    assert.deepEqual(delivered.slice(30).sort(), texts('closed', 4));
    assert.equal(tray.log.filter((line) => line.includes('store went back')).length, 1);
  });

  test('A3 given damage in a store too large to be checked at each start, the start that meets it recovers and goes on', async () => {
    using home = await harmed((path) => {
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      const db = new DatabaseSync(path);
      db.exec(
        `CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(${18 * 2 ** 20})); DROP TABLE filler`,
      );
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const roots = db.prepare("SELECT rootpage FROM sqlite_master WHERE name LIKE 'inbox_%' AND rootpage > 0").all();
      const size = Number(db.prepare('PRAGMA page_size').get()?.page_size);
      db.close();
      const bytes = readFileSync(path);
      assert.ok(bytes.length > 16 * 2 ** 20 && roots.length > 1);
      for (const { rootpage } of roots) bytes.fill(0xa5, (Number(rootpage) - 1) * size, Number(rootpage) * size);
      writeFileSync(path, bytes);
    });
    await using tray = await home.start();
    await tray.cli.until(
      'the second start',
      () => tray.log.filter((line) => line.includes(' is running: ')).length === 2,
    );
    const port = Number(home.ran('port'));
    const { causes } = (await (await fetch(`http://127.0.0.1:${port}/status.json`)).json()) as StatusWire;
    assert.equal(causes.find(({ key }) => key === 'store')?.key, 'store');
    assert.ok(tray.log.some((line) => line.endsWith('all of it is checked now, and what can be read is recovered')));
    assert.equal(home.mail('ada').length, 30);
    assert.ok(!existsSync(home.at('hivebar.sqlite.suspect')));
    const { stdout } = await home.run(['inbox', 'list', 'ada', '--json', '--limit', '100']);
    for (const text of [...texts('old', 20), ...texts('later', 10)]) assert.ok(stdout.includes(`"${text}"`), text);
  });

  test('A4 given a damaged page that no start reads, the check at start finds it, and the store is made anew', async () => {
    using home = await harmed((path) => {
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      const db = new DatabaseSync(path);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const root = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'inbox_for_session'").get()?.rootpage;
      const size = Number(db.prepare('PRAGMA page_size').get()?.page_size);
      db.close();
      const bytes = readFileSync(path);
      bytes.fill(0xa5, (Number(root) - 1) * size, Number(root) * size);
      writeFileSync(path, bytes);
    });
    await using tray = await home.start();
    const { causes } = await tray.until('30 told', () => home.mail('ada').length === 30);
    assert.equal(causes.find(({ key }) => key === 'store')?.key, 'store');
    assert.ok(readdirSync(home.dir).some((name) => name.startsWith('hivebar.sqlite.damaged-')));
    const { stdout } = await home.run(['inbox', 'list', 'ada', '--json', '--limit', '100']);
    for (const text of [...texts('old', 20), ...texts('later', 10)]) assert.ok(stdout.includes(`"${text}"`), text);
  });

  test('A4 given a message that was changed on the disk, the inbox shows a placeholder and the board says so', async () => {
    using home = await harmed((path) => {
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      const db = new DatabaseSync(path);
      db.exec("UPDATE inbox SET content = 'pay 900' WHERE content = 'later 3'");
      db.close();
    });
    await using tray = await home.start();
    const { stdout } = await home.run(['inbox', 'list', 'ada', '--json', '--limit', '100']);
    assert.ok(!stdout.includes('pay 900'));
    assert.match(stdout, /damaged on the disk/);
    const url = `${tray.url}/api/inbox?persona=ada&mark_read=false`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${tray.token}` } });
    assert.match(await answer.text(), /damaged on the disk/);
    await tray.until('the cause', ({ causes }) => causes.some(({ key }) => key === 'damaged-messages'));
  });
});
