import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  EXPECTED,
  fillLiveMarkers,
  findCitizenId,
  type Garden,
  garden,
  handAt,
} from '../../../../test/kit/garden-store.ts';
import {
  type AgentLiveness,
  judgeOwner,
  parseProcStat,
  parsePsOutput,
  readReceiver,
  readSenders,
} from './agent-liveness.ts';
import { readStoreLiveness } from './liveness-reader.ts';
import { readBox } from './mailbox.ts';
import { readProcesses } from './processes.node.ts';
import { probeListener } from './socket.node.ts';
import { listRecords } from './store.ts';

const { disk } = handAt();

async function agents(
  store: Garden,
): Promise<{ findLiveness(label: string): AgentLiveness | undefined; errors: readonly string[] }> {
  const { records } = listRecords(disk, store.places.sessions);
  const waiting = (id: string): number => {
    const box = readBox(disk, store.places.mailbox, id);
    return box.is === 'box' ? box.unread.length : 0;
  };
  const unread = new Map(records.map(({ gardenId }) => [gardenId, waiting(gardenId)]));
  const found = await readStoreLiveness(
    disk,
    store.places,
    { readProcesses: readProcesses, probeListener },
    records,
    unread,
  );
  assert.equal(found.agents.size, records.length);
  return {
    findLiveness: (label) => found.agents.get(findCitizenId(label)),
    errors: found.errors.map(({ filename }) => filename),
  };
}

/** A process to own markers, which ends with its scope at the latest. */
async function sleeper(): Promise<AsyncDisposable & { pid: number; startKey: string; end(): Promise<void> }> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const state = (await readProcesses([pid])).get(pid);
  assert.ok(state?.is === 'running');
  return { pid, startKey: state.startKey, end, [Symbol.asyncDispose]: end };
}

const unknown = (...reasons: AgentLiveness['reasons']): AgentLiveness => ({ is: 'unknown', reasons });

