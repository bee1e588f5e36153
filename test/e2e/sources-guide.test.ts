import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fakeHive } from '../kit/fake-hive.ts';
import { noPython } from '../kit/queue-writers.ts';
import { needs } from '../kit/require.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guides', 'sources.md'), 'utf8');

/** The program below a heading of the guide, exactly as it is printed. */
function findProgram(heading: string): string {
  const from = GUIDE.indexOf(`## ${heading}\n`);
  assert.ok(from >= 0, heading);
  const [block = ''] = /(?:^ {4}.*\n|^\n(?= {4}))+/m.exec(GUIDE.slice(from)) ?? [];
  return block.replace(/^\n/, '').replace(/^ {4}/gm, '');
}

describe('the guide of sources', () => {
  let home: TrayHome;
  let tray: TrayProcess;

  before(async () => {
    home = trayHome();
    mkdirSync(join(home.home, 'bin'));
    tray = await home.start();
  });
  after(async () => {
    await tray[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });

  const install = (name: string, text: string): string => {
    const path = join(home.home, 'bin', name);
    writeFileSync(path, text);
    chmodSync(path, 0o700);
    return path;
  };
  const check = async (path: string): Promise<void> => {
    const checked = await home.run(['source', 'check', '--', path]);
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    assert.equal(checked.stdout.split('\n').filter((line) => line.startsWith('ok')).length >= 11, true, checked.stdout);
  };

  test('given the shell script of 12 lines, then its tickets are on the board, and nothing is 0 without its folder', async () => {
    const text = findProgram('A shell script');
    assert.equal(text.trimEnd().split('\n').length, 12);
    const path = install('tickets', text);
    const folder = join(home.home, 'tickets');
    mkdirSync(folder);
    for (const name of ['printer.txt', 'door.txt']) writeFileSync(join(folder, name), 'x');
    await check(path);
    assert.equal((await home.run(['source', 'add', 'tickets', '--yes', '--', path])).code, 0);
    await tray.persona('tickets-desk', ({ unread }) => unread === 2);
    await until('its events', () => home.mail('tickets-desk').length === 2);
    rmSync(join(folder, 'door.txt'));
    const poll = async (): Promise<unknown> => await tray.post('/api/v1/actions/poll', { persona: 'tickets-desk' });
    await poll();
    await tray.persona('tickets-desk', ({ unread }) => unread === 1);
    rmSync(folder, { recursive: true });
    await poll();
    await until('it is said', async () =>
      (await home.run(['source', 'show', 'tickets'])).stdout.includes('no folder tickets'),
    );
    assert.equal((await tray.persona('tickets-desk')).unread, 1);
    mkdirSync(folder);
    await tray.persona('tickets-desk', ({ unread, state }) => unread === 0 && state === 'UP');
  });

  test('given the Python program of 40 lines, then it rings at once, and goes on where it was', async (t) => {
    if (needs(t, noPython)) return;
    const text = findProgram('A Python program');
    assert.equal(text.trimEnd().split('\n').length, 40);
    const path = install('builds', text);
    const log = join(home.home, 'builds.ndjson');
    const ask = (line: object): void => appendFileSync(log, `${JSON.stringify(line)}\n`);
    ask({ to: 'ada', id: 'q1', text: 'Deploy?' });
    await check(path);
    assert.equal((await home.run(['source', 'add', 'builds', '--yes', '--', path])).code, 0);
    await tray.persona('builds-ada', ({ unread }) => unread === 1);
    ask({ to: 'ada', id: 'q2', text: 'Roll back?' });
    await tray.persona('builds-ada', ({ unread }) => unread === 2, 10_000);
    ask({ to: 'ada', id: 'q1', answered: true });
    await tray.persona('builds-ada', ({ unread }) => unread === 1, 10_000);
    const listEvents = (): readonly string[] =>
      home.events('builds-ada').flatMap(({ event, id }) => (id === undefined ? [] : [`${event} ${id}`]));
    await until('its events', () => listEvents().length === 3);
    assert.deepEqual(listEvents(), ['question 1', 'question 2', 'read 1']);
  });

  test('given a Maildir of a stranger, then its mail is on the board by the line of the guide', async () => {
    const root = join(home.home, 'Mail');
    for (const folder of ['tmp', 'new', 'cur']) mkdirSync(join(root, 'eve', folder), { recursive: true });
    writeFileSync(
      join(root, 'eve', 'new', '1764410400.M1.host'),
      'From: Bo <bo@example.org>\r\nSubject: Lunch\r\nDate: Sat, 29 Nov 2025 10:00:00 +0000\r\n\r\nAt noon?\r\n',
    );
    assert.equal((await home.run(['source', 'add', 'mail', '--yes', '--maildir', root])).code, 0);
    await tray.persona('mail-eve', ({ unread }) => unread === 1);
    await until('its event', () => home.mail('mail-eve').length === 1);
    const event = home.events('mail-eve').find(({ event: name }) => name === 'new');
    assert.deepEqual([event?.subject, event?.content, event?.source], ['Lunch', 'At noon?', 'mail']);
    const { stdout } = await home.run(['source', 'list']);
    assert.match(stdout, /mail +up +1 persona +maildir /);
  });

  test('given notes in a folder and a file of lines, then both are on the board', async () => {
    const notes = join(home.home, 'notes', 'ada');
    mkdirSync(notes, { recursive: true });
    writeFileSync(join(notes, 'one.md'), '# Read me\n\nsoon\n');
    writeFileSync(
      join(notes, 'two.json'),
      JSON.stringify({ from: 'bo', subject: 'As JSON', content: 'text', kind: 'handoff' }),
    );
    const added = await home.run([
      'source',
      'add',
      'notes',
      '--yes',
      '--maildir',
      join(home.home, 'notes'),
      '--layout',
      'flat',
    ]);
    assert.equal(added.code, 0, added.stderr);
    await tray.persona('notes-ada', ({ unread }) => unread === 2);
    const file = join(home.home, 'night.json');
    writeFileSync(file, JSON.stringify([{ op: 'persona', persona: 'run', unread: 7 }]));
    assert.equal((await home.run(['source', 'add', 'night', '--yes', '--file', file, '--stale', '1d'])).code, 0);
    await tray.persona('night-run', ({ unread }) => unread === 7);
  });

  test('given a server with lines and a server without, then the one is read by its cursor, and the other is a hive', async () => {
    const asked: (string | null)[] = [];
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      asked.push(pathname === '/base/hivebar' ? searchParams.get('cursor') : `wrong: ${pathname}`);
      const lines = [
        { op: 'ready', protocol: 1, source: 'office-mail', label: 'Office' },
        { op: 'item', persona: 'ada', key: 'k', state: 'unread', content: 'by HTTP' },
        { op: 'done', cursor: 'c1', full: true },
      ];
      response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using hive = await fakeHive({ personas: ['eve'] });
    try {
      const { port } = server.address() as AddressInfo;
      const add = async (name: string, url: string): Promise<void> => {
        const added = await home.run(['source', 'add', name, '--yes', '--http', url]);
        assert.equal(added.code, 0, added.stderr);
      };
      await add('office', `http://127.0.0.1:${port}/base`);
      await tray.persona('office-ada', ({ unread }) => unread === 1);
      await until('its event', () => home.mail('office-ada').length === 1);
      assert.equal(home.events('office-ada').find(({ event }) => event === 'new')?.source, 'office-mail');
      await tray.post('/api/v1/actions/poll', { persona: 'office-ada' });
      await until('its cursor', () => asked.includes('c1'));
      assert.deepEqual(
        asked.filter((cursor) => cursor !== null && cursor !== 'c1'),
        [],
      );
      await add('team', hive.url);
      await tray.persona('team-eve', ({ state }) => state === 'UP');
      for (const name of ['office', 'team']) assert.equal((await home.run(['source', 'remove', name])).code, 0);
      await tray.until('both are gone', ({ personas }) => personas.every(({ id }) => !/^(office|team)-/.test(id)));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
