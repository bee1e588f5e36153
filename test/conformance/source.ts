import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Count, exactly, FAULTS, Fault } from '../../core/model/index.ts';
import { realClock } from '../../core/ports/index.ts';
import type { Checkpoint, Persona, PollResult, Source } from '../../core/sources/index.ts';
import { until } from '../kit/until.ts';
import { createJumpingClock, type JumpingClock, type SourceRig, type SourceWorld } from './source-rig.ts';
import { listHandles } from './source-store.ts';
import { createDelivered, listTexts, type SinkRecord, type WatchedPersona, watchPersona } from './watch-source.ts';

const UNSET: Checkpoint = { is: 'unset' };
const never = new AbortController().signal;
/** Longer than any source waits until it believes what it sees. */
const BELIEVED_MS = 11_000;
/** Cuts of one record; of a longer record so many, evenly spread. */
const MOST_CUTS = 128;
const MOST_POLLED = 200;
/** So much more may one thing cost in a store of ten times the size: caches of the machine, and a neighbour at work. */
const GROWTH = 5;

/**
 * What every source keeps, whatever inbox system it adapts. A test file beside the source calls this with its rig.
 * @param name of the source in the registry
 */
export function describeSource(name: string, rig: SourceRig): void {
  const hasMail = rig.evidence !== 'level';
  const { cannot } = rig;
  const faults = [...(cannot.losePermission === undefined ? ['permission'] : []), ...rig.faults];

  describe(`the source ${name}`, () => {
    test('is what its rig says: evidence, wakes, faults, and what it cannot do', async () => {
      await using place = await open(rig);
      const { source, world } = place;
      assert.equal((await poll(source, await place.find())).evidence.is, rig.evidence);
      const wakes = source.hints === undefined ? 'held list' : 'hints';
      assert.equal(wakes, rig.wakes);
      if (wakes === 'held list') assert.ok(source.pending?.hold !== undefined, 'nothing tells what changed');
      assert.deepEqual(Object.keys(world.faults).sort(), faults.toSorted());
      assert.equal(rig.members === 5000, cannot.growTo5000 === undefined);
      assert.equal(world.begin !== undefined, cannot.seeHalf === undefined);
      assert.equal(world.remove !== undefined, cannot.loseMember === undefined);
      assert.equal(source.isGone !== undefined, cannot.loseMember === undefined);
      assert.equal(world.hang !== undefined, cannot.wait === undefined);
    });

    test('looking consumes nothing: the store stays as it is, and a second poll equals the first', async () => {
      await using place = await open(rig);
      const { source, world, watched, delivered } = place;
      const [ada] = world.addresses;
      await world.send(ada, 'one');
      await world.read(ada);
      await world.send(ada, 'two');
      const before = await world.capture();
      using _ = source.hints?.(() => {}) ?? NOTHING;
      const persona = await place.find();
      const first = await poll(source, persona);
      assert.deepEqual(await poll(source, persona), first);
      await watched.poll();
      const texts = listTexts(delivered);
      const { checkpoint } = watched.watcher.state;
      const later = await poll(source, persona, checkpoint);
      assert.deepEqual(await poll(source, persona, checkpoint), later);
      assert.deepEqual([later.unread, later.urgent], [first.unread, first.urgent]);
      await watched.poll();
      assert.deepEqual(listTexts(delivered), texts, 'delivered once');
      assert.equal(texts.includes('two'), hasMail);
      const counts = await source.pending?.once(never);
      assert.deepEqual((await source.pending?.once(never))?.byAddress, counts?.byAddress);
      assert.deepEqual(await source.personas(never), await source.personas(never));
      await source[Symbol.asyncDispose]();
      assert.deepEqual(await world.capture(), before);
    });

    test('what is unread is counted, and what was read is not', async () => {
      await using place = await open(rig);
      const { source, world } = place;
      const [ada, bo] = world.addresses;
      const [persona, other] = [await place.find(ada), await place.find(bo)];
      assert.deepEqual((await poll(source, persona)).unread, exactly(0));
      for (const text of ['one', 'two', 'three']) await world.send(ada, text);
      assert.deepEqual((await poll(source, persona)).unread, exactly(3));
      assert.deepEqual((await poll(source, other)).unread, exactly(0));
      await world.read(ada);
      assert.deepEqual((await poll(source, persona)).unread, exactly(0));
    });

    for (const fault of faults) {
      test(`the fault ${fault} is never an empty answer, and its end repeats nothing and misses nothing`, async () => {
        await checkFault(rig, fault);
      });
    }

    test('a restart repeats nothing and misses nothing', async () => {
      const clock = createJumpingClock(realClock);
      await using world = await rig.createWorld(clock);
      const [ada] = world.addresses;
      const delivered = createDelivered();
      const all = ['one', 'two', 'three', 'four', 'five'];
      for (const [n, text] of all.entries()) {
        await world.send(ada, text);
        await using source = world.open();
        const watched = watchPersona(source, await find(source, ada), clock, delivered);
        await watched.poll();
        await watched.poll();
        assert.deepEqual((await poll(source, await find(source, ada))).unread, exactly(n + 1));
        clock.jump(BELIEVED_MS);
        await watched.poll();
        assert.deepEqual(listTexts(delivered), hasMail ? all.slice(0, n + 1) : [], `process ${n + 1}`);
      }
    });

    const halves = 'a message that is half written is not delivered, and once when it is whole';
    if (cannot.seeHalf === undefined) test(halves, () => checkHalves(rig));

    const leaving = 'who leaves is gone, and nobody else is';
    if (cannot.loseMember === undefined) test(leaving, () => checkLeaving(rig));

    test(`${rig.wakes} wake`, async () => {
      await using place = await open(rig);
      await (rig.wakes === 'hints' ? checkHints(place) : checkHold(place));
    });

    test('a poll that is aborted loses nothing', async () => {
      await using place = await open(rig);
      const { world, watched, delivered } = place;
      await world.send(world.addresses[0], 'one');
      for (const when of ['before', 'at once', 'soon'] as const) {
        const abort = new AbortController();
        if (when === 'before') abort.abort();
        const polling = watched.poll(abort.signal);
        if (when === 'soon') await sleep(0);
        abort.abort();
        assert.ok(['stopped', 'healthy'].includes((await polling).is), when);
      }
      assert.equal((await watched.poll()).is, 'healthy');
      assert.deepEqual(listTexts(delivered), hasMail ? ['one'] : []);
    });

    const aborted = 'an abort ends what nobody answers, and counts as no failure';
    if (cannot.wait === undefined) test(aborted, () => checkAbort(rig));

    test('its end releases everything', async () => {
      const clock = createJumpingClock(realClock);
      await using world = await rig.createWorld(clock);
      for (const address of world.addresses) await world.send(address, 'one');
      let before: readonly string[] = [];
      for (let run = 0; run < 4; run += 1) {
        if (run === 1) before = listHandles(); // the first run opens what the process keeps
        await using source = world.open();
        using _ = source.hints?.(() => {}) ?? NOTHING;
        for (const persona of await source.personas(never)) await poll(source, persona);
        await source.pending?.once(never);
      }
      assert.equal(clock.waiting, 0, 'timers are left');
      await until(
        () => `${before.join('\n')}\n\nnow:\n\n${listHandles().join('\n')}`,
        () => listHandles().length <= before.length,
        3000,
      );
    });

    test(`${rig.members} members are listed and polled, each for what it costs among a tenth of them`, async () => {
      const large = await measure(rig, rig.members);
      const small = await measure(rig, rig.members / 10);
      assert.ok(large.listMs < 10 * GROWTH * small.listMs, `listing: ${small.listMs} ms, then ${large.listMs} ms`);
      assert.ok(large.pollMs < GROWTH * small.pollMs, `polling: ${small.pollMs} ms, then ${large.pollMs} ms`);
      assert.ok(large.grownBytes < large.usedBytes / 4 + 1_000_000, `grew ${large.grownBytes} of ${large.usedBytes}`);
    });
  });
}

