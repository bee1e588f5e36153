import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { openDecisions } from '../../core/inbox/decisions/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { asks } from '../kit/decisions.ts';
import { type Cli, runCli, startCli } from '../kit/process.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const ASK = ['decision', 'create', '--as', 'ada', '--option', 'a=the long way', '--option', 'b:Short=the short way'];

interface DecisionView {
  readonly id: number;
  readonly state: string;
  readonly choice: string | null;
  readonly text: string | null;
  readonly by: string | null;
  readonly next: number | null;
}

async function ask(home: TrayHome, ...more: string[]): Promise<number> {
  const { code, stdout, stderr } = await home.run([...ASK, '--json', ...more, 'Which way?']);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return (JSON.parse(stdout) as DecisionView).id;
}

async function show(home: TrayHome, id: number): Promise<DecisionView> {
  return JSON.parse((await home.run(['decision', 'show', String(id), '--json'])).stdout) as DecisionView;
}

/** What was pushed to ada, by key; read without any command of ours, which would mend first. */
function pushed(home: TrayHome): readonly string[] {
  using db = openDatabase(home.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  return items.list('ada', 'all', 1000).map(({ dedupKey }) => dedupKey);
}

describe('hivebar decision', () => {
  test('asks, lists, shows and answers, in words and in JSON, with hivebar closed', async () => {
    using home = trayHome();
    const asked = await home.run([...ASK, '--context', 'It rains.', 'Which', 'way?']);
    assert.equal(asked.stdout, 'decision 1 asked by ada: wait with hivebar decision wait 1\n');
    assert.match((await home.run(['decision', 'list', '--open'])).stdout, /^ +1 {2}open {2}ada {2}Which way\?\n$/);
    const { stdout } = await home.run(['decision', 'show', '1']);
    for (const words of [
      /^#1 open, asked by ada/,
      /\n {2}It rains\.\n/,
      /\n {2}b {2}the short way\n/,
      /respond 1 --select ID/,
    ])
      assert.match(stdout, words);
    const done = await home.run(['decision', 'respond', '1', '--select', 'b', '--text', 'run']);
    assert.deepEqual([done.code, done.stdout], [0, 'decision 1: answered by operator: b (the short way)\n  run\n']);
    assert.equal((await home.run(['decision', 'list', '--open'])).stdout, 'no decision is open\n');
    const { state, choice, text, by } = await show(home, 1);
    assert.deepEqual([state, choice, text, by], ['resolved', 'b', 'run', 'operator']);
    assert.match(
      (await home.run(['inbox', 'show', 'ada'])).stdout,
      /You asked: Which way\?\n {2}Chosen: b \(the short way\)\n {2}Note: run/,
    );
  });

  test('says what is chosen by itself and what words do; words alone answer a question without options', async () => {
    using home = trayHome();
    await ask(home, '--default', 'a');
    const { stdout } = await home.run(['decision', 'show', '1']);
    assert.match(stdout, /\n {2}a {2}the long way {2}\(chosen by itself in (23 h|1 d)\)\n {2}b {2}the short way\n/);
    assert.match(stdout, /\nhave it asked again with your guidance: hivebar decision respond 1 --text TEXT\n/);
    const again = await home.run(['decision', 'respond', '1', '--text', 'a third way']);
    assert.equal(again.stdout, 'decision 1: operator gives guidance; it is asked again as 2\n  a third way\n');
    assert.equal((await home.run(['decision', 'create', '--as', 'ada', 'Which name?'])).code, 0);
    assert.match((await home.run(['decision', 'show', '3'])).stdout, /respond 3 --text TEXT, until \S+\n$/);
    const done = await home.run(['decision', 'respond', '3', '--text', 'Bee']);
    assert.equal(done.stdout, 'decision 3: answered by operator\n  Bee\n');
  });

  test('C1 given the key of its answer planted by others, what a person answered is what the agent reads, and is proved', async () => {
    using home = trayHome();
    const push = (...args: string[]) => home.run(['inbox', 'push', '--to', 'ada', ...args]);
    assert.equal(
      (await push('--dedup-key', 'decision:1', '--type', 'decision', '--source', 'operator', 'Chosen: b')).code,
      0,
    );
    const refused = await push('--dedup-key', 'hivebar:decision:1', 'Chosen: b');
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /must not begin with hivebar:, which is reserved for Hivebar/);
    await ask(home);
    assert.equal((await home.run(['decision', 'respond', '1', '--select', 'a'])).code, 0);
    assert.match(
      (await home.run(['inbox', 'show', 'ada', '2'])).stdout,
      /^#2 from operator, \S+, origin: hivebar\n[\s\S]*Chosen: a/,
    );
    const drained = (await home.run(['inbox', 'drain', 'ada'])).stdout;
    assert.deepEqual(
      [...drained.matchAll(/<item id="(\d+)" type="decision" [^>]*?( origin="hivebar")?>/g)].map(([, id, proof]) => [
        id,
        proof,
      ]),
      [
        ['2', ' origin="hivebar"'],
        ['1', undefined],
      ],
    );
    assert.match(drained, /Only what bears origin="hivebar" in its tag is said by Hivebar itself/);
  });

  test('C4 C7 given an answer, the person has no more unread than before; the list says what was answered', async () => {
    using home = trayHome();
    await using tray = await home.start();
    await home.run(['send', '--to', 'ada', '--from', 'bo', 'hello']);
    await ask(home, '--urgency', 'high');
    await tray.until('the question', ({ decisions }) => decisions.length === 1);
    await home.run(['decision', 'respond', '1', '--select', 'b', '--text', 'run']);
    await until('the agent has its event', () => home.mail('ada').length === 2);
    const line = home.events('ada').find(({ event, id }) => event === 'new' && id === 2);
    assert.deepEqual([line?.origin, line?.wake_class, line?.from], ['hivebar', 'mail', 'operator']);
    const { totals, personas } = await tray.until('no question', ({ decisions }) => decisions.length === 0);
    assert.deepEqual([totals.unread, totals.urgent], [1, 0]);
    assert.deepEqual(
      personas.map(({ unread, urgent }) => [unread, urgent]),
      [[1, 0]],
    );
    const pending = (await (await fetch(`${tray.url}/api/notify/pending`)).json()) as { result: unknown };
    assert.deepEqual(
      pending.result,
      [{ persona: 'ada', unread: 2, unread_urgent: 1 }],
      'who watches for the agent has both',
    );
    assert.match(
      (await home.run(['decision', 'list'])).stdout,
      /^ +1 {2}resolved {2}ada {2}Which way\? {2}-> b \(the short way\) by operator: run\n$/,
    );
  });

  test('says with its exit code what a wait came to', async () => {
    using home = trayHome();
    const wait = async (id: number, ...more: string[]) =>
      (await home.run(['decision', 'wait', String(id), ...more])).code;
    assert.equal(await wait(1), 1);
    await ask(home);
    assert.equal(await wait(1, '--limit', '1s'), 3);
    await home.run(['decision', 'respond', '1', '--text', 'cheaper']);
    assert.equal(await wait(1), 4);
    await home.run(['decision', 'respond', '2', '--select', 'a']);
    assert.equal(await wait(2), 0);
    assert.equal(await wait(await ask(home, '--timeout', '1s')), 5);
    assert.equal(await wait(await ask(home, '--timeout', '1s', '--default', 'b')), 0);
    const last = await ask(home);
    await home.run(['decision', 'cancel', String(last), '--reason', 'never mind']);
    assert.equal(await wait(last), 6);
    assert.deepEqual(
      pushed(home),
      [1, 2, 3, 4, 5].map((id) => `hivebar:decision:${id}`),
    );
  });

  test('refuses what is no answer, and a bad command line, before anything is asked', async () => {
    using home = trayHome();
    for (const [args, code] of [
      [['decision'], 2],
      [[...ASK, '--limit', '1m', 'Which?'], 2],
      [[...ASK, '--wait', '--limit', 'soon', 'Which?'], 2],
      [[...ASK, '--timeout', '0s', 'Which?'], 2],
      [[...ASK, '--select', 'a', 'Which?'], 2],
      [['decision', 'create', '--option', 'a=A', 'Which?'], 2],
      [['decision', 'show', 'one'], 2],
      [['decision', 'respond', '1'], 1],
      [['decision', 'respond', '1', '--text', ' '], 1],
      [['decision', 'respond', '1', '--select', 'a'], 1],
    ] as const) {
      const ended = await home.run(args);
      assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`);
      assert.notEqual(ended.stderr, '');
    }
    assert.equal((await home.run(['decision', 'list'])).stdout, 'there is no decision\n');
  });

  test('knows who asks by the environment, or by the session that is kept for the folder', async () => {
    using home = trayHome();
    const cwd = home.at('work');
    mkdirSync(cwd, { recursive: true });
    const env = { ...home.env };
    const create = ['decision', 'create', '--free-text', '--json', 'What name?'];
    const persona = async (more: Readonly<Record<string, string>> = {}) => {
      const { code, stdout, stderr } = await runCli(create, { env: { ...env, ...more }, cwd });
      return code === 0 ? (JSON.parse(stdout) as { persona: string }).persona : stderr;
    };
    assert.match(await persona(), /cannot tell which persona works in .*use --as PERSONA/);
    assert.equal(await persona({ HIVEBAR_PERSONA: 'bo' }), 'bo');
    await runCli(['session', 'set', 'ada', '--pid', String(process.pid)], { env, cwd });
    assert.equal(await persona(), 'ada');
    await runCli(['session', 'set', 'cy', '--pid', String(process.pid)], { env, cwd });
    assert.match(await persona(), /cannot tell which persona works in/);
    await runCli(['session', 'end', 'cy'], { env, cwd });
    assert.equal(await persona(), 'ada');
  });
});

describe('a wait', () => {
  test('ends within moments of the answer of another process, and is marked as long as it lasts', async () => {
    using home = trayHome();
    const mark = home.at('gates', 'ada', 'decision-waiting.json');
    await using waiting = startCli([...ASK, '--wait', 'Which way?'], { env: home.env });
    await waiting.says(/decision 1 asked by ada; waiting/);
    await until('the mark', () => existsSync(mark) && readMark(mark) === 'decision');
    assert.equal((await home.run(['decision', 'respond', '1', '--select', 'a'])).code, 0);
    assert.equal((await waiting.ended()).code, 0);
    assert.deepEqual(waiting.lines, ['decision 1: answered by operator: a (the long way)']);
    assert.equal(readMark(mark), null);
    assert.equal(
      readMark(home.at('gates', 'ada', 'decision.json')),
      null,
      'nothing is registered that it would be for',
    );
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`ends cleanly with ${signal}: 3, the mark is gone, the decision open`, async () => {
      using home = trayHome();
      await ask(home);
      const mark = home.at('gates', 'ada', 'decision-waiting.json');
      await using waiting = startCli(['decision', 'wait', '1'], { env: home.env });
      await until('the mark', () => readMark(mark) === 'decision');
      waiting.kill(signal);
      assert.deepEqual(await waiting.ended(), { code: 3, signal: null });
      assert.match(waiting.stderr, /still open: continue with hivebar decision wait 1/);
      assert.equal(readMark(mark), null);
      assert.equal((await show(home, 1)).state, 'open');
    });
  }
});

describe('two waits of one persona', () => {
  /** For the decisions 1 and 2, both marked. */
  async function both(home: TrayHome) {
    for (let n = 0; n < 2; n += 1) await ask(home);
    const waits = [1, 2].map((id) => startCli(['decision', 'wait', String(id)], { env: home.env })) as [Cli, Cli];
    await until('both waits', () => waitsIn(home) === 2);
    return waits;
  }
  const isMarked = (home: TrayHome): boolean =>
    readMark(home.at('gates', 'ada', 'decision-waiting.json')) === 'decision';
  const mayStop = async (home: TrayHome, session: string): Promise<boolean> =>
    (await home.run(['gate', 'check', '--hook', 'Stop', '--persona', 'ada', '--session', session])).code === 0;

  test('the one that ends first leaves the mark to the other, and the last takes it away', async () => {
    using home = trayHome();
    const [first, second] = await both(home);
    await using _ = first;
    await using __ = second;
    assert.equal((await home.run(['decision', 'respond', '1', '--select', 'a'])).code, 0);
    assert.equal((await first.ended()).code, 0);
    assert.ok(isMarked(home));
    assert.ok(await mayStop(home, 's1'), 'it waits for the answer to 2');
    second.kill('SIGTERM');
    assert.equal((await second.ended()).code, 3);
    assert.ok(!isMarked(home));
    assert.ok(!(await mayStop(home, 's2')), '2 is open');
  });

  test('one that is killed takes nothing from the other, and nothing is left once both are over and it lapsed', async () => {
    using home = trayHome();
    const [first, second] = await both(home);
    await using _ = first;
    await using __ = second;
    first.kill('SIGKILL');
    await first.ended();
    assert.ok(isMarked(home));
    {
      // As if the time had passed in which a wait makes itself known again.
      using db = openDatabase(home.at('hivebar.sqlite'));
      db.exec('UPDATE decision_waits SET until = 1 WHERE id = 1 OR id = 2');
    }
    await home.run(['decision', 'respond', '1', '--select', 'a']);
    await home.run(['decision', 'respond', '2', '--select', 'a']);
    assert.equal((await second.ended()).code, 0);
    assert.ok(!isMarked(home));
    assert.equal(waitsIn(home), 0);
  });
});

describe('processes that answer', () => {
  test('at the same time: one answer holds, all others are told it, and one item is pushed', async () => {
    using home = trayHome();
    const id = await ask(home);
    const waits = [1].map(() => home.run(['decision', 'wait', String(id), '--json']));
    const answers = Array.from({ length: 4 }, (_, i) =>
      home.run(['decision', 'respond', String(id), '--select', i % 2 === 0 ? 'a' : 'b', '--by', `p${i}`, '--json']),
    );
    const ended = await Promise.all(answers);
    const reported = ended.map(({ stdout }) => JSON.parse(stdout) as { accepted: boolean; decision: DecisionView });
    assert.equal(reported.filter(({ accepted }) => accepted).length, 1);
    assert.deepEqual(
      ended.map(({ code }) => code),
      reported.map(({ accepted }) => (accepted ? 0 : 1)),
    );
    const { choice, by } = await show(home, id);
    assert.equal(by, `p${reported.findIndex(({ accepted }) => accepted)}`);
    for (const { decision } of reported) assert.deepEqual([decision.choice, decision.by], [choice, by]);
    for (const { stdout } of await Promise.all(waits))
      assert.equal((JSON.parse(stdout) as DecisionView).choice, choice);
    assert.deepEqual(pushed(home), [`hivebar:decision:${id}`]);
  });

  test('that race over a hundred decisions accept each once, and push each once', async () => {
    using home = trayHome();
    await ask(home);
    {
      using db = openDatabase(home.at('hivebar.sqlite'));
      const decisions = openDecisions({ db, ...PLAIN, items: openItems({ db, clock: realClock }) });
      for (let i = 1; i < 100; i += 1) decisions.create(asks());
    }
    const children = ['a', 'b', 'a'].map((select, i) =>
      spawn(process.execPath, ['--input-type=module', '-e', racing(home, select, `p${i}`)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    const output = children.map(({ stdout }) => {
      let text = '';
      stdout.on('data', (bytes: Buffer) => {
        text += bytes;
      });
      return () => text;
    });
    await until('all are ready', () => output.every((text) => text() === 'ready '));
    const ends = children.map((child) => once(child, 'close'));
    for (const child of children) child.stdin.end('go');
    await Promise.all(ends);
    const accepted = output.flatMap((text, i) =>
      text()
        .slice('ready '.length)
        .split(' ')
        .filter(Boolean)
        .map((id) => `${id} p${i}`),
    );
    using db = openDatabase(home.at('hivebar.sqlite'));
    const saved = openDecisions({ db, ...PLAIN, items: openItems({ db, clock: realClock }) })
      .list({ persona: 'ada', onlyOpen: false, limit: 1000 })
      .map(({ id, outcome }) => `${id} ${outcome.is === 'resolved' ? outcome.by : outcome.is}`);
    assert.deepEqual(accepted.toSorted(), saved.toSorted());
    assert.equal(saved.length, 100);
    assert.equal(new Set(pushed(home)).size, 100);
    assert.equal(pushed(home).length, 100);
  });

  test('seed 3: killed with -9 between the answer and the push, again and again: the next command pushes each, once', async () => {
    using home = trayHome();
    for (let id = 1; id <= 6; id += 1) {
      await ask(home);
      const at = id % 2 === 0 ? 'before' : 'after';
      const child = spawn(process.execPath, ['--input-type=module', '-e', dying(home, id, at)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [output] = (await once(child.stdout, 'data')) as [Buffer];
      assert.equal(output.toString(), at);
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.equal(pushed(home).includes(`hivebar:decision:${id}`), at === 'after');
      const { state, choice } = await show(home, id); // any command mends
      assert.deepEqual([state, choice], ['resolved', 'b']);
      assert.deepEqual(
        pushed(home),
        Array.from({ length: id }, (_, i) => `hivebar:decision:${i + 1}`),
      );
    }
  });

  test('killed with -9 at any moment: what was answered is pushed, once, and what was not can be', async () => {
    using home = trayHome();
    const respond = (id: number) => ['decision', 'respond', String(id), '--select', 'a'];
    await ask(home);
    const from = performance.now();
    assert.equal((await home.run(respond(1))).code, 0);
    const took = performance.now() - from;
    for (let id = 2; id <= 8; id += 1) {
      await ask(home);
      const start = performance.now();
      await using child = startCli(respond(id), { env: home.env });
      await until('a moment', () => performance.now() - start > took * (0.3 + id * 0.08));
      child.kill('SIGKILL');
      await child.ended();
      const { state } = await show(home, id);
      if (state === 'open') assert.equal((await home.run(respond(id))).code, 0);
    }
    assert.deepEqual(
      pushed(home),
      Array.from({ length: 8 }, (_, i) => `hivebar:decision:${i + 1}`),
    );
  });
});

describe('beside the tray process', () => {
  test('an answer from page or banner ends the wait, reaches the event file, and a second one is told', async () => {
    using home = trayHome();
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    await using waiting = startCli([...ASK, '--wait', '--json', 'Which way?'], { env: home.env });
    await waiting.says(/decision 1 asked/);
    const authorization = { authorization: `Bearer ${tray.token}` };
    const listed = (await (await fetch(`${tray.url}/api/v1/decisions`, { headers: authorization })).json()) as {
      decisions: DecisionView[];
    };
    assert.deepEqual(
      listed.decisions.map(({ id }) => id),
      [1],
    );
    type DecideAnswer = { readonly result: { readonly accepted: boolean; readonly decision: DecisionView } };
    const decide = async (select: string) =>
      ((await tray.post('/api/v1/actions/decide', { decision: 1, select })) as DecideAnswer).result;
    assert.equal((await decide('b')).accepted, true);
    const late = await decide('a');
    assert.deepEqual([late.accepted, late.decision.choice], [false, 'b']);
    assert.equal((await waiting.ended()).code, 0);
    assert.equal((JSON.parse(waiting.lines.join('')) as DecisionView).choice, 'b');
    await until('its event', () => home.mail('ada').length === 1);
    await tray.persona('ada', ({ unread, cursor }) => cursor === 1 && unread === 0);
  });

  test('a decision whose time is over is closed by it, and its persona told', async () => {
    using home = trayHome();
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    await ask(home, '--timeout', '2s', '--default', 'a');
    await tray.persona('ada', ({ unread, cursor }) => cursor === 1 && unread === 0);
    assert.deepEqual(pushed(home), ['hivebar:decision:1']);
    assert.ok(tray.log.some((line) => line.includes('decision 1 of ada is resolved')));
  });
});

/** Gates, wakes and events that nobody asks for here. */
const PLAIN = {
  gates: { open: () => {}, close: () => {}, waiting: () => {} },
  wake: () => {},
  emit: () => {},
  clock: realClock,
  log: silentLog,
} as const;

/** How many waits are known. */
function waitsIn(home: TrayHome): number {
  using db = openDatabase(home.at('hivebar.sqlite'));
  return db.prepare<{ n: number }>('SELECT count(*) AS n FROM decision_waits').get()?.n ?? 0;
}

function readMark(path: string): string | null {
  if (!existsSync(path)) return null;
  const { satisfied_by: by } = JSON.parse(readFileSync(path, 'utf8')) as { readonly satisfied_by: string | null };
  return by;
}

/** The first lines of a process that has the decisions of this home open, beside any other. */
function opened(home: TrayHome): string {
  const at = (path: string): string => JSON.stringify(import.meta.resolve(path));
  return `
    import { readSync, writeSync } from 'node:fs';
    import { openDecisions } from ${at('../../core/inbox/decisions/index.ts')};
    import { openItems } from ${at('../../core/inbox/index.ts')};
    import { realClock, silentLog } from ${at('../../core/ports/index.ts')};
    import { openDatabase } from ${at('../../core/state/index.ts')};
    const db = openDatabase(${JSON.stringify(home.at('hivebar.sqlite'))});
    const real = openItems({ db, clock: realClock });
    const gates = { open() {}, close() {}, waiting() {} };
    const plain = { db, gates, wake() {}, emit() {}, clock: realClock, log: silentLog };
  `;
}

/** A process that answers a decision with `b`, says how far it is, and goes no further. */
function dying(home: TrayHome, id: number, at: 'before' | 'after'): string {
  return `${opened(home)}
    const stop = () => { writeSync(1, '${at}'); for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000); };
    const items = { pushOwn: (own) => { if ('${at}' === 'after') real.pushOwn(own); stop(); } };
    openDecisions({ ...plain, items }).respond(${id}, { select: 'b', text: null, acceptGuidance: false, by: 'operator' });
  `;
}

/** A process that answers the decisions 1 to 100 as fast as it can once it is let go, and says which of them it answered. */
function racing(home: TrayHome, select: string, by: string): string {
  return `${opened(home)}
    const decisions = openDecisions({ ...plain, items: real });
    writeSync(1, 'ready ');
    readSync(0, Buffer.alloc(2));
    for (let id = 1; id <= 100; id += 1) {
      const done = decisions.respond(id, { select: '${select}', text: null, acceptGuidance: false, by: '${by}' });
      if (done.is === 'done') writeSync(1, id + ' ');
    }
  `;
}
