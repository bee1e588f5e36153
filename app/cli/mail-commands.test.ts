import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { openDatabase } from '../../core/state/index.ts';
import { commandLine } from '../../test/kit/command-line.ts';

const homes: string[] = [];
let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hivebar-cli-'));
  homes.push(home);
});
after(() => {
  for (const each of homes) rmSync(each, { recursive: true, force: true });
});

/** One command line in a home of its own, with no tray process there. */
async function hivebar(args: readonly string[], stdin = '', env: Readonly<Record<string, string>> = {}) {
  const { code, out: stdout, err: stderr } = await commandLine(args, { HIVEBAR_HOME: home, ...env }, stdin);
  return { code, stdout, stderr };
}

const good = async (args: readonly string[], stdin?: string): Promise<string> => {
  const { code, stdout, stderr } = await hivebar(args, stdin);
  assert.deepEqual([code, stderr], [0, ''], args.join(' '));
  return stdout;
};

const sendTo = (to: string, ...words: string[]): Promise<string> =>
  good(['send', '--to', to, '--from', 'me', ...words]);

/** The marks and ids that `inbox list` shows. */
const marks = async (persona: string): Promise<string[]> =>
  (await good(['inbox', 'list', persona]))
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(0, 8));

describe('send', () => {
  test('says which id it got, and where it went', async () => {
    assert.equal(await sendTo('ada', 'one'), 'sent 1 to ada\n');
    assert.equal(await sendTo('bo', 'two', 'words'), 'sent 2 to bo\n');
    assert.match(await good(['inbox', 'show', 'bo']), /\n {2}two words\n$/);
  });

  test('without words the text comes from stdin, its last line break cut off', async () => {
    for (const text of ['one line', 'two\nlines', ' "quotes" \\ \u2028 é 😀 \t ', '--help', 'x'.repeat(900_000)]) {
      await good(['send', '--to', 'ada', '--from', 'ci', '--urgent'], `${text}\n`);
      const [message] = JSON.parse(await good(['inbox', 'show', 'ada', '--json']));
      assert.deepEqual([message.content, message.urgent, message.from], [text, true, 'ci']);
    }
  });

  test('a name one letter away from a known one is asked about, and used with --create', async () => {
    await sendTo('ada', 'first');
    const asked = 'there is no persona adaa: did you mean ada? Send with --create to make a new one';
    const sent = await hivebar(['send', '--to', 'adaa', '--from', 'me', 'x']);
    assert.deepEqual([sent.code, sent.stdout], [2, '']);
    assert.equal(sent.stderr, `hivebar send: ${asked}: see hivebar send --help\n`);
    const pushed = await hivebar(['inbox', 'push', '--to', 'adaa', 'x']);
    assert.deepEqual([pushed.code, pushed.stdout], [2, '']);
    assert.equal(pushed.stderr, `hivebar inbox: ${asked}: see hivebar inbox --help\n`);
    assert.equal((await hivebar(['send', '--to', 'Ada', '--from', 'me', 'x'])).code, 2);
    assert.equal(await sendTo('adaa', '--create', 'x'), 'sent 2 to adaa\n');
    assert.equal(await sendTo('adaa', 'it is known now'), 'sent 3 to adaa\n');
    assert.match(await good(['inbox', 'push', '--to', 'adab', '--create', 'x']), /^pushed 4 to adab/);
  });

  test('a name near nobody is new, and a persona that only announced a session is known', async () => {
    assert.equal(await sendTo('zoe', 'x'), 'sent 1 to zoe\n');
    await good(['session', 'set', 'berta', '--id', 's1', '--cwd', home]);
    const { code, stderr } = await hivebar(['send', '--to', 'bertha', '--from', 'me', 'x']);
    assert.equal(code, 2);
    assert.match(stderr, /did you mean berta\?/);
    assert.equal(await sendTo('berta', 'x'), 'sent 2 to berta\n');
  });

  test('what looks like a flag is text behind --', async () => {
    await sendTo('ada', '--', '--help', '-x');
    assert.match(await good(['inbox', 'show', 'ada']), /\n {2}--help -x\n$/);
  });

  test('B6 given a name with characters that cannot be seen, it is refused, and shown by numbers', async () => {
    for (const name of ['\u202eada', 'ada\u200b', 'a\u00adda']) {
      const { code, stderr } = await hivebar(['send', '--to', name, '--from', 'me', 'hi']);
      assert.equal(code, 2);
      assert.match(stderr, /^hivebar send: "to" must not contain invisible characters, not "[\\ -~]+": see/);
    }
    assert.match(await sendTo('نمی‌خواهم', 'hi'), /^sent 1 to نمی‌خواهم\n$/, 'letters that are joined may be');
  });
});

