import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { done, listWritten, noPython, startWriter } from '../../../test/kit/queue-writers.ts';
import { needs } from '../../../test/kit/require.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realClock, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk, openDatabase } from '../../state/index.ts';
import { openItems } from '../index.ts';
import { takeOver } from './take-over.ts';

const KILLS = 12;

/** Takes over again and again until it is killed. */
const DRAINER = `
const [dir] = process.argv.slice(-1);
const { takeOver } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
const { openItems } = await import(${JSON.stringify(import.meta.resolve('../index.ts'))});
const { openDatabase, createRealDisk } = await import(${JSON.stringify(import.meta.resolve('../../state/index.ts'))});
const { pause, realClock, realRandom, silentLog } = await import(${JSON.stringify(import.meta.resolve('../../ports/index.ts'))});
const items = openItems({ db: openDatabase(dir + '/hivebar.sqlite'), clock: realClock });
const machine = { disk: createRealDisk(silentLog), clock: realClock, random: realRandom };
console.log('ready');
const queue = { path: dir + '/s1.jsonl', persona: 'ada' };
for (;;) if (takeOver(machine, queue, items.push, 250).items === 0) pause(2);
`;

test('a drainer that is killed with SIGKILL at any moment, again and again: every line is there once', async (t) => {
  if (needs(t, noPython)) return;
  using dir = scratch();
  const queue = { path: dir.at('s1.jsonl'), persona: 'ada' };
  using db = openDatabase(dir.at('hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  const contents = db.prepare<{ content: string }>('SELECT content FROM inbox');

  const written: { name: string; count: number }[] = [];
  const drainers: ChildProcess[] = [drain(dir.dir)];
  try {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writing = { name: `w${kill}`, count: 300 };
      written.push(writing);
      const drainer = drainers.at(-1);
      assert.ok(drainer?.stdout);
      await once(drainer.stdout, 'data');
      const writer = startWriter(null, { ...writing, path: queue.path, pauseSeconds: 0.0005 });
      const ended = done(writer);
      await findLine(contents, writing.name, ended); // it is in the middle of taking over this writer's lines
      await sleep(Math.random() * 40); // whatever it does then
      drainer.kill('SIGKILL');
      drainers.push(drain(dir.dir));
      await ended;
    }
  } finally {
    for (const drainer of drainers) {
      drainer.kill('SIGKILL');
      if (drainer.exitCode === null && drainer.signalCode === null) await once(drainer, 'exit');
    }
  }
  const ends = drainers.map(({ signalCode }) => signalCode);
  assert.deepEqual([...new Set(ends)], ['SIGKILL'], 'none of them ended by itself');
  const machine = { disk: createRealDisk(silentLog), clock: realClock, random: realRandom };
  const left = takeOver(machine, queue, items.push, 20_000);
  t.diagnostic(`${left.items} lines were left for the last one`);
  const found = contents.all().map(({ content }) => content);
  assert.deepEqual(found.sort(), written.flatMap(listWritten).sort());
});

function drain(dir: string): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '-e', DRAINER, '--', dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Waits until the store has a line of this writer, or the writer is done. */
async function findLine(
  contents: { all(): readonly { content: string }[] },
  name: string,
  ended: Promise<void>,
): Promise<void> {
  let isOver = false;
  const over = ended.finally(() => (isOver = true)).catch(() => {}); // whoever awaits `ended` hears of it
  while (!isOver && !contents.all().some(({ content }) => content.startsWith(`${name} `))) {
    await Promise.race([sleep(5), over]);
  }
}