const NOTHING: Disposable = { [Symbol.dispose]: () => {} };

/** A world and one process that watches its first member. */
interface OpenSource extends AsyncDisposable {
  readonly world: SourceWorld;
  readonly source: Source;
  readonly clock: JumpingClock;
  readonly watched: WatchedPersona;
  readonly delivered: SinkRecord;
  /** The first member unless another is named. */
  find(address?: string): Promise<Persona>;
}

async function open(rig: SourceRig): Promise<OpenSource> {
  await using stack = new AsyncDisposableStack();
  const clock = createJumpingClock(realClock);
  const world = stack.use(await rig.createWorld(clock));
  const source = stack.use(world.open());
  const delivered = createDelivered();
  const persona = await find(source, world.addresses[0]);
  const all = stack.move();
  return {
    ...{ world, source, clock, delivered, watched: watchPersona(source, persona, clock, delivered) },
    find: (address = world.addresses[0]) => find(source, address),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function find(source: Source, address: string): Promise<Persona> {
  const persona = (await source.personas(never)).find((each) => each.address === address);
  return persona ?? assert.fail(`${address} is not listed`);
}

async function list(source: Source): Promise<readonly string[]> {
  return (await source.personas(never)).map(({ address }) => address);
}

/** A poll without the time of its answer, and without whom to tell that it was delivered. */
async function poll(
  source: Source,
  persona: Persona,
  from: Checkpoint = UNSET,
  signal: AbortSignal = never,
): Promise<Omit<PollResult, 'at' | 'delivered'>> {
  const { at: _at, delivered: _delivered, ...result } = await source.poll(persona, from, signal);
  return result;
}

/** The fault that a call throws; null when it answers. Anything else that it throws fails the test. */
async function catchFault(call: () => Promise<unknown>): Promise<Fault | null> {
  try {
    await call();
    return null;
  } catch (error) {
    assert.ok(error instanceof Fault, `no Fault: ${error}`);
    assert.ok(error.scope.key !== '' && error.message !== '', 'it names nothing');
    assert.ok(error.explain().endsWith(FAULTS[error.code].next), 'it has no next step');
    return error;
  }
}

/** What a poll holds, without what can no longer be read of it. */
function listThings({ evidence }: Pick<PollResult, 'evidence'>): readonly string[] {
  if (evidence.is === 'log') return evidence.messages.map(({ id }) => `${id}`);
  return evidence.is === 'set' ? evidence.items.map(({ key, fingerprint }) => `${key} ${fingerprint}`).sort() : [];
}

/** Of a count that is not known nothing is claimed. */
function assertCovers(count: Count | undefined, truth: Count | undefined): void {
  if (count === undefined || count.is === 'unknown') return;
  if (count.is === 'atLeast' && truth?.is === 'exact') assert.ok(count.n <= truth.n);
  else assert.deepEqual(count, truth);
}

async function checkFault(rig: SourceRig, name: string): Promise<void> {
  await using place = await open(rig);
  const { world, clock, watched, delivered } = place;
  const fault = world.faults[name] ?? assert.fail(`the rig has no fault ${name}`);
  const [ada, bo] = world.addresses;
  for (const text of ['one', 'two']) await world.send(ada, text);
  await world.send(bo, 'other');
  const persona = await place.find();
  const other = await place.find(bo);
  await watched.poll();
  const truth = await poll(place.source, persona, watched.watcher.state.checkpoint);
  const otherTruth = await poll(place.source, other);
  const listed = await list(place.source);
  const texts = listTexts(delivered);

  await fault.break();
  await using stack = new AsyncDisposableStack();
  const sources = [place.source];
  const refused = await catchFault(async () => void sources.push(stack.use(world.open())));
  assert.ok(refused === null || fault.scope === 'machine', 'a source begins, whatever is wrong with its store');
  for (const source of sources) {
    let thrown: Fault | null = null;
    let isListed = true;
    const { checkpoint } = watched.watcher.state;
    const check = async (call: () => Promise<void>): Promise<void> => {
      const found = await catchFault(call);
      if (found !== null && fault.scope === 'source') assert.notEqual(found.scope.is, 'machine');
      thrown ??= found;
    };
    await check(async () => {
      const now = await list(source);
      isListed = now.includes(ada);
      const concerned = fault.scope === 'persona' ? [ada] : [];
      const isOther = (address: string): boolean => !concerned.includes(address);
      assert.deepEqual(now.filter(isOther), listed.filter(isOther), 'it lists fewer');
    });
    await check(async () => {
      const result = await poll(source, persona, checkpoint);
      assert.deepEqual(listThings(result), listThings(truth));
      assertCovers(result.unread, truth.unread);
    });
    const checkOther = async (): Promise<void> => {
      const result = await poll(source, other);
      assert.deepEqual(listThings(result), listThings(otherTruth));
      assertCovers(result.unread, otherTruth.unread);
    };
    if (fault.scope === 'persona') await checkOther();
    else await check(checkOther);
    await check(async () => {
      const counts = (await source.pending?.once(never))?.byAddress;
      if (counts === undefined) return;
      if (isListed) assertCovers(counts.get(ada)?.unread ?? exactly(0), truth.unread);
      assertCovers(counts.get(bo)?.unread ?? exactly(0), otherTruth.unread);
    });
    assert.ok(thrown !== null || fault.scope === 'persona', 'nobody is told of it');
    if (fault.scope !== 'persona') assert.notEqual(source.isGone?.(persona), true, 'nobody knows that it is gone');
  }
  const outcome = await watched.poll();
  await stack.disposeAsync();
  assert.ok(outcome.is === 'failed' || fault.scope === 'persona', 'it counts as healthy');
  assert.deepEqual(listTexts(delivered), texts);

  await fault.mend();
  await world.send(ada, 'three');
  clock.jump(BELIEVED_MS);
  assert.equal((await watched.poll()).is, 'healthy');
  assert.equal((await watched.poll()).is, 'healthy');
  assert.deepEqual(listTexts(delivered), rig.evidence === 'level' ? [] : ['one', 'two', 'three']);
  assert.deepEqual((await poll(place.source, persona)).unread, exactly(3));
  assert.deepEqual(await list(place.source), listed);
}

async function checkLeaving(rig: SourceRig): Promise<void> {
  await using place = await open(rig);
  const { source, world, watched, delivered } = place;
  const [ada, bo] = world.addresses;
  await world.send(ada, 'one');
  const [persona, other] = [await place.find(ada), await place.find(bo)];
  await watched.poll();
  assert.deepEqual([source.isGone?.(persona), source.isGone?.(other)], [false, false]);
  await (world.remove ?? assert.fail('the rig cannot remove a member'))();
  assert.ok(!(await list(source)).includes(ada));
  await watched.poll();
  assert.deepEqual([source.isGone?.(persona), source.isGone?.(other)], [true, false]);
  assert.deepEqual((await poll(source, persona)).unread, exactly(0));
  assert.ok((await list(source)).includes(bo));
  assert.deepEqual(listTexts(delivered), rig.evidence !== 'level' ? ['one'] : []);
}

async function checkHalves(rig: SourceRig): Promise<void> {
  await using place = await open(rig);
  const { world, clock, watched, delivered, source } = place;
  const [ada] = world.addresses;
  const persona = await place.find();
  const sent: string[] = [];
  for (let cut = 0, cuts = 1; cut < cuts; cut += 1) {
    const text = `message ${sent.length}`;
    const half = (await world.begin?.(ada, text)) ?? assert.fail('the rig has no half-written message');
    if (cut === 0) cuts = Math.min(half.size, MOST_CUTS);
    const size = Math.floor((half.size * cut) / cuts);
    await half.write(size);
    const { is } = await watched.poll();
    assert.ok(is === 'healthy' || is === 'failed');
    if (rig.evidence !== 'level') assert.deepEqual(listTexts(delivered), sent, `${size} bytes of ${half.size}`);
    else if (is === 'healthy') assertCountIn((await poll(source, persona)).unread, sent.length, sent.length + 1);
    await half.finish();
    sent.push(text);
    assert.equal((await watched.poll()).is, 'healthy');
    clock.jump(BELIEVED_MS);
    await watched.poll();
    if (rig.evidence !== 'level') assert.deepEqual(listTexts(delivered), sent, `whole after ${size} bytes`);
    assert.deepEqual((await poll(source, persona)).unread, exactly(sent.length));
  }
}

async function checkAbort(rig: SourceRig): Promise<void> {
  await using place = await open(rig);
  const { world, source, watched } = place;
  const persona = await place.find();
  (world.hang ?? assert.fail('the rig cannot hang'))();
  const calls = [
    (signal: AbortSignal) => source.personas(signal),
    (signal: AbortSignal) => poll(source, persona, UNSET, signal),
    (signal: AbortSignal) => source.pending?.once(signal),
    (signal: AbortSignal) => source.pending?.hold?.('none', 60_000, signal),
  ];
  const abort = new AbortController();
  let waiting = calls.length;
  for (const call of calls) {
    const end = (): void => {
      waiting -= 1;
    };
    (async () => await call(abort.signal))().then(end, end);
  }
  const outcome = watched.poll(abort.signal);
  await sleep(30);
  abort.abort();
  await until(
    () => `${waiting} calls still wait`,
    () => waiting === 0,
    10_000,
  );
  assert.equal((await outcome).is, 'stopped');
  assert.equal(watched.watcher.state.failures, 0);
}

function assertCountIn(count: Count, ...truths: readonly number[]): void {
  assert.ok(count.is === 'unknown' || (count.is === 'exact' && truths.includes(count.n)), JSON.stringify(count));
}

async function checkHints({ world, source, watched, delivered }: OpenSource): Promise<void> {
  const [ada, bo] = world.addresses;
  const woken: string[] = [];
  const hints = source.hints?.((address) => void woken.push(address)) ?? assert.fail('no hints');
  await watched.poll();
  await poll(source, await find(source, bo));
  await quiet(woken);
  await world.send(ada, 'one');
  await until(`${ada} is woken`, () => woken.includes(ada));
  assert.ok(!woken.includes(bo), 'nothing is new for others');
  await until('the hint is true', async () => {
    await watched.poll();
    return listTexts(delivered).length > 0 || (await isCounted(source, await find(source, ada)));
  });
  await quiet(woken);
  hints[Symbol.dispose]();
  await world.send(ada, 'two');
  await sleep(60);
  assert.deepEqual(woken, [], 'nobody listens any more');
}

async function isCounted(source: Source, persona: Persona): Promise<boolean> {
  const { unread } = await poll(source, persona);
  return unread.is === 'exact' && unread.n === 1;
}

/** Waits until nothing wakes for a while, and forgets what did. */
async function quiet(woken: string[]): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    woken.length = 0;
    await sleep(60);
    if (woken.length === 0) return;
  }
  assert.fail(`it wakes without end: ${woken.join(' ')}`);
}

