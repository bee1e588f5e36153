import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { afterEach, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  compiledWriter,
  done,
  listWritten,
  noCompiler,
  noPython,
  startWriter,
} from '../../../test/kit/queue-writers.ts';
import { needs } from '../../../test/kit/require.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { until } from '../../../test/kit/until.ts';
import { pause, realClock, realFiles, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk, type Disk, openDatabase } from '../../state/index.ts';
import { openItems } from '../index.ts';
import { append, parseEntry, type QueueMachine } from './entry.ts';
import { takeOver } from './take-over.ts';

const disk = createRealDisk(silentLog);
const machineOn = (on: Disk): QueueMachine => ({ disk: on, clock: realClock, random: realRandom });
const machine = machineOn(disk);
const noProc = fs.existsSync('/proc/locks') ? null : '/proc/locks is missing: Linux has it';

const children: ChildProcess[] = [];
const started = <C extends ChildProcess>(child: C): C => {
  children.push(child);
  return child;
};
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

function storeIn(dir: string) {
  const db = openDatabase(`${dir}/hivebar.sqlite`);
  const items = openItems({ db, clock: realClock });
  const contents = db.prepare<{ content: string }>('SELECT content FROM inbox');
  return {
    insert: items.push,
    contents: () => contents.all().map(({ content }) => content),
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}

/** Whether somebody waits for the lock of this file. */
function hasWaiter(path: string): boolean {
  const { ino } = fs.statSync(path);
  return fs
    .readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => line.includes('->') && line.includes('FLOCK') && line.includes(`:${ino} `));
}

describe('writers in Python and C against a draining reader', () => {
  test('seed 1, 14: 6 writers of 2,000 lines each: none is lost and none is there twice', async (t) => {
    if (needs(t, noPython ?? noCompiler)) return;
    using dir = scratch();
    using store = storeIn(dir.dir);
    const program = compiledWriter(dir.dir);
    const queue = { path: dir.at('s1.jsonl'), persona: 'ada' };
    const writings = ['p1', 'p2', 'p3', 'c1', 'c2', 'c3'].map((name) => ({
      path: queue.path,
      name,
      count: 2000,
      pauseSeconds: name.endsWith('1') ? 0 : 0.001, // one of each as fast as it can
    }));
    const writers = writings.map((writing) =>
      started(startWriter(writing.name.startsWith('c') ? program : null, writing)),
    );
    const ends = writers.map(done);
    let running = writers.length;
    for (const end of ends) end.then(() => (running -= 1)).catch(() => (running -= 1));
    let takeOvers = 0;
    let bad = 0;
    while (running > 0) {
      const accepted = takeOver(machine, queue, store.insert, 250);
      if (accepted.items > 0) takeOvers += 1;
      bad += accepted.bad;
      await turn();
    }
    await Promise.all(ends);
    bad += takeOver(machine, queue, store.insert, 250).bad;
    assert.deepEqual(store.contents().sort(), writings.flatMap(listWritten).sort());
    assert.equal(bad, 0);
    assert.ok(takeOvers > 1, `${takeOvers} take-overs: it was not drained while they wrote`);
    t.diagnostic(`${takeOvers} take-overs`);
  });

  test('the file of a foreign writer becomes private, and is never unlinked', async (t) => {
    if (needs(t, noPython)) return;
    using dir = scratch();
    const path = dir.at('s1.jsonl');
    await done(startWriter(null, { path, name: 'p', count: 2 }));
    const { ino } = fs.statSync(path);
    const accepted = takeOver(machine, { path, persona: 'ada' }, () => {}, 250);
    assert.deepEqual(accepted, { items: 2, bad: 0, isHeld: false });
    const { ino: after, size, mode } = fs.statSync(path);
    assert.deepEqual([after, size, mode & 0o777], [ino, 0, 0o600]);
    assert.equal(fs.statSync(`${path}.draining`).mode & 0o777, 0o600);
  });

  test('seed 14: a lock that a Python writer holds is waited for a quarter of a second, then the queue is left as it is', async (t) => {
    if (needs(t, noPython)) return;
    using dir = scratch();
    const path = dir.write('s1.jsonl', '{"content":"a"}\n');
    const script =
      'import fcntl,sys\nf=open(sys.argv[1],"a")\nfcntl.flock(f,2)\nprint("got",flush=True)\nsys.stdin.read()';
    const holder = started(spawn('python3', ['-c', script, path], { stdio: ['pipe', 'pipe', 'inherit'] }));
    await once(holder.stdout, 'data');
    const none = () => assert.fail('nothing is to be inserted');
    assert.deepEqual(takeOver(machine, { path, persona: 'ada' }, none, 250), { items: 0, bad: 0, isHeld: true });
    assert.equal(dir.text('s1.jsonl'), '{"content":"a"}\n');
    holder.stdin.end();
    await once(holder, 'exit');
    assert.equal(takeOver(machine, { path, persona: 'ada' }, () => {}, 250).items, 1);
  });
});

