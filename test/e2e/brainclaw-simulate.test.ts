import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { simulateMail } from '../../core/sources/brainclaw/commands/simulated-items.ts';
import type { SimulationSummary } from '../../core/sources/brainclaw/commands/simulation.ts';
import { type BrainclawCli, brainclawCli, type DoctorReport, startTail } from '../kit/brainclaw-cli.ts';
import { DATA } from '../kit/brainclaw-store.ts';
import { startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';

interface Output {
  readonly store: string;
  readonly written: SimulationSummary;
  readonly inboxes: ReturnType<typeof simulateMail>['inboxes'];
}

const simulate = async (run: BrainclawCli, ...args: readonly string[]): Promise<Output> => {
  const { code, json, err } = await run(['simulate', '--json', ...args], { project: null });
  assert.equal(code, 0, err);
  return json<Output>();
};
const filesIn = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(root.length), readFileSync(path, 'utf8')]),
  );

describe('simulate', () => {
  for (const args of [
    [],
    ['--records', '3000', '--agents', '6', '--attention', '23', '--handoffs', '40', '--seed', '7', '--roll', '50000'],
    ['--records', '2', '--attention', '0', '--handoffs', '0', '--agents', '1'],
    ['--records', '12', '--attention', '10', '--handoffs', '0'],
  ]) {
    test(`writes what reads back exactly: ${args.join(' ') || 'as it is'}`, async () => {
      using place = scratch();
      const run = brainclawCli(place);
      const { written, inboxes, store } = await simulate(run, '--to', place.dir, ...args);
      const { segments, bytes, ...expected } = written;
      assert.equal(store, place.at('.brainclaw'));
      const board = (await run(['board', '--json'])).json<Readonly<Record<string, unknown>>>();
      const { plans, claims, assignments, runs } = board.counts as SimulationSummary['counts'];
      const handoffs = Object.values(board.openHandoffsPerAddressee as Readonly<Record<string, number>>);
      assert.deepEqual(
        {
          ...{ records: board.applied, entities: board.entities, registryAuthoritative: board.registryAuthoritative },
          ...{ attention: board.attention_required, counts: { plans, claims, assignments, runs } },
          openHandoffs: handoffs.reduce((sum, count) => sum + count, 0),
        },
        expected,
      );
      assert.deepEqual([board.cursor, board.remarks], [{ seq: written.records, checkpoint_seq: 0 }, []]);
      const { agents } = (await run(['inbox', '--json'])).json<{ agents: Output['inboxes'] }>();
      assert.deepEqual(
        Object.entries(agents).map(([agent, { pending, actionable }]) => [agent, { pending, actionable }]),
        Object.entries(inboxes).sort(),
      );
      const doctor = await run(['doctor', '--json']);
      assert.deepEqual([doctor.code, doctor.json<DoctorReport>().findings], [0, []]);
      const texts = Object.entries(filesIn(join(store, 'events'))).filter(([name]) => name.startsWith('/seg-'));
      assert.equal(texts.length, segments);
      assert.equal(
        texts.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0),
        bytes,
      );
    });
  }

  test('writes the same for the same seed, and something else for another', async () => {
    using place = scratch();
    const run = brainclawCli(place);
    const more = ['--records', '400', '--roll', '30000'];
    for (const [to, seed] of [
      ['a', '3'],
      ['b', '3'],
      ['c', '4'],
    ] as const)
      await simulate(run, '--to', place.at(to), '--seed', seed, ...more);
    const [a, b, c] = ['a', 'b', 'c'].map((to) => filesIn(place.at(to)));
    assert.deepEqual(a, b);
    assert.notDeepEqual(a, c);
  });

  test('every batch begins with an empty line, and a handoff has the bytes that are asked for', async () => {
    using place = scratch();
    const args = ['--records', '60', '--handoffs', '3', '--handoff-bytes', '20000'];
    const { written } = await simulate(brainclawCli(place), '--to', place.dir, ...args);
    const text = readFileSync(place.at('.brainclaw', 'events', 'seg-00000001.jsonl'), 'utf8');
    assert.ok(text.startsWith('\n{"v":2,"seq":1,') && text.endsWith('}\n'));
    assert.ok(text.split('\n\n').length > 10);
    assert.equal(text.split('\n').filter((line) => line.length > 20_000).length, 3);
    assert.equal(Buffer.byteLength(text), written.bytes);
  });

  test('never touches a store that it did not make', async () => {
    using place = scratch();
    const run = brainclawCli(place);
    const real = join(DATA, 'journal');
    const before = filesIn(real);
    mkdirSync(place.at('empty', '.brainclaw'), { recursive: true });
    mkdirSync(place.at('linked'));
    symlinkSync(join(real, '.brainclaw'), place.at('linked', '.brainclaw'));
    mkdirSync(place.at('lying', '.brainclaw'), { recursive: true });
    writeFileSync(place.at('lying', '.brainclaw', 'hivebar-simulated.json'), 'null');
    mkdirSync(place.at('file'));
    writeFileSync(place.at('file', '.brainclaw'), 'kept');
    for (const to of [real, place.at('empty'), place.at('linked'), place.at('lying'), place.at('file')]) {
      const { code, out, err } = await run(['simulate', '--to', to], { project: null });
      assert.deepEqual([code, out], [1, ''], to);
      assert.match(err, /was not written by simulate: use another folder with --to/);
    }
    assert.deepEqual(filesIn(real), before);
    assert.deepEqual(readdirSync(place.at('empty', '.brainclaw')), []);
    assert.equal(readFileSync(place.at('file', '.brainclaw'), 'utf8'), 'kept');
  });

  test('replaces one that it made, with all that was in it', async () => {
    using place = scratch();
    const run = brainclawCli(place);
    await simulate(run, '--to', place.dir, '--records', '300', '--roll', '20000');
    appendFileSync(place.at('.brainclaw', 'events', 'seg-00000001.jsonl'), 'x');
    const { written } = await simulate(run, '--to', place.dir, '--records', '60');
    assert.deepEqual([(await run(['board', '--json'])).json().applied, written.segments], [60, 1]);
  });

  test('goes on at a rate until it is stopped, and whoever follows has every record', async () => {
    using place = scratch();
    const env = { HIVEBAR_HOME: place.at('hivebar') };
    await using writer = startCli(
      ['brainclaw', 'simulate', '--to', place.dir, '--records', '50', '--follow-rate', '100'],
      { env },
    );
    await writer.until('the store', () => writer.lines.length === 1);
    await using tail = startTail(place, ['--since', '0', '--json']);
    await tail.until('more than there was', () => tail.lines.length > 120);
    for (let poll = 0; poll < 3; poll += 1) {
      const { findings } = (await brainclawCli(place)(['doctor', '--json'])).json<DoctorReport>();
      const defects = findings.filter(({ is }) => is === 'defect');
      assert.deepEqual(defects, []);
    }
    assert.equal((await writer.stop()).code, 0);
    const board = (await brainclawCli(place)(['board', '--json'])).json<{
      applied: number;
      remarks: readonly string[];
    }>();
    await tail.until('all there is', () => tail.lines.length === board.applied);
    const seqs = tail.lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
    assert.deepEqual(
      seqs,
      Array.from({ length: board.applied }, (_, n) => n + 1),
    );
    assert.deepEqual(board.remarks, []);
    assert.equal((await brainclawCli(place)(['doctor'])).code, 0);
  });

  test('refuses what cannot be', async () => {
    using place = scratch();
    for (const args of [
      ['--records', '3'],
      ['--agents', '0'],
      ['--follow-rate', '100000'],
    ]) {
      const { code, out } = await brainclawCli(place)(['simulate', '--to', place.at('x'), ...args], { project: null });
      assert.deepEqual([code, out], [2, ''], args.join(' '));
    }
    assert.equal(place.list().includes('x'), false);
  });
});