describe('garden check 6: whether the agent of a citizen lives', () => {
  test('is told by markers whose owner is the same process, and by no others', async () => {
    using store = garden('store');
    await using owner = await sleeper();
    fillLiveMarkers(store, owner.pid, owner.startKey);
    const { findLiveness, errors } = await agents(store);
    assert.deepEqual(findLiveness('cc-enqueued'), { is: 'live', reasons: [] });
    assert.deepEqual(findLiveness('cc-mixed'), unknown('identity-mismatch'));
    assert.deepEqual(findLiveness('cc-delivered'), { is: 'gone', reasons: ['owner-dead'] });
    assert.deepEqual(findLiveness('cc-read'), unknown('owner-implausible'));
    assert.deepEqual(findLiveness('cc-armed-empty'), unknown('not-armed'));
    assert.deepEqual(findLiveness('cc-never-armed'), unknown('not-armed'));
    assert.deepEqual(findLiveness('agy-direct'), { is: 'live', reasons: [] });
    assert.deepEqual(findLiveness('agy-misdelivered'), unknown('no-drain', 'not-armed'));
    assert.deepEqual(findLiveness('codex-plain'), unknown());
    assert.deepEqual(findLiveness('pi-parent'), unknown('not-armed'));
    assert.deepEqual(errors, [`${findCitizenId('cc-armed-empty')}.json`]);

    await owner.end();
    const after = await agents(store);
    assert.deepEqual(after.findLiveness('cc-enqueued'), { is: 'gone', reasons: ['owner-dead'] });
    assert.deepEqual(after.findLiveness('agy-direct'), { is: 'gone', reasons: ['owner-dead'] });
  });

  test('every marker of the data reads as in the reference, but for process 1, which owns nothing', async () => {
    using store = garden('store');
    await using owner = await sleeper();
    fillLiveMarkers(store, owner.pid, owner.startKey);
    for (const [id, { verified, unverified }] of Object.entries(EXPECTED.receiverMarkers)) {
      const read = readReceiver(disk, store.places.receivers, id);
      assert.equal(read.is === 'marker', unverified, id);
      if (read.is !== 'marker') continue;
      const { ownerPid, ownerStartKey } = read.marker;
      const isLive = judgeOwner(ownerPid, ownerStartKey, (await readProcesses([ownerPid])).get(ownerPid)) === 'live';
      assert.equal(isLive, verified && ownerPid !== 1, id);
    }
    const { markers, errors } = readSenders(disk, store.places.senders);
    assert.deepEqual(errors, []);
    const live = await readProcesses(markers.map(({ ownerPid }) => ownerPid));
    const verdicts = markers.map(({ backend, ownerPid, ownerStartKey }) => [
      `${backend}/${ownerPid === owner.pid ? 'LIVE' : 'DEAD'}.json`,
      { verified: judgeOwner(ownerPid, ownerStartKey, live.get(ownerPid)) === 'live', unverified: true },
    ]);
    assert.deepEqual(Object.fromEntries(verdicts), EXPECTED.senderMarkers);
  });

  test('a number that a later process has is a dead owner; a key of another family says nothing', async () => {
    using store = garden('store');
    await using owner = await sleeper();
    fillLiveMarkers(store, owner.pid, 'linux:1');
    assert.deepEqual((await agents(store)).findLiveness('cc-enqueued'), { is: 'gone', reasons: ['owner-dead'] });
    fillLiveMarkers(store, owner.pid, 'ps:Sat Nov 28 18:00:00 2026');
    assert.deepEqual((await agents(store)).findLiveness('cc-enqueued'), unknown('owner-uncertain'));
  });

  test('a live sender counts beside any number of dead ones', async () => {
    using store = garden('store');
    await using owner = await sleeper();
    fillLiveMarkers(store, owner.pid, owner.startKey);
    const directory = join(store.places.senders, 'antigravity');
    const marker = JSON.parse(readFileSync(join(directory, `${owner.pid}.json`), 'utf8')) as object;
    writeFileSync(join(directory, '4194305.json'), JSON.stringify({ ...marker, ownerPid: 4194305 }));
    assert.deepEqual((await agents(store)).findLiveness('agy-direct'), { is: 'live', reasons: [] });
    rmSync(join(directory, `${owner.pid}.json`));
    assert.deepEqual((await agents(store)).findLiveness('agy-direct'), { is: 'gone', reasons: ['owner-dead'] });
  });

  test('bad markers are named and stop nobody', async () => {
    using store = garden('store');
    const directory = join(store.places.senders, 'codex');
    mkdirSync(directory, { recursive: true });
    const good = readFileSync(join(store.places.senders, 'claude-code/4194305.json'), 'utf8');
    writeFileSync(join(directory, '7.json'), '{"backend": "codex"}');
    writeFileSync(join(directory, '8.json'), good);
    writeFileSync(join(directory, '9.json'), good.replace('4194305', '"9"'));
    writeFileSync(join(directory, '10.json.0a1b2c3d.tmp'), 'half');
    symlinkSync('../claude-code/4194305.json', join(directory, '4194305.json'));
    writeFileSync(join(store.places.receivers, `${findCitizenId('cc-read')}.json`), good);
    const { findLiveness, errors } = await agents(store);
    assert.deepEqual(errors.toSorted(), [
      `${findCitizenId('cc-armed-empty')}.json`,
      `${findCitizenId('cc-read')}.json`,
      ...['codex/4194305.json', 'codex/7.json', 'codex/8.json', 'codex/9.json'],
    ]);
    assert.deepEqual(findLiveness('cc-read'), unknown('not-armed'));
  });
});

test('directories of markers that are none leave everybody unknown, and are named', async () => {
  using store = garden('store');
  const { senders, receivers } = store.places;
  rmSync(receivers, { recursive: true });
  writeFileSync(receivers, '');
  writeFileSync(join(senders, 'antigravity'), '');
  const { findLiveness, errors } = await agents(store);
  assert.deepEqual(
    [findLiveness('cc-enqueued'), findLiveness('agy-direct')],
    [unknown('not-armed'), unknown('not-armed')],
  );
  assert.ok(errors.includes('antigravity') && errors.includes(`${findCitizenId('cc-read')}.json`));
});