describe('who waits for the lock of a queue', () => {
  test('inbox-gates 8.4a: a message whose writer waits while the queue is taken over is not lost', async (t) => {
    if (needs(t, noPython ?? noProc)) return;
    using dir = scratch();
    using store = storeIn(dir.dir);
    const path = dir.write('s1.jsonl', '{"content":"first"}\n');
    let writer: ChildProcess | null = null;
    // The copy is synced while we hold the lock of the queue: at that moment a writer comes, opens the file, and waits.
    const files = {
      ...realFiles,
      fsync(fd: number) {
        realFiles.fsync(fd);
        if (writer !== null || fs.readlinkSync(`/proc/self/fd/${fd}`) !== `${path}.draining`) return;
        writer = started(startWriter(null, { path, name: 'late', count: 1 }));
        for (let tries = 0; !hasWaiter(path); tries += 1) {
          assert.ok(tries < 20_000, 'the writer never came to wait');
          pause(1);
        }
      },
    };
    const queue = { path, persona: 'ada' };
    takeOver(machineOn({ ...disk, files }), queue, store.insert, 250);
    assert.deepEqual(store.contents(), ['first']);
    assert.ok(writer !== null);
    await done(writer);
    takeOver(machine, queue, store.insert, 250);
    assert.deepEqual(store.contents(), ['first', 'late 0']);
  });

  test('inbox-gates 8.4a: a line of ours is not lost to a foreign drainer that unlinks the queue under its lock', async (t) => {
    if (needs(t, noPython ?? noProc)) return;
    using dir = scratch();
    const path = dir.write('s1.jsonl', '{"content":"first"}\n');
    const script =
      'import fcntl,os,sys\nf=open(sys.argv[1],"r+")\nfcntl.flock(f,2)\nprint("got",flush=True)\nsys.stdin.read()\nos.unlink(sys.argv[1])\nf.close()';
    const drainer = started(spawn('python3', ['-c', script, path], { stdio: ['pipe', 'pipe', 'inherit'] }));
    await once(drainer.stdout, 'data');
    const appender = started(
      spawn(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `const { append, parseEntry } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
         const { createRealDisk } = await import(${JSON.stringify(import.meta.resolve('../../state/index.ts'))});
         const { realClock, realRandom, silentLog, realFiles } = await import(${JSON.stringify(import.meta.resolve('../../ports/index.ts'))});
         const files = { ...realFiles, open: (...args) => { const fd = realFiles.open(...args); console.log('opened'); return fd; } };
         const machine = { disk: { ...createRealDisk(silentLog), files }, clock: realClock, random: realRandom };
         append(machine, ${JSON.stringify(path)}, parseEntry('{"content":"ours"}', 0).entry, 60000);`,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      ),
    );
    await once(appender.stdout, 'data');
    drainer.stdin.end();
    await done(appender);
    const left = dir.text('s1.jsonl').split('\n').slice(0, -1);
    assert.deepEqual(
      left.map((line) => entryContent(line)),
      ['ours'],
    );
  });
});

const entryContent = (line: string): string | null => {
  const read = parseEntry(line, 0);
  return read.is === 'entry' ? read.entry.content : null;
};

