import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { commandLine } from '../../test/kit/command-line.ts';
import { newItem } from '../../test/kit/new-item.ts';
import { scratch } from '../../test/kit/scratch.ts';

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Command lines in a home of their own, with no tray process there. */
function at(home: string) {
  const run = async (args: readonly string[], stdin = '', env: Readonly<Record<string, string>> = {}): Promise<Ran> => {
    const { code, out, err } = await commandLine(['inbox', ...args], { HIVEBAR_HOME: home, ...env }, stdin);
    return { code, stdout: out, stderr: err };
  };
  const good = async (...args: Parameters<typeof run>): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, ''], args[0].join(' '));
    return stdout;
  };
  const items = async (persona: string, which = '--all'): Promise<Record<string, unknown>[]> =>
    JSON.parse(await good(['list', persona, which, '--json']));
  const announce = async (persona: string, id: string): Promise<void> => {
    const { code, err } = await commandLine(['session', 'set', persona, '--id', id], { HIVEBAR_HOME: home });
    assert.deepEqual([code, err], [0, '']);
  };
  return { run, good, items, announce };
}

describe('inbox push', () => {
  test('says the id it got; without flags it is of type agent, priority 2, for any session, for ever', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    assert.equal(await good(['push', '--to', 'ada', 'two', 'words']), 'pushed 1 to ada\n');
    const [item] = await items('ada');
    const { created, dedupKey, ...rest } = item ?? {};
    assert.match(String(created), /^20/);
    assert.notEqual(dedupKey, null);
    const marks = { session: null, broadcast: false, expires: null, origin: null, read: null, delivered: null };
    assert.deepEqual(rest, {
      id: 1,
      persona: 'ada',
      type: 'agent',
      source: 'cli',
      priority: 2,
      content: 'two words',
      ...marks,
    });
  });

  test('with every flag', async () => {
    using home = scratch();
    const { good, items, announce } = at(home.dir);
    await announce('ada', 's1');
    const flags = ['--type', 'alert', '--source', 'ci', '--priority', '0', '--ttl', '10m', '--dedup-key', 'run-42'];
    assert.equal(
      await good(['push', ...flags, '--bead', 'ada', '--session', 's1', 'red']),
      'pushed 1 to ada, session s1\n',
    );
    const [item] = await items('ada', '--pending');
    const { type, source, priority, session, dedupKey, created, expires } = item ?? {};
    assert.deepEqual([type, source, priority, session, dedupKey], ['alert', 'ci', 0, 's1', 'run-42']);
    assert.equal(Date.parse(String(expires)) - Date.parse(String(created)), 600_000);
  });

  test('the same key again is there already, and is not stored twice', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    await good(['push', '--to', 'ada', '--dedup-key', 'k', 'one']);
    assert.equal(await good(['push', '--to', 'ada', '--dedup-key', 'k', 'two']), '1 for ada exists already (k)\n');
    assert.deepEqual(
      (await items('ada')).map(({ content }) => content),
      ['one'],
    );
  });

  test('A8 given a session that ended, what waits for it goes to the next session of the persona, priority 0 too', async () => {
    using home = scratch();
    const { run, good, items, announce } = at(home.dir);
    await announce('ada', 's1');
    await announce('ada', 's2');
    for (const priority of ['0', '3'])
      await good(['push', '--to', 'ada', '--session', 's1', '--priority', priority, `of priority ${priority}`]);
    const pendingFor = (session: string) => {
      using db = openDatabase(home.at('hivebar.sqlite'));
      return openItems({ db, clock: realClock }).pending('ada', session);
    };
    assert.deepEqual(pendingFor('s2'), [0, 0, 0, 0, 0], 'the session is not over');
    assert.equal((await commandLine(['session', 'end', 'ada', '--id', 's1'], { HIVEBAR_HOME: home.dir })).code, 0);
    assert.equal(
      await good(['push', '--to', 'ada', '--session', 's1', 'too late']),
      'pushed 3 to ada, session s1, which is over: the next session is shown it\n',
    );
    assert.deepEqual(pendingFor('s2'), [1, 0, 1, 1, 0]);
    assert.deepEqual(
      (await items('ada', '--pending')).map(({ session }) => session),
      [null, null, null],
    );
    const { code, stdout, stderr } = await run(['push', '--to', 'ada', '--session', 'nobody', 'x']);
    assert.deepEqual([code, stdout], [0, 'pushed 4 to ada, session nobody\n']);
    assert.match(
      stderr,
      /nobody announced session nobody: the item waits for it, and goes to any session of ada after a day/,
    );
  });

  test('A6 given a key that another persona has, it is stored; with --json the exit code tells what was there already', async () => {
    using home = scratch();
    const { run, items } = at(home.dir);
    const push = async (to: string) => {
      const { code, stdout } = await run(['push', '--to', to, '--dedup-key', 'k', '--json', 'text']);
      const { id, persona, new: isNew } = JSON.parse(stdout) as { id: number; persona: string; new: boolean };
      return [code, id, persona, isNew];
    };
    assert.deepEqual(await push('ada'), [0, 1, 'ada', true]);
    assert.deepEqual(await push('bo'), [0, 2, 'bo', true]);
    assert.deepEqual(await push('ada'), [3, 1, 'ada', false]);
    assert.equal((await items('bo', '--pending')).length, 1);
  });

  test('A6 given one key in a push and in the queue files of two personas, the rule is the same: each persona has it once', async () => {
    using home = scratch();
    const { run, good, items, announce } = at(home.dir);
    await announce('ada', 's1');
    await announce('bo', 's2');
    await good(['push', '--to', 'ada', '--dedup-key', 'k', 'pushed']);
    {
      using db = openDatabase(home.at('hivebar.sqlite'));
      const over = { to: { is: 'persona', name: 'bo' }, dedupKey: 'over', created: 1, expires: 2 } as const;
      openItems({ db, clock: realClock }).push([newItem({ ...over, content: 'seen by nobody' })]);
    }
    mkdirSync(home.at('inject-queue'), { mode: 0o700 });
    for (const id of ['s1', 's2']) {
      const lines = ['k', 'over'].map((key) => `${JSON.stringify({ content: `queued ${key}`, dedup_key: key })}\n`);
      home.write(`inject-queue/${id}.jsonl`, lines.join(''));
    }
    // A drain clears away what expired, behind its own queue: bo's comes first, while the item is there.
    for (const persona of ['bo', 'ada']) assert.equal((await run(['drain', persona])).code, 0);
    const contents = async (persona: string) => (await items(persona)).map(({ content }) => content).sort();
    assert.deepEqual(await contents('ada'), ['pushed', 'queued over']);
    assert.deepEqual(await contents('bo'), ['queued k', 'queued over'], 'what expired blocked nothing, and is gone');
  });

  test('inbox-gates 8.5: two different texts of one source in the same millisecond are two items', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => good(['push', '--to', 'ada', '--source', 'ci', `text ${n}`])),
    );
    assert.equal((await items('ada')).length, 20);
  });

  test('inbox-gates 8.6: priority 0 is 0 on every type', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    const types = ['decision', 'alert', 'event', 'agent', 'mail', 'gate', 'system'];
    for (const type of types) await good(['push', '--to', 'ada', '--type', type, '--priority', '0', 'x']);
    assert.deepEqual(
      (await items('ada')).map(({ type, priority }) => [type, priority]),
      types.toReversed().map((type) => [type, 0]),
    );
  });

  test('without words the text comes from stdin, its last line break cut off; the source is the persona it works for', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    await good(['push', '--to', 'ada'], 'one\ntwo\r\n', { HIVEBAR_PERSONA: 'bo' });
    await good(['push', '--to', 'ada', '--', '--help', '-x']);
    assert.deepEqual(
      (await items('ada')).map(({ content, source }) => [content, source]),
      [
        ['--help -x', 'cli'],
        ['one\ntwo', 'bo'],
      ],
    );
  });

  test('to a session alone: the persona that announced it last; one that nobody announced is told of, exit 1', async () => {
    using home = scratch();
    const { run, good, items, announce } = at(home.dir);
    await announce('bo', 's1');
    await announce('ada', 's1');
    assert.equal(await good(['push', '--session', 's1', 'hi']), 'pushed 1 to ada, session s1\n');
    assert.equal((await items('bo')).length, 0);
    const { code, stdout, stderr } = await run(['push', '--session', 's\u001b2', 'hi']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^hivebar inbox: no persona is known for session s\\u001b2: .*hivebar session list\n$/);
  });

  test('to everyone: each has it until it was shown it', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    for (const name of ['ada', 'bo']) await good(['push', '--to', name, 'x']);
    assert.equal(await good(['push', '--broadcast', '--type', 'system', 'down in 10 min']), 'pushed 3 to everyone\n');
    for (const name of ['ada', 'bo', 'later'])
      assert.deepEqual((await items(name, '--pending')).filter(({ broadcast }) => broadcast).length, 1, name);
    assert.match(await good(['show', 'ada', '3']), /^#3 from cli, .*\n {2}down in 10 min\n$/);
    assert.match(await good(['list', 'ada', '--pending']), /^pending {8}3 {2}\S+ {2}system 2 {2}cli to everyone: down/);
  });

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['push', 'x'], /the recipient is missing: use --to, --session or --broadcast/],
    [['push', '--to', '', 'x'], /--to is empty/],
    [['push', '--session', '', 'x'], /--session is empty/],
    [['push', '--to', 'ada'], /the text is missing/],
    [['push', '--to', 'ada', '--bead', 'bo', 'x'], /only one of --to and --bead/],
    [['push', '--broadcast', '--to', 'ada', 'x'], /--broadcast cannot be combined with/],
    [['push', '--broadcast', '--session', 's', 'x'], /--broadcast cannot be combined with/],
    [['push', '--to', 'ada', '--type', 'shout', 'x'], /--type shout: must be one of decision, alert,/],
    [['push', '--to', 'ada', '--priority', '5', 'x'], /--priority 5: must be a number from 0 \(critical\) to 4/],
    [['push', '--to', 'ada', '--priority', '', 'x'], /--priority : must be a number from 0/],
    [['push', '--to', 'ada', '--ttl', '10', 'x'], /--ttl 10: must be a duration/],
    [['push', '--to', 'ada', '--ttl', '0m', 'x'], /--ttl 0m: must be a duration/],
    [['push', '--to', 'ada\u0007', 'x'], /"to" must not contain control characters/],
    [['push', '--to', 'ada', '--limit', '3', 'x'], /inbox push: unknown flag --limit/],
    [['push', '--to', 'ada', '--dedup-key', 'Hivebar:gate:x', 'x'], /must not begin with hivebar:/],
    [['list', 'ada', '--all', '--delivered'], /only one of --all, --pending and --delivered/],
    [['list', 'ada', '--ttl', '1m'], /inbox list: unknown flag --ttl/],
    [['list', 'ada', '--all', '--limit', '0'], /0 is not a whole number above 0/],
    [['show', 'ada', '--all'], /inbox show: unknown flag --all/],
    [['list'], /inbox list: PERSONA is missing/],
  ];
  test('a wrong command line exits 2, names the value, and stores nothing', async (t) => {
    using home = scratch();
    const { run } = at(home.dir);
    for (const [args, words] of wrong) {
      await t.test(args.join(' '), async () => {
        const { code, stdout, stderr } = await run(args);
        assert.deepEqual([code, stdout], [2, '']);
        assert.match(stderr, words);
        assert.match(stderr, /see hivebar inbox --help\n$/);
      });
    }
    assert.equal((await run(['list', 'ada', '--all'])).stdout, 'ada has no items\n');
  });
});