describe('inbox', () => {
  test('B6 given a sender and texts with what nobody sees, list and show give its numbers, and joined letters as they are', async () => {
    await sendTo('ada', 'first\nsecond');
    await sendTo('ada', 'نمی‌خواهم 👩‍👧 \u202eexe \u001b[2J');
    {
      // As an earlier version took it: such a name is refused today.
      using db = openDatabase(join(home, 'hivebar.sqlite'));
      db.prepare(
        "INSERT INTO inbox (persona, from_, urgent, created, content) VALUES ('ada', ?, 0, 1, 'from another')",
      ).run('ada\u200b\u001b[31m');
    }
    const listed = (await good(['inbox', 'list', 'ada'])).trimEnd().split('\n');
    const texts = listed.map((line) => line.slice(line.indexOf('Z  ') + 3));
    assert.deepEqual(texts, [
      'ada\\u200b\\u001b[31m: from another',
      'me: نمی‌خواهم 👩‍👧 \\u202eexe \\u001b[2J',
      'me: first second',
    ]);
    assert.match(await good(['inbox', 'show', 'ada', '3']), /^#3 from ada\\u200b\\u001b\[31m, /);
    assert.match(await good(['inbox', 'show', 'ada', '2']), /\n {2}نمی‌خواهم 👩‍👧 \\u202eexe \\u001b\[2J\n$/);
    const all = await good(['inbox', 'list', 'ada', '--json']);
    assert.doesNotMatch(all.replaceAll('\n', ''), /[\p{Cc}\u200b\u202e]/u);
    assert.equal(JSON.parse(all)[0].from, 'ada\u200b\u001b[31m');
  });

  test('list and show mark nothing; read marks what it shows, and only that', async () => {
    for (const text of ['one', 'two', 'three']) await sendTo('ada', text);
    assert.deepEqual(await marks('ada'), ['*      3', '*      2', '*      1']);
    assert.match(await good(['inbox', 'show', 'ada']), /^#3 from me, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n {2}three\n$/);
    await good(['inbox', 'show', 'ada', '1', '2']);
    assert.deepEqual(await marks('ada'), ['*      3', '*      2', '*      1']);
    assert.match(await good(['inbox', 'read', 'ada', '2']), /^#2 from me, .*\n {2}two\n$/);
    assert.deepEqual(await marks('ada'), ['*      3', '       2', '*      1']);
    const all = await good(['inbox', 'read', 'ada']);
    assert.deepEqual(all.match(/^#\d/gm), ['#1', '#3'], 'oldest first');
    assert.equal(await good(['inbox', 'read', 'ada']), 'ada has no unread mail\n');
  });

  test('a message that is not there is said, the others are shown, and the exit code is 1', async () => {
    await sendTo('ada', 'one');
    const { code, stdout, stderr } = await hivebar(['inbox', 'read', 'ada', '9', '1']);
    assert.deepEqual([code, stderr], [1, 'hivebar inbox: ada has no message 9\n']);
    assert.match(stdout, /^#1 /);
    assert.equal((await hivebar(['inbox', 'show', 'bo', '1'])).code, 1, "another's message is not there either");
  });

  test('--limit and --json', async () => {
    for (const text of ['one', 'two', 'three']) await sendTo('ada', text);
    const rows = JSON.parse(await good(['inbox', 'list', 'ada', '--limit', '2', '--json']));
    assert.deepEqual(
      rows.map((row: { id: number; read: boolean }) => [row.id, row.read]),
      [
        [3, false],
        [2, false],
      ],
    );
    const long = 'x'.repeat(5000);
    await good(['inbox', 'push', '--to', 'ada', '--priority', '0', '--source', 'ci', long]);
    const [whole] = JSON.parse(await good(['inbox', 'list', 'ada', '--limit', '1', '--json']));
    const { created, ...rest } = whole;
    assert.match(created, /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(rest, {
      ...{ id: 4, from: 'ci', to: 'ada', content: long, subject: null, truncated: false },
      ...{ urgent: true, priority: 0, read: false },
    });
    assert.match(await good(['inbox', 'list', 'ada', '--limit', '1']), /^\*! {5}4 {2}/);
    assert.equal(await good(['inbox', 'list', 'nobody']), 'nobody has no mail\n');
    assert.equal(await good(['inbox', 'list', 'nobody', '--json']), '[]\n');
    assert.equal(await good(['inbox', 'show', 'nobody', '--json']), '[]\n');
  });

  test('message delete takes messages out of one inbox, and says which were not there', async () => {
    for (const text of ['one', 'two']) await sendTo('ada', text);
    assert.equal(await good(['message', 'delete', 'ada', '1']), 'deleted 1 of ada\n');
    assert.deepEqual(await marks('ada'), ['*      2']);
    const { code, stdout, stderr } = await hivebar(['message', 'delete', 'ada', '1', '2']);
    assert.deepEqual([code, stdout, stderr], [1, 'deleted 2 of ada\n', 'hivebar message: ada has no message 1\n']);
    assert.equal((await hivebar(['message', 'delete', 'ada', 'x'])).code, 2);
  });

  test('mail that a terminal would act on is shown harmless, each of its lines on one line', async () => {
    await sendTo('ada', 'red \u001b[31m\u0007\r\nnext\u2028');
    const shown = await good(['inbox', 'show', 'ada']);
    for (const character of ['\u001b', '\u0007', '\u2028']) assert.ok(!shown.includes(character));
    assert.equal(shown.split('\n').length, 4);
    assert.equal((await good(['inbox', 'list', 'ada'])).split('\n').length, 2);
  });
});

test('demo brings four personas with mail; one of them has read hers', async () => {
  const first = await good(['demo']);
  assert.match(first, /^sent 7 messages to ada, bo, cyrus and dora\n/);
  assert.match(first, /^see them with: hivebar, then hivebar open in another terminal$/m, 'nothing runs here');
  assert.doesNotMatch(first, /hivebar status/, 'which would fail');
  await good(['demo']);
  const asked = (await good(['decision', 'list', '--open'])).trim().split('\n');
  assert.equal(asked.length, 1, 'and one decision, also the second time');
  assert.match(asked[0] ?? '', /ada/);
  const unread = async (persona: string): Promise<number> =>
    (await marks(persona)).filter((line) => line.startsWith('*')).length;
  assert.deepEqual(await Promise.all(['ada', 'bo', 'cyrus', 'dora'].map(unread)), [4, 2, 6, 0]);
});

describe('a wrong command line exits 2 with the value and the next step, and touches nothing', () => {
  const wrong: readonly (readonly [args: readonly string[], words: RegExp, env?: Readonly<Record<string, string>>])[] =
    [
      [['send', '--from', 'me', 'x'], /--to is missing/],
      [['send', '--to', 'ada', 'x'], /--from is missing/],
      [['send', '--to', 'ada', '--from', 'me'], /the text is missing/],
      [['send', '--to', 'ada', '--from', 'me', '--loud', 'x'], /--loud/],
      [['inbox'], /list, show, read, search, push or drain/],
      [['inbox', 'mark', 'ada'], /list, show, read, search, push or drain/],
      [['inbox', 'read'], /inbox read: PERSONA is missing/],
      [['inbox', 'show', 'ada', 'x'], /x is not a whole number/],
      [['inbox', 'list', 'ada', '3'], /inbox list: unexpected argument 3/],
      [['inbox', 'list', 'ada', '--limit', '0'], /0 is not a whole number above 0/],
      [['demo', 'extra'], /extra/],
      [['run', 'extra'], /extra/],
      [['--tray-driver', 'gtk'], /--tray-driver gtk: must be sni, systray2 or none/],
      [['--no-tray', '--tray-driver', 'sni'], /--tray-driver and --no-tray/],
      [['--port', '70000'], /--port 70000: must be a port number from 0 to 65535/],
      [['--port', 'http'], /--port http: must be/],
      [['--port=-1'], /--port -1: must be/],
      [[], /HIVEBAR_PORT 7475x: must be/, { HIVEBAR_PORT: '7475x' }],
    ];
  for (const [args, words, env] of wrong) {
    test(`hivebar ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await hivebar(args, '', env);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, words);
      assert.match(stderr, /: see hivebar (send|inbox|demo|run) --help\n$/);
      assert.equal(existsSync(join(home, 'hivebar.sqlite')), false);
    });
  }

  test('names that are none', async () => {
    for (const [to, words] of [
      ['a\nb', /"to" must not contain control characters/],
      [' ', /"to" must be a name/],
      ['x'.repeat(201), /200 characters at most/],
    ] as const) {
      const { code, stderr } = await hivebar(['send', '--to', to, '--from', 'me', 'x']);
      assert.equal(code, 2);
      assert.match(stderr, words);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    }
  });
});

test('demo --remove takes away what demo made, and nothing that a person added', async () => {
  await good(['demo']);
  await good(['demo']);
  await sendTo('bo', 'mine');
  assert.equal(
    await good(['demo', '--remove']),
    'removed 14 messages and 1 decision, and ada, cyrus, dora, who had nothing else\n',
  );
  const left = JSON.parse(await good(['persona', 'list', '--json'])) as { name: string; messages: number }[];
  assert.deepEqual(
    left.map(({ name, messages }) => [name, messages]),
    [['bo', 1]],
  );
  assert.match(await good(['inbox', 'show', 'bo']), /mine/);
  assert.equal((await good(['decision', 'list'])).includes('ada'), false);
  assert.equal(await good(['demo', '--remove']), 'removed 0 messages and 0 decisions\n');
});

test('persona remove says what is lost, and asks; a wrong name is answered with the nearest', async () => {
  for (const text of ['one', 'two']) await sendTo('adaa', '--create', text);
  await sendTo('bo', 'stays');
  const wrong = await hivebar(['persona', 'remove', 'ada']);
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  assert.match(wrong.stderr, /the local hive has no ada: did you mean adaa\?/);
  const asked = await hivebar(['persona', 'remove', 'adaa']);
  assert.deepEqual([asked.code, asked.stdout], [2, '']);
  assert.match(
    asked.stderr,
    /^adaa: 2 messages \(2 unread\), 0 decisions, 0 sessions, its gates and its event file are removed/,
  );
  const { code, stdout } = await hivebar(['persona', 'remove', 'adaa', '--yes']);
  assert.deepEqual([code, stdout], [0, 'removed adaa\n']);
  assert.match(await good(['persona', 'list']), /^bo {2}1 message, 1 unread, since \d{4}-\S+\n$/);
  assert.equal(await sendTo('adaa', '--create', 'new'), 'sent 4 to adaa\n', 'ids go on');
});