describe('lines that are long, torn or bad', () => {
  test('a line of 1 MiB is taken whole, and one that is longer is put aside, cut', () => {
    using dir = scratch();
    using store = storeIn(dir.dir);
    const path = dir.at('s1.jsonl');
    const whole = 'x'.repeat(1024 * 1024);
    fs.writeFileSync(path, `${JSON.stringify({ content: whole })}\n${JSON.stringify({ content: `${whole}y` })}\n`);
    assert.deepEqual(takeOver(machine, { path, persona: 'ada' }, store.insert, 250), {
      items: 1,
      bad: 1,
      isHeld: false,
    });
    assert.equal(store.contents()[0], whole);
    const bad = fs.statSync(`${path}.bad`);
    assert.deepEqual([bad.size, bad.mode & 0o777], [64 * 1024 + 1, 0o600]);
  });

  test('a writer without the lock that is in the middle of its line gets a moment to end it', async (t) => {
    if (needs(t, noPython)) return;
    using dir = scratch();
    using store = storeIn(dir.dir);
    const path = dir.write('s1.jsonl', '{"content":"a"}\n{"content":"half');
    let reads = 0;
    const files = {
      ...realFiles,
      read(fd: number, into: Uint8Array, position: number) {
        const got = realFiles.read(fd, into, position);
        if (got === 0 && fs.readlinkSync(`/proc/self/fd/${fd}`) === path) {
          reads += 1;
          if (reads === 2) fs.appendFileSync(path, ' and half"}\n');
        }
        return got;
      },
    };
    if (needs(t, noProc)) return;
    takeOver(machineOn({ ...disk, files }), { path, persona: 'ada' }, store.insert, 250);
    assert.deepEqual(store.contents(), ['a', 'half and half']);
  });

  test('what a writer without the lock appends while the lines are copied is taken as well', (t) => {
    if (needs(t, noProc)) return;
    using dir = scratch();
    using store = storeIn(dir.dir);
    const path = dir.write('s1.jsonl', '{"content":"a"}\n');
    let times = 0;
    const files = {
      ...realFiles,
      fsync(fd: number) {
        realFiles.fsync(fd);
        if (times === 2 || fs.readlinkSync(`/proc/self/fd/${fd}`) !== `${path}.draining`) return;
        times += 1;
        fs.appendFileSync(path, `{"content":"b${times}"}\n`);
      },
    };
    const queue = { path, persona: 'ada' };
    takeOver(machineOn({ ...disk, files }), queue, store.insert, 250);
    takeOver(machine, queue, store.insert, 250);
    assert.deepEqual(store.contents(), ['a', 'b1', 'b2']);
    assert.equal(fs.existsSync(`${path}.bad`), false);
  });

  test('half a line of a writer that died is put aside; what our own append puts behind it is a line of its own', () => {
    using dir = scratch();
    using store = storeIn(dir.dir);
    const path = dir.write('s1.jsonl', '{"content":"he');
    const read = parseEntry('{"content":"ours","timestamp":5}', 0);
    assert.ok(read.is === 'entry');
    append(machine, path, read.entry);
    append(machine, path, read.entry);
    assert.equal(
      dir.text('s1.jsonl').split('\n')[0],
      '{"content":"he',
      'for readers that cannot find a line inside a line',
    );
    const accepted = takeOver(machine, { path, persona: 'ada' }, store.insert, 250);
    assert.deepEqual(accepted, { items: 2, bad: 1, isHeld: false });
    assert.deepEqual(store.contents(), ['ours', 'ours']);
    assert.equal(dir.text('s1.jsonl.bad'), '{"content":"he\n');
  });

  test('the file of bad lines is bounded: it begins anew', () => {
    using dir = scratch();
    const path = dir.at('s1.jsonl');
    for (let round = 0; round < 5; round += 1) {
      fs.writeFileSync(path, `${'x'.repeat(60_000)}\n`.repeat(9));
      assert.equal(takeOver(machine, { path, persona: 'ada' }, () => {}, 250).bad, 9);
      assert.ok(fs.statSync(`${path}.bad`).size <= 1024 * 1024);
    }
    assert.ok(fs.statSync(`${path}.bad`).size > 0);
  });

  test('a file of bad lines that cannot be written does not keep the lines behind them waiting', () => {
    using dir = scratch();
    using store = storeIn(dir.dir);
    const path = dir.write('s1.jsonl', 'bad\n{"content":"a"}\n');
    fs.mkdirSync(`${path}.bad`);
    const accepted = takeOver(machine, { path, persona: 'ada' }, store.insert, 250);
    assert.deepEqual([accepted.items, accepted.bad, store.contents()], [1, 1, ['a']]);
    assert.equal(fs.statSync(`${path}.draining`).size, 0);
  });

  test('a queue over 64 MiB is left as it is, and said', () => {
    using dir = scratch();
    const path = dir.write('s1.jsonl', '');
    fs.truncateSync(path, 64 * 1024 * 1024 + 1);
    const none = () => assert.fail('nothing is to be inserted');
    assert.throws(() => takeOver(machine, { path, persona: 'ada' }, none, 250), { message: /over 67108864/ });
    assert.equal(fs.statSync(path).size, 64 * 1024 * 1024 + 1);
  });
});

test('a process that looks while another takes over waits for it, and then finds nothing left', async (t) => {
  if (needs(t, noProc)) return;
  using dir = scratch();
  const path = dir.write('s1.jsonl', '{"content":"a"}\n');
  const script = `
    const { takeOver } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
    const { createRealDisk } = await import(${JSON.stringify(import.meta.resolve('../../state/index.ts'))});
    const { realClock, realRandom, silentLog } = await import(${JSON.stringify(import.meta.resolve('../../ports/index.ts'))});
    const { readSync } = await import('node:fs');
    const machine = { disk: createRealDisk(silentLog), clock: realClock, random: realRandom };
    takeOver(machine, { path: ${JSON.stringify(path)}, persona: 'ada' }, () => {
      console.log('inserting');
      try { readSync(0, Buffer.alloc(1)); } catch {}
    }, 250);`;
  const other = started(
    spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  await once(other.stdout, 'data');
  const none = () => assert.fail('nothing is to be inserted twice');
  assert.equal(takeOver(machine, { path, persona: 'ada' }, none, 100).isHeld, true);
  other.stdin.end('x');
  await done(other);
  await until('the copy is empty', () => fs.statSync(`${path}.draining`).size === 0);
  assert.deepEqual(takeOver(machine, { path, persona: 'ada' }, none, 250), { items: 0, bad: 0, isHeld: false });
});
