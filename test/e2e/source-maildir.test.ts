import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { captureTree } from '../conformance/source-store.ts';
import { ROOT } from '../house/source-file.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const GUIDE = readFileSync(join(ROOT, 'docs/guides/sources.md'), 'utf8');

/** The commands below a heading of the guide, without their comments. */
function listCommands(heading: string): readonly string[] {
  const section = GUIDE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const commands = section.split('\n').filter((line) => line.startsWith('    '));
  assert.ok(commands.length > 0, `the guide has no commands below ${heading}`);
  return commands.map((line) => line.replace(/ # .*/, '').trim());
}

test('the commands of the guide alone put a Maildir on the board, and its mail is read there', async (t) => {
  if (needs(t, process.platform === 'win32' ? 'the commands are those of a shell' : null)) return;
  using home = trayHome({ primary: { is: 'local' }, tray: 'none' });
  await using tray = await home.start();
  const run = async (command: string): Promise<void> => {
    if (command.startsWith('hivebar ')) {
      const words = command.replaceAll('~', home.home).split(/\s+/).slice(1);
      const { code, stderr } = await home.run([...words, '--yes']);
      assert.equal(code, 0, stderr);
    } else execFileSync('/bin/sh', ['-c', command], { env: { ...process.env, HOME: home.home } });
  };
  const [make, add, write, deliver, read, ...rest] = listCommands('A Maildir, message by message');
  assert.ok(make && add && write && deliver && read && rest.length === 0);
  await run(make);
  await run(add);
  await tray.persona('mail-ada', ({ state, unread }) => state === 'UP' && unread === 0);
  await run(write);
  await run(deliver);
  await tray.persona('mail-ada', ({ unread, urgent }) => unread === 1 && urgent === 1, 5000);
  await until('its event', () => home.mail('mail-ada').length === 1);
  const [event] = home.events('mail-ada').filter((each) => each.event === 'new');
  assert.deepEqual([event?.from, event?.subject, event?.content], ['bo', 'Deploy?', 'It is ready.']);
  await run(read);
  await tray.persona('mail-ada', ({ unread }) => unread === 0, 5000);
  await until('it is read', () => home.events('mail-ada').some((each) => each.event === 'read'));
});

test('a Maildir of a mail server and a folder of notes are on the board at once, without a restart', async () => {
  using home = trayHome({ primary: { is: 'local' }, tray: 'none' });
  await using tray = await home.start();
  const mail = join(home.home, 'Mail');
  for (const part of ['tmp', 'new', 'cur']) mkdirSync(join(mail, 'ada', part), { recursive: true });
  const added = await home.run(['source', 'add', 'mail', '--maildir', mail, '--yes']);
  assert.equal(added.code, 0, added.stderr);
  await tray.persona('mail-ada', ({ state, unread }) => state === 'UP' && unread === 0);

  // As a mail server delivers: written aside, then linked into place.
  const name = '1750000000.M1P1.host';
  writeFileSync(
    join(mail, 'ada', 'tmp', name),
    'From: =?utf-8?Q?J=C3=BCrgen?= <j@example.org>\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\nImportance: high\n\nMay I deploy?\n',
  );
  linkSync(join(mail, 'ada', 'tmp', name), join(mail, 'ada', 'new', name));
  unlinkSync(join(mail, 'ada', 'tmp', name));
  const before = captureTree(mail);
  await tray.persona('mail-ada', ({ unread, urgent }) => unread === 1 && urgent === 1, 5000);
  await until('its event', () => home.mail('mail-ada').length === 1);
  const [event] = home.events('mail-ada').filter((each) => each.event === 'new');
  assert.deepEqual(
    [event?.id, event?.source, event?.from, event?.subject, event?.content],
    [1, 'mail', 'Jürgen <j@example.org>', 'Grüße', 'May I deploy?'],
  );
  assert.deepEqual(captureTree(mail), before);
  renameSync(join(mail, 'ada', 'new', name), join(mail, 'ada', 'cur', `${name}:2,S`));
  await tray.persona('mail-ada', ({ unread }) => unread === 0, 5000);
  await until('it is read', () => home.events('mail-ada').some((each) => each.event === 'read' && each.id === 1));

  const notes = join(home.home, 'notes', 'bo');
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, 'deploy.md'), '# Deploy?\n\nIt is ready.');
  writeFileSync(join(notes, 'asked.json'), JSON.stringify({ from: 'cy', subject: 'Schema', kind: 'question' }));
  assert.equal(
    (await home.run(['source', 'add', 'notes', '--maildir', join(home.home, 'notes'), '--layout', 'flat', '--yes']))
      .code,
    0,
  );
  await tray.persona('notes-bo', ({ unread }) => unread === 2, 5000);
  await until('both are told', () => home.events('notes-bo').filter((each) => 'subject' in each).length === 2);
  assert.deepEqual(
    home
      .events('notes-bo')
      .flatMap((each) => ('subject' in each ? [`${each.event} ${each.subject}`] : []))
      .sort(),
    ['new Deploy?', 'question Schema'],
  );
  const shown = await home.run(['source', 'show', 'mail']);
  assert.equal(shown.code, 0);
  assert.equal((await home.run(['source', 'remove', 'mail'])).code, 0);
  await tray.until('it left', ({ personas }) => !personas.some(({ id }) => id === 'mail-ada'), 5000);
});