describe('the control socket of pi', () => {
  test('is asked by connecting; a symlink to a good one is not', async () => {
    using store = garden('store');
    const { sockets } = store.places;
    mkdirSync(sockets);
    const path = join(sockets, `${findCitizenId('pi-parent')}.sock`);
    const server = createServer((socket) => socket.destroy()).listen(path);
    await once(server, 'listening');
    symlinkSync(path, join(sockets, `${findCitizenId('pi-child')}.sock`));
    const { findLiveness } = await agents(store);
    assert.deepEqual(findLiveness('pi-parent'), { is: 'live', reasons: [] });
    assert.deepEqual(findLiveness('pi-child'), unknown('owner-implausible'));
    server.close();
    await once(server, 'close');
  });

  test('that nobody listens at is left by one who died; a file is no socket', async () => {
    using store = garden('store');
    const { sockets } = store.places;
    mkdirSync(sockets);
    const path = join(sockets, `${findCitizenId('pi-parent')}.sock`);
    const holder = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`,
    ]);
    await once(holder.stdout, 'data');
    holder.kill('SIGKILL'); // leaves the socket's name behind
    await once(holder, 'exit');
    writeFileSync(join(sockets, `${findCitizenId('pi-child')}.sock`), '');
    const { findLiveness } = await agents(store);
    assert.deepEqual(findLiveness('pi-parent'), { is: 'gone', reasons: ['owner-dead'] });
    assert.deepEqual(findLiveness('pi-child'), unknown('owner-implausible'));
  });

  test('of a name too long for a socket, or in a directory that is a file, nothing is known', async () => {
    using store = garden();
    const file = store.write('file', '');
    assert.equal(await probeListener(join(file, 'x.sock'), 1000), 'uncertain');
    assert.equal(await probeListener(`/${'x'.repeat(300)}`, 1000), 'uncertain');
  });
});

describe('what tells a process from a later one', () => {
  const STAT = ' S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 78923 20 21';

  test('is field 22 behind the last parenthesis, whatever the command is called', () => {
    const running = { is: 'running', startKey: 'linux:78923' };
    assert.deepEqual(parseProcStat(`7 (sleep)${STAT}`), running);
    assert.deepEqual(parseProcStat(`7 (a) R 1 2 (b) c)${STAT}`), running);
    assert.deepEqual(parseProcStat(`7 (sleep)${STAT.replace(' S ', ' Z ')}`), { is: 'gone' });
    assert.deepEqual(parseProcStat('7 (sleep) S 1 2'), { is: 'unknown' });
    assert.deepEqual(parseProcStat(''), { is: 'unknown' });
  });

  test('is the same whenever it is asked, and what /proc says', async () => {
    await using owner = await sleeper();
    const again = (await readProcesses([owner.pid, owner.pid, 1, 0, -1, 2 ** 40])) as ReadonlyMap<number, unknown>;
    assert.deepEqual([...again], [[owner.pid, { is: 'running', startKey: owner.startKey }]]);
    if (process.platform === 'linux') {
      const fields = readFileSync(`/proc/${owner.pid}/stat`, 'utf8').split(' ');
      assert.equal(owner.startKey, `linux:${fields[21]}`);
    }
  });

  test('in the words of ps', () => {
    const out = '    7 Sat Nov 28 18:00:00 2026    \n 4321 Sun Nov 29 01:02:03 2026\n\n';
    assert.deepEqual(
      [...parsePsOutput(out)],
      [
        [7, { is: 'running', startKey: 'ps:Sat Nov 28 18:00:00 2026' }],
        [4321, { is: 'running', startKey: 'ps:Sun Nov 29 01:02:03 2026' }],
      ],
    );
  });

  test('a number of 1 or less, or larger than any, is nobody', () => {
    const running = { is: 'running', startKey: 'linux:5' } as const;
    const owner = (pid: number): string => judgeOwner(pid, 'linux:5', running);
    assert.deepEqual([2, 1, 0, -7, 2.5, 2 ** 31].map(owner), ['live', ...Array(5).fill('implausible')]);
    assert.equal(judgeOwner(2, 'linux:5', { is: 'gone' }), 'dead');
    assert.equal(judgeOwner(2, 'linux:5', { is: 'unknown' }), 'uncertain');
    assert.equal(judgeOwner(2, 'linux:5', undefined), 'uncertain');
  });
});
