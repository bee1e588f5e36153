import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readProcesses } from '../../core/sources/garden/index.ts';
import { complaintsIn, type GardenCli, gardenCli } from '../kit/garden-cli.ts';
import { EXPECTED_V3, fillLiveMarkers, findCitizenId, garden } from '../kit/garden-store.ts';

interface Sleeper extends AsyncDisposable {
  readonly pid: number;
  readonly startKey: string;
  end(): Promise<void>;
}

async function sleeper(): Promise<Sleeper> {
  const child: ChildProcess = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? -1;
  const state = (await readProcesses([pid])).get(pid);
  assert.equal(state?.is, 'running');
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return { pid, startKey: state?.is === 'running' ? state.startKey : '', end, [Symbol.asyncDispose]: end };
}

interface CitizenAgentRow {
  readonly gardenId: string;
  readonly agent: string;
  readonly agentReasons: readonly string[];
  readonly send: string;
}

/** What both commands say of each citizen, which is the same. */
async function agents(run: GardenCli): Promise<(label: string) => readonly unknown[]> {
  const { citizens } = (await run(['status', '--json'])).json<{ citizens: readonly CitizenAgentRow[] }>();
  const { peers } = (await run(['peers', '--json'])).json<{ peers: readonly CitizenAgentRow[] }>();
  const listAgents = (all: readonly CitizenAgentRow[]) =>
    all.map(({ gardenId, agent, agentReasons }) => [gardenId, agent, agentReasons]);
  assert.deepEqual(listAgents(peers), listAgents(citizens));
  return (label) => {
    const found = peers.find(({ gardenId }) => gardenId === findCitizenId(label));
    return [found?.agent, ...(found?.agentReasons ?? []), found?.send];
  };
}

describe('garden check 6: who lives', () => {
  test('is told by the markers of a process that runs, and it is gone when that has ended', async () => {
    using store = garden('store');
    await using sleep = await sleeper();
    fillLiveMarkers(store, sleep.pid, sleep.startKey);
    const run = gardenCli(store);
    const before = await agents(run);
    assert.deepEqual(before('cc-enqueued'), ['live', 'now']);
    assert.deepEqual(before('cc-mixed'), ['unknown', 'identity-mismatch', 'queue']);
    assert.deepEqual(before('cc-delivered'), ['gone', 'owner-dead', 'queue']);
    assert.deepEqual(before('cc-read'), ['unknown', 'owner-implausible', 'queue']);
    assert.deepEqual(before('agy-direct'), ['live', 'force']);
    assert.deepEqual(before('agy-misdelivered'), ['unknown', 'no-drain', 'not-armed', 'force']);
    assert.deepEqual(before('codex-plain'), ['unknown', 'force']);
    assert.deepEqual(before('cc-armed-empty'), ['unknown', 'not-armed', 'queue']);
    await sleep.end();
    const after = await agents(run);
    assert.deepEqual(after('cc-enqueued'), ['gone', 'owner-dead', 'queue']);
    assert.deepEqual(after('agy-direct'), ['gone', 'owner-dead', 'force']);
    assert.deepEqual(after('cc-mixed'), ['unknown', 'identity-mismatch', 'queue']);
  });

  test('of pi is told by its control socket', async () => {
    using store = garden('store');
    mkdirSync(store.places.sockets);
    const server = createServer((socket) => socket.end());
    server.listen(join(store.places.sockets, `${findCitizenId('pi-parent')}.sock`));
    await once(server, 'listening');
    writeFileSync(join(store.places.sockets, `${findCitizenId('pi-child')}.sock`), 'no socket');
    const seen = await agents(gardenCli(store));
    assert.deepEqual(seen('pi-parent'), ['live', 'force']);
    assert.deepEqual(seen('pi-child'), ['unknown', 'owner-implausible', 'force']);
    server.close();
  });

  test('is listed for people in lines of the same columns', async () => {
    using store = garden('store');
    const { code, out, err } = await gardenCli(store)(['peers']);
    const [head = '', ...rows] = out.trimEnd().split('\n');
    assert.equal(code, 0);
    assert.match(head, /^AGENT +SEND +WAKE +ID +CITIZEN$/);
    assert.equal(rows.length, 18);
    const at = head.indexOf('ID');
    for (const row of rows) assert.match(row.slice(at), /^20260614T\d{6}-[0-9a-f]{6} {2}\S+ · \S+$/);
    assert.ok(complaintsIn(err).some((line) => line.startsWith('meta-receivers/20260614T100114-9abadd.json: ')));
  });
});

