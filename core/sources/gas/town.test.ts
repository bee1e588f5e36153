import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { createDelivered, watchPersona } from '../../../test/conformance/watch-source.ts';
import { fakeTown } from '../../../test/kit/fake-gas-town.ts';
import { exactly, Fault } from '../../model/index.ts';
import { type Log, realClock, silentLog } from '../../ports/index.ts';
import { runProgram } from '../run-program.node.ts';
import { createTownSource } from './town-source.ts';

const DATA = join(import.meta.dirname, '../../../test/data/gas-city');
const never = new AbortController().signal;
const UNSET = { is: 'unset' } as const;

function openRig(log: Log = silentLog) {
  const town = fakeTown();
  const clock = createJumpingClock(realClock);
  let timeoutMs = 10_000;
  const source = createTownSource({
    ...{ town: town.dir, clock, log, contentChars: 220 },
    runBd: (args, signal) => runProgram({ file: town.bd, args, cwd: town.dir, env: town.env, timeoutMs }, signal),
  });
  const delivered = createDelivered();
  return {
    ...{ town, clock, source, delivered },
    setTimeout: (ms: number) => {
      timeoutMs = ms;
    },
    /** So long that the last answer counts no more. */
    pass: () => clock.jump(30_000),
    poll: async (address: string) => await source.poll(source.named(address), UNSET, never),
    watch: (address: string) => watchPersona(source, source.named(address), clock, delivered),
    events: () => delivered.events.flatMap((event) => ('message' in event ? [`${event.event} ${event.message}`] : [])),
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]();
      town[Symbol.dispose]();
    },
  };
}

interface InboxMessage {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly priority: string;
  readonly type: string;
  readonly wisp?: boolean;
}
const PRIORITIES: readonly string[] = ['urgent', 'high', 'normal', 'low'];

test('gas 8: only bd list and bd sql with --json are run, one look in 30 s whoever asks', async () => {
  await using rig = openRig();
  for (const address of ['mayor/', 'gastown/Toast', 'overseer']) rig.town.send(address, 'hello');
  const personas = await rig.source.personas(never);
  assert.deepEqual(
    personas.map(({ id, label }) => `${id} ${label}`),
    ['gas-overseer you', 'gas-mayor mayor', 'gas-gastown.Toast gastown.Toast'],
  );
  for (let n = 0; n < 5; n += 1) {
    await Promise.all(personas.map((persona) => rig.source.poll(persona, UNSET, never)));
    await rig.source.pending?.once(never);
    await rig.source.personas(never);
  }
  assert.equal(rig.town.calls().length, 2);
  rig.pass();
  await Promise.all(personas.map((persona) => rig.source.poll(persona, UNSET, never)));
  assert.equal(rig.town.calls().length, 4);
  for (const call of rig.town.calls()) assert.match(call, /^bd (?:list --label gt:message --json|sql --json SELECT )/);
  assert.equal(existsSync(join(rig.town.dir, '../wrote')), false);
});

test('gas 9: an escalation is urgent, a wisp is shown like any other message, and its delivery makes no event', async () => {
  await using rig = openRig();
  const mail = JSON.parse(readFileSync(join(DATA, 'gt-inbox.json'), 'utf8')) as InboxMessage[];
  for (const { id, from, to, subject, body, priority, type, wisp = false } of mail) {
    const labels = wisp ? ['delivery:pending'] : [];
    const bead = { id, from, subject, type, labels, isWisp: wisp, priority: PRIORITIES.indexOf(priority) };
    rig.town.send(to, body, bead);
  }
  rig.town.send('mayor/', 'do it', { id: 'hq-task', type: 'task' });
  rig.town.send('mayor/', 'low', { id: 'hq-esc', type: 'escalation', priority: 3, status: 'hooked' });
  const watched = rig.watch('mayor/');
  await watched.poll();
  const { unread, urgent } = await rig.poll('mayor/');
  assert.deepEqual([unread, urgent], [exactly(4), exactly(2)]);
  assert.deepEqual(rig.events(), ['new hq-abc', 'new hq-wisp-9', 'assigned hq-task', 'new hq-esc']);
  rig.town.relabel('hq-wisp-9', (labels) => [
    ...labels.filter((label) => label !== 'delivery:pending'),
    ...['delivery:acked', 'delivery-acked-by:mayor', 'delivery-acked-at:2026-04-30T09:06:00Z'],
  ]);
  rig.pass();
  await watched.poll();
  assert.equal(rig.events().length, 4);
  rig.town.relabel('hq-abc', (labels) => [...labels, 'read']);
  rig.pass();
  await watched.poll();
  assert.deepEqual(rig.events().slice(4), ['read hq-abc']);
});

test('gas 10: the text of an empty list with exit 0 is 0 unread; exit 1 and a timeout are faults', async () => {
  await using rig = openRig();
  rig.town.fail('none');
  assert.deepEqual((await rig.poll('overseer')).unread, exactly(0));
  const faults: readonly (readonly [string, Fault['code'], RegExp])[] = [
    ['exit 1', 'exec-failed', /bd list in .* ended with 1: Error: the server is gone/],
    ['hang', 'exec-timeout', /bd list in .* did not end in time/],
    ['text', 'not-json', /bd wrote "Starting the server/],
    ['cut 3', 'not-json', /bd wrote/],
  ];
  rig.town.send('overseer', 'hello');
  const watched = rig.watch('overseer');
  rig.town.fail(null);
  rig.pass();
  assert.equal((await watched.poll()).is, 'healthy');
  for (const [how, code, message] of faults) {
    rig.town.fail(how);
    rig.setTimeout(how === 'hang' ? 200 : 10_000);
    rig.pass();
    await assert.rejects(rig.poll('overseer'), (error) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
    assert.equal((await watched.poll()).is, 'failed');
  }
  rig.town.fail(null);
  rig.setTimeout(10_000);
  rig.pass();
  assert.deepEqual((await rig.poll('overseer')).unread, exactly(1));
});

test("gas 11: a bead whose id cannot be used is refused, and mail of a queue is nobody's until somebody claims it", async () => {
  const lines: string[] = [];
  await using rig = openRig({ ...silentLog, warn: (line) => void lines.push(line) });
  rig.town.send('overseer', 'bad', { id: '../x y' });
  rig.town.send('queue:work', 'job', { id: 'hq-job', labels: ['queue:work'] });
  const personas = await rig.source.personas(never);
  assert.deepEqual(
    personas.map(({ address }) => address),
    ['overseer'],
  );
  assert.deepEqual(lines.toSorted(), [
    'gas: message "../x y": has an id that cannot be used',
    'gas: message "hq-job": lies in the queue work, and nobody has claimed it',
  ]);
  rig.town.relabel('hq-job', (labels) => [...labels, 'claimed-by:gastown/Toast']);
  rig.pass();
  assert.deepEqual((await rig.poll('gastown/Toast')).unread, exactly(1));
});
