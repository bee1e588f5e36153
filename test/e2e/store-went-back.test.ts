import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const STORE = ['hivebar.sqlite', 'hivebar.sqlite-wal', 'hivebar.sqlite-shm', 'outbox.journal'];

async function send(tray: TrayProcess, to: string, texts: readonly string[]): Promise<void> {
  for (const content of texts) await tray.post('/api/send', { to, from: 'bo', content });
}

const texts = (word: string, n: number): string[] => Array.from({ length: n }, (_, i) => `${word} ${i}`);

/** Contents of the mail in an event file, which must name no two messages by one id. */
function delivered(home: TrayHome, persona: string): string[] {
  const mail = home.events(persona).filter(({ event }) => event === 'new');
  const ids = new Set(mail.map(({ event_id: id }) => id));
  assert.equal(ids.size, mail.length, 'no event_id names two messages');
  return mail.map(({ content }) => String(content));
}

async function followed(home: TrayHome): Promise<string[]> {
  const { stdout } = await home.run([
    'follow',
    'ada',
    '--harness',
    'codex',
    '--once',
    '--timeout',
    '0',
    '--json',
    '--limit',
    '100',
  ]);
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line))
    .flatMap(({ event, content }) => (event === 'new' ? [content] : event === 'persona_added' ? [] : [event]));
}

const hasAll = (home: TrayHome, n: number) => () => home.mail('ada').length >= n;

/** Twenty messages, a backup, ten more that `follow` has read; and then a kill, with a log that is not empty. */
async function prepare(home: TrayHome, backup: string): Promise<void> {
  {
    await using tray = await home.start();
    await send(tray, 'ada', texts('old', 20));
    await tray.until('20 told', hasAll(home, 20));
    await tray.stop();
  }
  for (const name of STORE) if (existsSync(home.at(name))) copyFileSync(home.at(name), `${backup}-${name}`);
  await using tray = await home.start();
  await send(tray, 'ada', texts('later', 10));
  await tray.until('30 told', hasAll(home, 30));
  assert.equal((await followed(home)).length, 30);
  await tray.kill();
}

function restore(home: TrayHome, backup: string): void {
  for (const name of STORE) {
    rmSync(home.at(name), { force: true });
    if (existsSync(`${backup}-${name}`)) copyFileSync(`${backup}-${name}`, home.at(name));
  }
}

function remove(home: TrayHome): void {
  for (const name of readdirSync(home.dir)) if (name.startsWith('hivebar.sqlite')) rmSync(home.at(name));
}

describe('the store went back', { concurrency: 2 }, () => {
  const first = trayHome();
  const backup = join(first.home, 'backup');
  const prepared = prepare(first, backup);
  after(() => first[Symbol.dispose]());

  /** A home of its own after the same past. */
  async function afterHarm(harm: (home: TrayHome, backup: string) => void): Promise<TrayHome> {
    await prepared;
    const home = trayHome();
    cpSync(first.dir, home.dir, { recursive: true });
    harm(home, backup);
    return home;
  }

  test('A1 given a restored backup, the store says so and every fresh mail is told once, to followers too', async () => {
    using home = await afterHarm(restore);
    await using tray = await home.start();
    await send(tray, 'ada', texts('fresh', 5));
    await tray.until('told', hasAll(home, 35));
    assert.deepEqual(delivered(home, 'ada'), [...texts('old', 20), ...texts('later', 10), ...texts('fresh', 5)]);
    assert.deepEqual(home.mail('ada').slice(30), [31, 32, 33, 34, 35]);
    const gaps = home.events('ada').filter(({ event }) => event === 'gap');
    assert.deepEqual(
      gaps.map(({ reason, cursor_at: at, wake_class: wakes }) => [reason, at, wakes]),
      [['store-went-back', 30, 'diagnostic']],
    );
    assert.equal(tray.log.filter((line) => line.includes('the store went back')).length, 1);
    assert.deepEqual(await followed(home), ['gap', ...texts('fresh', 5)]);
    await tray.stop();

    await using again = await home.start();
    await send(again, 'ada', ['last']);
    await again.until('told', hasAll(home, 36));
    assert.equal(again.log.filter((line) => line.includes('the store went back')).length, 0, 'it is said once');
    assert.deepEqual(await followed(home), ['last']);
  });

  test('A1 given a restored backup and mail that was sent before the start, that mail is told under new ids', async () => {
    using home = await afterHarm(restore);
    for (const text of texts('closed', 3)) await home.run(['send', '--to', 'ada', '--from', 'bo', text]);
    await using tray = await home.start();
    await tray.until('told', hasAll(home, 33));
    assert.deepEqual(delivered(home, 'ada').slice(30), texts('closed', 3));
    assert.deepEqual(await followed(home), ['gap', ...texts('closed', 3)]);
  });

  test('A1 given a deleted database, the ids go on and every fresh mail is told once', async () => {
    using home = await afterHarm(remove);
    await using tray = await home.start();
    await send(tray, 'ada', texts('fresh', 5));
    await tray.until('told', hasAll(home, 35));
    assert.deepEqual(delivered(home, 'ada').slice(30), texts('fresh', 5));
    assert.deepEqual(
      (await followed(home)).filter((content) => content !== 'gap'),
      texts('fresh', 5),
    );
    assert.ok(home.events('ada').some(({ event }) => event === 'gap'));
    const listed = await home.run(['inbox', 'list', 'ada', '--json']);
    for (const text of texts('later', 10)) assert.ok(listed.stdout.includes(text), `${text} is in the inbox again`);
  });

  test('A1 given a damaged WAL frame after a kill, fresh mail is told once and nobody goes deaf', async () => {
    using home = await afterHarm((h) => {
      const wal = h.at('hivebar.sqlite-wal');
      const bytes = readFileSync(wal);
      const at = Math.floor(bytes.length * 0.4);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      writeFileSync(wal, bytes);
    });
    await using tray = await home.start();
    await send(tray, 'ada', texts('fresh', 5));
    await tray.until('told', hasAll(home, 35));
    assert.deepEqual(delivered(home, 'ada'), [...texts('old', 20), ...texts('later', 10), ...texts('fresh', 5)]);
    const { stdout } = await home.run(['inbox', 'list', 'ada', '--json']);
    for (const text of texts('later', 10)) assert.ok(stdout.includes(text), `${text} is in the inbox`);
    assert.deepEqual(
      (await followed(home)).filter((content) => content !== 'gap'),
      texts('fresh', 5),
    );
  });

  test('A1 given a follower ahead of everything, the ids go on above it', async () => {
    using home = await afterHarm((h) => {
      remove(h);
      rmSync(h.at('events'), { recursive: true });
      rmSync(h.at('outbox.journal'), { force: true });
    });
    await using tray = await home.start();
    await send(tray, 'ada', texts('fresh', 5));
    await tray.until('told', hasAll(home, 5));
    assert.deepEqual(home.mail('ada'), [31, 32, 33, 34, 35]);
  });
});
