import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { complaintsIn, gardenCli } from '../kit/garden-cli.ts';
import { findCitizenId, garden } from '../kit/garden-store.ts';
import { needs } from '../kit/require.ts';
import { until } from '../kit/until.ts';

interface Defect {
  readonly filename: string;
  readonly message: string;
}
interface CitizenList {
  readonly citizens: readonly { readonly gardenId: string }[];
  readonly defects: readonly Defect[];
}
interface MailDrain {
  readonly messages: readonly { readonly file: string }[];
  readonly left: readonly Defect[];
}

const SOMEBODY = 4242;
const NOT_ROOT = process.getuid?.() === 0 ? null : 'files of another user: run as root';
const findMessage = (defects: readonly Defect[], filename: string): string | undefined =>
  defects.find((defect) => defect.filename === filename)?.message;

describe('an id that leads out of the store', () => {
  const verbs = [
    ...[
      ['record', 'get'],
      ['mail', 'send', '--queue', 'x'],
      ['mail', 'send', '--force', 'x'],
      ['mail', 'peek'],
    ],
    ...[
      ['mail', 'read', '--not-mine'],
      ['receipt', 'show'],
      ['marker', 'show'],
      ['marker', 'write', 'sender'],
    ],
  ];
  const ids = ['../../etc/passwd', '', `${findCitizenId('cc-read')}/../x`, findCitizenId('cc-enqueued').toUpperCase()];
  for (const verb of verbs) {
    test(`is refused by ${verb.join(' ')}, and nothing is changed`, async () => {
      using store = garden('store');
      const run = gardenCli(store);
      const before = store.tree();
      for (const id of ids) {
        const pid = verb[1] === 'write' ? ['--pid', `${process.pid}`] : [];
        const { code, out, err } = await run([...verb, `--id=${id}`, ...pid]);
        assert.deepEqual([code, out], [1, ''], `${id}: ${err}`);
        assert.match(err, /^hivebar garden: meta-record (field )?"gardenId" must /);
      }
      assert.deepEqual(store.tree(), before);
    });
  }
});

describe('a record that is no file of the store', () => {
  const name = (hex: string): string => `20260615T000000-${hex}.meta.json`;

  test('is a defect with its reason, is not opened, and its neighbours are listed', async () => {
    using store = garden('store');
    const at = (hex: string): string => join(store.places.sessions, name(hex));
    const good = readFileSync(join(store.places.sessions, `${findCitizenId('cc-read')}.meta.json`), 'utf8');
    const outside = store.write('outside.json', good.replaceAll(findCitizenId('cc-read'), '20260615T000000-aaaaaa'));
    symlinkSync(outside, at('aaaaaa'));
    execFileSync('mkfifo', [at('bbbbbb')]);
    mkdirSync(at('cccccc'));
    writeFileSync(at('dddddd'), good.padEnd(300 * 1024));
    const { code, json } = await gardenCli(store)(['list', '--json']);
    const { citizens, defects } = json<CitizenList>();
    assert.deepEqual([code, citizens.length, defects.length], [0, 18, 12]);
    assert.equal(findMessage(defects, name('aaaaaa')), 'is a symlink, which is never followed');
    assert.equal(findMessage(defects, name('bbbbbb')), 'is a pipe, socket or device, not a file');
    assert.equal(findMessage(defects, name('cccccc')), 'is a directory, not a file');
    assert.match(findMessage(defects, name('dddddd')) ?? '', /^is 307200 bytes long, over 262144$/);
    const answer = await gardenCli(store)(['mail', 'send', '--queue', '--id', '20260615T000000-aaaaaa', 'x']);
    assert.deepEqual([answer.code, store.box('20260615T000000-aaaaaa')], [1, null]);
    assert.match(answer.err, /is a symlink, which is never followed$/m);
  });

  test('or belongs to somebody else is not believed', async (t) => {
    if (needs(t, NOT_ROOT)) return;
    using store = garden('store');
    const foreign = join(store.places.sessions, `${findCitizenId('cc-read')}.meta.json`);
    chownSync(foreign, SOMEBODY, SOMEBODY);
    const run = gardenCli(store);
    const { citizens, defects } = (await run(['list', '--json'])).json<CitizenList>();
    assert.equal(citizens.length, 17);
    assert.equal(
      findMessage(defects, `${findCitizenId('cc-read')}.meta.json`),
      `belongs to user ${SOMEBODY}, whose files are not trusted`,
    );
    const sent = await run(['mail', 'send', '--queue', '--id', findCitizenId('cc-read'), 'x']);
    assert.equal(sent.code, 1);
    assert.match(sent.err, /whose files are not trusted$/m);
    chownSync(store.places.sessions, SOMEBODY, SOMEBODY);
    assert.equal((await run(['list', '--json'])).json<CitizenList>().citizens.length, 18); // all of the store is theirs
  });
});