describe('inbox list of items', () => {
  test('newest first, with what became of each; mail that was sent is among them', async () => {
    using home = scratch();
    const { good, announce } = at(home.dir);
    await announce('ada', 's1');
    await good(['push', '--to', 'ada', '--session', 's1', 'a \u001b[2J']);
    await good(['push', '--to', 'ada', '--type', 'event', 'b']);
    await good(['read', 'ada', '1']);
    assert.match(
      await good(['list', 'ada', '--all']),
      /^pending {8}2 {2}\S+Z {2}event 2 {2}cli: b\nread {11}1 {2}\S+Z {2}agent 2 {2}cli for session s1: a \\u001b\[2J\n$/,
    );
    assert.match(await good(['list', 'ada', '--pending', '--limit', '5']), /^pending {8}2 .*\n$/);
    assert.equal(await good(['list', 'ada', '--delivered']), 'ada has no delivered items\n');
    assert.equal(await good(['list', 'ghost', '--pending']), 'ghost has no pending items\n');
    assert.deepEqual(JSON.parse(await good(['list', 'ghost', '--delivered', '--json'])), []);
  });

  test('the list of messages shows what was pushed as it shows mail', async () => {
    using home = scratch();
    const { good } = at(home.dir);
    await good(['push', '--to', 'ada', '--source', 'ci', 'red']);
    assert.match(await good(['list', 'ada']), /^\* {6}1 {2}\S+Z {2}ci: red\n$/);
    assert.match(await good(['list'], '', { HIVEBAR_PERSONA: 'ada' }), /ci: red\n$/);
  });

  test('inbox-gates 8.13e: what one reads of a broadcast stays unread for the other', async () => {
    using home = scratch();
    const { good, items } = at(home.dir);
    for (const name of ['ada', 'bo']) await good(['push', '--to', name, 'x']);
    await good(['push', '--broadcast', 'all']);
    await good(['read', 'ada']);
    assert.equal((await items('ada', '--pending')).length, 0);
    assert.equal((await items('bo', '--pending')).length, 2);
  });
});
