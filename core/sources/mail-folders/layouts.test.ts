import assert from 'node:assert/strict';
import { linkSync, mkdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { createDelivered, listTexts, watchPersona } from '../../../test/conformance/watch-source.ts';
import { needs } from '../../../test/kit/require.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import { exactly } from '../../model/index.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createFlatLayout, createMailFolderSource, type MailLayout, maildirLayout } from './index.ts';

const never = new AbortController().signal;
const flatLayout = createFlatLayout((text) => {
  const { subject } = JSON.parse(text) as { subject: string };
  return { appeared: 'question', from: 'json', created: null, order: [0, 0], content: '', extra: { subject } };
});

function openRig(place: Scratch, layout: MailLayout) {
  const clock = createJumpingClock(realClock);
  const source = createMailFolderSource({
    ...{ id: 'mail', kind: 'mail', root: place.dir, layout, clock, log: silentLog, contentChars: 20 },
    disk: createRealDisk(silentLog),
    toPersonaId: (address) => `mail-${address}`,
  });
  const record = createDelivered();
  const { poll, watcher } = watchPersona(source, source.named('ada'), clock, record);
  return {
    ...{ source, clock, record, poll, watcher },
    count: async () => (await source.poll(source.named('ada'), watcher.state.checkpoint, never)).unread,
    events: () => record.events.flatMap((event) => ('id' in event ? [`${event.event} ${event.id}`] : [])),
  };
}

function maildir(place: Scratch): { deliver(name: string, text: string): void } {
  for (const part of ['tmp', 'new', 'cur']) mkdirSync(place.at('ada', part), { recursive: true });
  return {
    // As many mail servers do: link, then unlink.
    deliver(name, text) {
      writeFileSync(place.at('ada', 'tmp', name), text);
      linkSync(place.at('ada', 'tmp', name), place.at('ada', 'new', name));
      unlinkSync(place.at('ada', 'tmp', name));
    },
  };
}

test('a Maildir: mail in new is new, in cur it is read when its name says S, and it keeps its id', async () => {
  using place = scratch();
  const { deliver } = maildir(place);
  const rig = openRig(place, maildirLayout);
  await rig.poll();
  deliver(
    '1750000000.M1P1.host',
    'From: Bo <bo@example.org>\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\nX-Priority: 1\n\nThe build\u0000 is green, and more.\n',
  );
  await rig.poll();
  const [event] = rig.record.events.filter((each) => each.event === 'new');
  assert.ok(event?.event === 'new');
  assert.deepEqual(
    [
      event.from,
      event.content,
      event.created,
      'subject' in event && event.subject,
      'priority' in event && event.priority,
    ],
    ['Bo <bo@example.org>', 'The build is green, ', '2025-06-15T15:06:40.000000+00:00', 'Grüße', 'urgent'],
  );
  renameSync(place.at('ada', 'new', '1750000000.M1P1.host'), place.at('ada', 'cur', '1750000000.M1P1.host:2,'));
  await rig.poll();
  assert.deepEqual([rig.events(), await rig.count()], [['new 1'], exactly(1)], 'a mail program saw it, nobody read it');
  renameSync(place.at('ada', 'cur', '1750000000.M1P1.host:2,'), place.at('ada', 'cur', '1750000000.M1P1.host:2,FS'));
  await rig.poll();
  assert.deepEqual([rig.events(), await rig.count()], [['new 1', 'read 1'], exactly(0)]);
  rmSync(place.at('ada', 'cur', '1750000000.M1P1.host:2,FS'));
  await rig.poll();
  assert.deepEqual(rig.events(), ['new 1', 'read 1', 'gone 1']);
});

test('a Maildir: mail that is read when it is first seen is known and makes no event', async () => {
  using place = scratch();
  maildir(place);
  const rig = openRig(place, maildirLayout);
  await rig.poll();
  writeFileSync(place.at('ada', 'cur', '1750000001.M1P1.host:2,S'), 'Subject: sent\n\nx');
  await rig.poll();
  writeFileSync(place.at('ada', 'cur', '1750000002.M1P1.host:2,'), 'Subject: copied\n\ncopied');
  await rig.poll();
  assert.deepEqual([rig.events(), listTexts(rig.record), await rig.count()], [['new 1'], ['copied'], exactly(1)]);
});

test('a Maildir: names that no persona can have, files and links beside the mailboxes are left out', async () => {
  using place = scratch();
  maildir(place);
  for (const name of ['two\nlines', '__proto__', 'x'.repeat(201), '.hidden'])
    mkdirSync(place.at(name, 'new'), { recursive: true });
  mkdirSync(place.at('no-mailbox'));
  writeFileSync(place.at('file'), '');
  const rig = openRig(place, maildirLayout);
  assert.deepEqual(
    (await rig.source.personas(never)).map(({ id, address }) => [id, address]),
    [['mail-ada', 'ada']],
  );
  assert.equal(rig.source.defects.length, 3);
});