async function checkHold({ world, source }: OpenSource): Promise<void> {
  const [ada] = world.addresses;
  const before = await source.pending?.once(never);
  const held = source.pending?.hold?.(before?.cursor ?? assert.fail('no cursor'), 60_000, never);
  let isOver = false;
  void held?.then(() => {
    isOver = true;
  });
  await sleep(60);
  assert.ok(!isOver, 'nothing changed');
  await world.send(ada, 'one');
  const after = await held;
  assert.deepEqual(after?.byAddress.get(ada)?.unread, exactly(1));
  assert.notEqual(after?.cursor, before?.cursor);
}

/** Time is that of the processor, in milliseconds: others at work on the machine do not count. */
interface Cost {
  readonly listMs: number;
  /** Per poll. */
  readonly pollMs: number;
  readonly usedBytes: number;
  /** How much more memory is in use after further rounds. */
  readonly grownBytes: number;
}

async function measure(rig: SourceRig, members: number): Promise<Cost> {
  const clock = createJumpingClock(realClock);
  await using world = await rig.createWorld(clock);
  await world.fill(members);
  const before = countUsedBytes();
  await using source = world.open();
  using _ = source.hints?.(() => {}) ?? NOTHING;
  const personas = await source.personas(never);
  assert.equal(personas.length, members);
  assert.equal(new Set(personas.map(({ id }) => id)).size, members);
  const polled = personas.filter((_, i) => i % Math.ceil(members / MOST_POLLED) === 0).slice(0, members / 10);
  let listMs = Number.POSITIVE_INFINITY;
  let pollMs = Number.POSITIVE_INFINITY;
  let usedBytes = 0;
  for (let round = 0; round < 6; round += 1) {
    listMs = Math.min(listMs, await takeTime(() => source.personas(never)));
    const ms = await takeTime(async () => {
      for (const persona of polled) await source.poll(persona, UNSET, never);
    });
    pollMs = Math.min(pollMs, ms / polled.length);
    await source.pending?.once(never);
    if (round === 1) usedBytes = countUsedBytes();
  }
  return { listMs, pollMs, usedBytes: usedBytes - before, grownBytes: countUsedBytes() - usedBytes };
}

async function takeTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function countUsedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