describe('what is in a box and no message', () => {
  const id = findCitizenId('cc-enqueued');
  const file = (n: number): string => `2026-06-14T01-00-0${n}-000Z-00000${n}.msg`;

  test('is left and named, and the mail beside it is read', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const box = join(store.places.mailbox, id);
    symlinkSync('/etc/hostname', join(box, file(1)));
    execFileSync('mkfifo', [join(box, file(2))]);
    writeFileSync(join(box, file(3)), '');
    if (NOT_ROOT === null) {
      writeFileSync(join(box, file(4)), 'from a stranger');
      chownSync(join(box, file(4)), SOMEBODY, SOMEBODY);
    }
    const foreign = NOT_ROOT === null ? [[file(4), `belongs to user ${SOMEBODY}, whose files are not trusted`]] : [];
    const expected = [
      [file(1), 'is a symlink, which is never followed'],
      [file(2), 'is a pipe, socket or device, not a file'],
      ...foreign,
    ];
    const pairs = (all: readonly Defect[]) => all.map(({ filename, message }) => [filename, message]).sort();
    const peeked = await run(['mail', 'peek', '--id', id, '--json']);
    assert.deepEqual(pairs(peeked.json<CitizenList>().defects), expected);
    const { diagnostics } = (await run(['status', '--json'])).json<{ diagnostics: readonly Defect[] }>();
    for (const [name, why] of expected) assert.equal(findMessage(diagnostics, `meta-mailbox/${id}/${name}`), why);
    const read = await run(['mail', 'read', '--id', id, '--as', id, '--json']);
    const { messages, left } = read.json<MailDrain>();
    assert.equal(read.code, 1);
    assert.equal(messages.length, 2);
    assert.deepEqual(pairs(left), [...expected, [file(3), 'is still being written']].sort());
    for (const [name = ''] of expected) assert.ok(store.box(id)?.includes(name));
  });

  test('but a body that is still being written waits until it is whole', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const late = '2026-06-15T00-00-00-000Z-000000.msg'; // behind the signal
    const path = join(store.places.mailbox, id, late);
    const writer = spawn('sh', ['-c', 'while :; do printf x; done >"$1"', 'sh', path], { stdio: 'ignore' });
    const gone = once(writer, 'exit');
    try {
      await until('a body that begins', () => store.box(id)?.includes(late) === true);
      const { code, json } = await run(['mail', 'read', '--id', id, '--as', id, '--json']);
      assert.equal(code, 1);
      assert.deepEqual(json<MailDrain>().left, [{ filename: late, message: 'is still being written' }]);
      assert.equal(json<MailDrain>().messages.length, 2);
    } finally {
      writer.kill('SIGKILL');
      await gone;
    }
    const { code, json } = await run(['mail', 'read', '--id', id, '--as', id, '--json']);
    assert.deepEqual([code, json<MailDrain>().messages.map((message) => message.file)], [0, [late]]);
  });

  test('nor is a box that is a symlink, also not for a message to it', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const other = findCitizenId('cc-never-armed');
    symlinkSync(id, join(store.places.mailbox, other));
    const before = store.tree();
    for (const args of [
      ['mail', 'read', '--id', other, '--as', other],
      ['mail', 'peek', '--id', other],
      ['mail', 'send', '--id', other, '--queue', 'x'],
      ['receipt', 'show', '--id', other],
    ]) {
      const { code, err } = await run(args);
      assert.equal(code, 1, args.join(' '));
      assert.match(err, /is a symlink, which is never followed/);
    }
    assert.deepEqual(store.tree(), before);
  });

  test('what a body holds is never acted on by a terminal', async () => {
    using store = garden('store');
    writeFileSync(join(store.places.mailbox, id, file(1)), 'red \u001b[31m\u0007\u202eall\n');
    const run = gardenCli(store);
    const shown = await run(['mail', 'peek', '--id', id]);
    assert.match(shown.out, /red \\u001b\[31m\\u0007\\u202eall\n/);
    const read = await run(['mail', 'read', '--id', id, '--as', id]);
    for (const character of ['\u001b', '\u0007', '\u202e']) assert.ok(!read.out.includes(character));
  });
});

describe('a command line that is wrong', () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /expected record, mail, receipt, peers, marker, doctor, status, prune or id: see/],
    [['foo'], /expected record, mail, .*, not foo/],
    [['record'], /garden record: expected upsert, get, list or scan/],
    [['mail', 'eat'], /garden mail: expected send, peek or read, not eat/],
    [['mail', 'read'], /garden mail read: --id is missing/],
    [['mail', 'read', '--id', 'x', '--force'], /garden mail read: unknown flag --force/],
    [['record', 'upsert', '--backend', 'pi'], /--session is missing/],
    [['record', 'upsert', '--backend', 'pi', '--session', 'x', '--schema', '1'], /--schema 1: must be 2 or 3/],
    [
      ['record', 'upsert', '--backend', 'pi', '--session', 'x', '--model', 'm', '--no-model'],
      /use only one of --no-model and --model/,
    ],
    [['list', '--store', ''], /--store is empty/],
    [['status', 'now'], /unexpected argument now/],
    [['record', 'get', '--id', 'x', 'y'], /unexpected argument y/],
  ];
  test('ends with 2, says what is wanted, and makes nothing', async () => {
    using store = garden();
    for (const [args, why] of wrong) {
      const { code, out, err } = await gardenCli(store)(args, { store: null });
      assert.deepEqual([code, out], [2, ''], args.join(' '));
      assert.match(err, why);
      assert.equal(complaintsIn(err).length, 1);
    }
    assert.deepEqual(
      store.list().filter((name) => name !== '.cache'),
      ['agent'],
    ); // what the program is compiled into
  });
});