test('plain files: a file that is there is unread, and is gone when it is removed', async () => {
  using place = scratch();
  mkdirSync(place.at('ada'));
  const rig = openRig(place, flatLayout);
  await rig.poll();
  writeFileSync(place.at('ada', 'a.md'), '# Deploy?\n\nIt is ready.');
  writeFileSync(place.at('ada', 'b.txt'), 'plain');
  writeFileSync(place.at('ada', 'c.json'), '{"subject": "asked"}');
  for (const other of ['d.png', '.e.md', 'f.md~']) writeFileSync(place.at('ada', other), 'x');
  rig.clock.jump(1000);
  await rig.poll();
  const events = rig.record.events.filter((event) => 'id' in event);
  assert.deepEqual(
    events.map((event) => [event.event, 'subject' in event ? event.subject : null]),
    [
      ['new', 'Deploy?'],
      ['new', null],
      ['question', 'asked'],
    ],
  );
  rmSync(place.at('ada', 'b.txt'));
  await rig.poll();
  assert.deepEqual(rig.events().slice(3), ['gone 2']);
  assert.deepEqual(await rig.count(), exactly(2));
});

test('plain files: a file that is still written is counted, and delivered when it stands still', async () => {
  using place = scratch();
  mkdirSync(place.at('ada'));
  const rig = openRig(place, flatLayout);
  const woken: string[] = [];
  await rig.poll();
  using _ = rig.source.hints?.((address) => void woken.push(address));
  const started = Date.now();
  for (const text of ['one', 'one two', 'one two three']) {
    writeFileSync(place.at('ada', 'a.md'), text);
    await rig.poll();
    if (Date.now() - started < 200) assert.deepEqual([listTexts(rig.record), await rig.count()], [[], exactly(1)]);
  }
  await until('it is delivered after a hint', async () => {
    if (woken.splice(0).length > 0) await rig.poll();
    return listTexts(rig.record).length > 0;
  });
  assert.deepEqual(listTexts(rig.record), ['one two three']);
});

test('plain files: one that never becomes JSON is delivered without content after 10 s', async () => {
  using place = scratch();
  mkdirSync(place.at('ada'));
  const layout = createFlatLayout(() => null);
  const rig = openRig(place, layout);
  await rig.poll();
  writeFileSync(place.at('ada', 'a.json'), '{"subject": "hal');
  rig.clock.jump(1000);
  await rig.poll();
  assert.deepEqual([rig.events(), await rig.count()], [[], exactly(1)]);
  rig.clock.jump(10_000);
  await rig.poll();
  assert.deepEqual(listTexts(rig.record), ['']);
  assert.match(rig.source.defects.join('\n'), /a\.json: cannot be parsed/);
});

test('a file whose name is no text counts as unread, with a diagnostic, and is not looked for again and again', async (t) => {
  if (needs(t, process.platform === 'linux' ? null : 'other systems refuse such a name')) return;
  using place = scratch();
  maildir(place);
  writeFileSync(Buffer.concat([Buffer.from(`${place.at('ada', 'new')}/1750000000.`), Buffer.from([0xff, 0xfe])]), 'x');
  const rig = openRig(place, maildirLayout);
  const woken: string[] = [];
  using _ = rig.source.hints?.((address) => void woken.push(address));
  await rig.poll();
  await until('the first hints are over', async () => woken.splice(0).length === 0, 2000);
  assert.deepEqual([await rig.count(), listTexts(rig.record)], [exactly(1), ['']]);
  assert.match(rig.source.defects.join('\n'), /cannot be read/);
});

test('messages that nobody accepts are not offered without a pause', async () => {
  using place = scratch();
  maildir(place);
  const layout = { ...maildirLayout, deliversPassing: true };
  const rig = openRig(place, layout);
  const woken: string[] = [];
  const persona = rig.source.named('ada');
  const poll = async () => await rig.source.poll(persona, { is: 'unset' }, never); // nothing is ever acknowledged
  await poll();
  using _ = rig.source.hints?.((address) => void woken.push(address));
  writeFileSync(place.at('ada', 'cur', '1750000001.M1P1.host:2,S'), 'Subject: sent\n\nx');
  await until('the hint', () => woken.splice(0).length > 0);
  let polls = 0;
  const end = performance.now() + 300;
  while (performance.now() < end) {
    if (woken.splice(0).length > 0) {
      await poll();
      polls += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(polls <= 5, `${polls} polls`);
});