describe('a marker', () => {
  test('is written for the session of its record, as the reference writes it, and read again', async () => {
    using store = garden();
    await using sleep = await sleeper();
    const run = gardenCli(store);
    const upsert = ['record', 'upsert', '--backend', 'claude-code', '--session', 'native', '--json'];
    const { gardenId } = (await run(upsert)).json<{ citizen: { gardenId: string } }>().citizen;
    const write = async (kind: string, ...more: readonly string[]): Promise<string> => {
      const args = ['marker', 'write', kind, '--id', gardenId, '--pid', `${sleep.pid}`, '--json', ...more];
      const { code, err, json } = await run(args);
      assert.deepEqual([code, err], [0, '']);
      return json<{ path: string }>().path;
    };
    const receiver = await write('receiver', '--provenance', 'cwd-changed');
    const sender = await write('sender', '--cwd', '/there');
    assert.equal(receiver, join(store.places.receivers, `${gardenId}.json`));
    assert.equal(sender, join(store.places.senders, 'claude-code', `${sleep.pid}.json`));
    const owned = { ownerPid: sleep.pid, ownerStartKey: sleep.startKey };
    const text = (path: string): { updatedAt: string } =>
      JSON.parse(readFileSync(path, 'utf8')) as { updatedAt: string };
    const { updatedAt } = text(receiver);
    const session = { gardenId, backend: 'claude-code', nativeSessionId: 'native' };
    const expected = { ...session, ...owned, ownerKind: 'claude-code-cli', armProvenance: 'cwd-changed', updatedAt };
    assert.equal(readFileSync(receiver, 'utf8'), `${JSON.stringify(expected, null, 2)}\n`);
    const { backend, nativeSessionId } = session;
    const sending = { backend, gardenId, nativeSessionId, cwd: '/there', ...owned, updatedAt: text(sender).updatedAt };
    assert.equal(readFileSync(sender, 'utf8'), `${JSON.stringify(sending, null, 2)}\n`);
    const shown = (await run(['marker', 'show', '--id', gardenId, '--json'])).json<Record<string, readonly object[]>>();
    const live = { owner: 'live', isOfRecord: true };
    assert.deepEqual(shown.receivers, [{ filename: `${gardenId}.json`, ...expected, ...live }]);
    assert.deepEqual(shown.senders, [{ filename: `claude-code/${sleep.pid}.json`, ...sending, ...live }]);
    assert.deepEqual(shown.defects, []);
  });

  test('is refused for a process that can own no session, or that does not run', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const before = store.tree();
    const message = EXPECTED_V3.pid1Marker.error.replace(/^Error: /, '').replace(/ Quiescing .*$/, '');
    for (const kind of ['receiver', 'sender']) {
      for (const pid of [1, 0, -5]) {
        const { code, err } = await run(['marker', 'write', kind, '--id', findCitizenId('cc-read'), `--pid=${pid}`]);
        const expected = message
          .replace('receiver marker', `${kind} marker`)
          .replace('owner pid 1:', `owner pid ${pid}:`);
        assert.deepEqual([code, complaintsIn(err)], [1, [expected]]);
      }
      const gone = await run(['marker', 'write', kind, '--id', findCitizenId('cc-read'), '--pid', '4194305']);
      assert.equal(gone.code, 1);
      assert.match(gone.err, /no such process is known to run/);
    }
    assert.deepEqual(store.tree(), before);
  });

  test('is refused for a citizen that has none, for nobody, and with what does not fit', async () => {
    using store = garden('store');
    const run = gardenCli(store);
    const before = store.tree();
    const write = (...args: readonly string[]) => run(['marker', 'write', ...args, '--pid', `${process.pid}`]);
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [
        ['receiver', '--id', findCitizenId('pi-parent')],
        1,
        /"backend" must be one of claude-code \| antigravity \| codex/,
      ],
      [['sender', '--id', '20260101T000000-0a0b0c'], 1, /not a garden citizen/],
      [['receiver', '--id', '../../x'], 1, /"gardenId" must match/],
      [['receiver', '--id', findCitizenId('cc-read'), '--provenance', 'magic'], 1, /"armProvenance" must be one of/],
      [['both', '--id', findCitizenId('cc-read')], 2, /expected receiver or sender/],
      [['sender', '--id', findCitizenId('cc-read'), '--owner-kind', 'x'], 2, /unknown flag --owner-kind/],
    ];
    for (const [args, code, why] of cases) {
      const answer = await write(...args);
      assert.equal(answer.code, code, args.join(' '));
      assert.match(answer.err, why);
    }
    assert.equal((await run(['marker', 'write', 'sender', '--id', findCitizenId('cc-read'), '--pid', 'me'])).code, 2);
    assert.deepEqual(store.tree(), before);
    assert.ok(!existsSync(join(store.places.senders, 'pi')));
  });

  test('of the data is shown as the reference judged it, and what is none is said', async () => {
    using store = garden('store');
    const { code, json } = await gardenCli(store)(['marker', 'show', '--json']);
    const { receivers, senders, defects } = json<Record<'receivers' | 'senders' | 'defects', readonly MarkerRow[]>>();
    const seen = (all: readonly MarkerRow[]) => all.map(({ filename, owner }) => [filename, owner]);
    assert.equal(code, 0);
    assert.deepEqual(seen(receivers), [
      ['20260614T100228-f3f6e5.json', 'dead'],
      ['20260614T100305-1158c5.json', 'implausible'],
    ]);
    assert.deepEqual(seen(senders), [['claude-code/4194305.json', 'dead']]);
    assert.deepEqual(
      defects.map(({ filename }) => filename),
      ['meta-receivers/20260614T100114-9abadd.json'],
    );
  });
});

interface MarkerRow {
  readonly filename: string;
  readonly owner: string;
}
