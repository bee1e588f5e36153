import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { needs } from '../../test/kit/require.ts';
import { formatTakeLine, stillClocks } from '../../test/kit/still-clocks.ts';
import { type MailEvent, parseEventLine } from '../events/index.ts';
import { realClock, silentLog } from '../ports/index.ts';
import { createStdoutSink } from './stdout.node.ts';

const never = new AbortController().signal;
let dir: string;
let running: ChildProcess | null = null;
beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-stdout-'));
});
afterEach(async () => {
  if (running?.pid !== undefined) killGroup(running.pid);
  running = null;
  fs.rmSync(dir, { recursive: true, force: true });
});

/** The writer, and behind a shell also the reader of its pipe. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it ended by itself
  }
}

function mail(id: number, content = `mail ${id}`): MailEvent {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: '2026-06-20T10:00:00.000000+00:00',
    id,
    from: 'bo',
    created: '',
    content,
    event_id: `ada:new:${id}`,
    wake_class: 'mail',
  };
}

const parseIds = (text: string): number[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const event = parseEventLine(line);
      assert.ok(event !== null && 'id' in event, `not a whole line: ${line.slice(0, 100)}`);
      return event.id;
    });

/**
 * A process that writes to its stdout through the sink what `body` says, and reports on stderr. Through a shell pipe stdout is a
 * pipe(2), as under most harnesses; spawned directly by Node it is a socket.
 */
function writer(body: string, stdout: 'socket' | 'pipe', reader = 'cat'): ChildProcess {
  const file = join(dir, 'writer.ts');
  fs.writeFileSync(
    file,
    `import { createStdoutSink } from ${JSON.stringify(import.meta.resolve('./stdout.node.ts'))};
     import { realClock, realClocks } from ${JSON.stringify(import.meta.resolve('../ports/index.ts'))};
     const log = { info() {}, error() {}, warn: (line: string) => process.stderr.write('WARN ' + line + '\\n') };
     const sink = createStdoutSink({ clock: realClock, clocks: realClocks, log });
     const stop = new AbortController();
     const mail = (id: number, size = 10) => ({ event: 'new', source: 's', ts: '', id, from: 'bo', created: '',
       content: 'x'.repeat(size), event_id: 'ada:new:' + id, wake_class: 'mail' }) as const;
     await sink.open();
     ${body}`,
  );
  const child =
    stdout === 'socket'
      ? spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
      : spawn('/bin/sh', ['-c', `"$0" "$1" | { ${reader}; }`, process.execPath, file], {
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        });
  running = child;
  return child;
}

async function readText(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  assert.ok(stream);
  for await (const chunk of stream) text += String(chunk);
  return text;
}

for (const stdout of ['pipe', 'socket'] as const) {
  test(`lines come whole and in order through a ${stdout}, far more than it holds at once`, async () => {
    const child = writer(
      `for (let id = 1; id <= 100; id += 2) {
         const taken = await sink.take([mail(id, 9000), mail(id + 1, 9000)], null, stop.signal);
         if (taken.is !== 'all') throw taken.fault;
       }`,
      stdout,
      'sleep 0.3; cat',
    );
    // The pipe reader of the shell line sleeps by itself; the socket's reader is this process.
    if (stdout === 'socket') await wait(300);
    const [text, output] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
    assert.deepEqual(
      parseIds(text),
      Array.from({ length: 100 }, (_, n) => n + 1),
      output,
    );
  });

  test(`a ${stdout} whose reader does not read blocks neither the process nor an abort`, async () => {
    const child = writer(
      `let turns = 0;
       const timer = setInterval(() => { turns += 1; if (turns === 20) stop.abort(); }, 10);
       const taken = await sink.take(Array.from({ length: 50 }, (_, n) => mail(n, 20000)), null, stop.signal);
       clearInterval(timer);
       process.stderr.write(taken.is + ' ' + turns + '\\n');
       process.exit(0);`,
      stdout,
      'sleep 30',
    );
    assert.ok(child.stderr);
    const [output] = await once(child.stderr, 'data');
    assert.equal(String(output), 'stopped 20\n');
    child.kill();
  });
}

test('a line that an abort cut is completed first, and its event is not written twice', async () => {
  const child = writer(
    `const first = AbortSignal.timeout(100);
     const events = Array.from({ length: 50 }, (_, n) => mail(n + 1, 20000));
     const taken = await sink.take(events, null, first);
     const count = taken.is === 'stopped' ? taken.count : 50;
     const rest = await sink.take(events.slice(count), null, stop.signal);
     if (rest.is !== 'all' || count > 20) throw new Error(JSON.stringify([count, rest]));`,
    'pipe',
    'sleep 0.6; cat',
  );
  assert.deepEqual(
    parseIds(await readText(child.stdout)),
    Array.from({ length: 50 }, (_, n) => n + 1),
  );
});

for (const stdout of ['pipe', 'socket'] as const) {
  test(`D17: when the reader of a ${stdout} goes away that is a fault of its own, said once`, async () => {
    const child = writer(
      `await sink.take([mail(1)], null, stop.signal);
       const faults: string[] = [];
       for (let n = 0; faults.length < 3; n += 1) {
         const taken = await sink.take([mail(2, 20000)], null, stop.signal);
         if (taken.is === 'stopped') faults.push(taken.fault.code + taken.count);
         await new Promise((resolve) => setTimeout(resolve, 5));
       }
       process.stderr.write(faults.join(' ') + '\\n');`,
      stdout,
      'head -c 1 > /dev/null',
    );
    if (stdout === 'socket') {
      assert.ok(child.stdout);
      await once(child.stdout, 'data');
      child.stdout.destroy();
    }
    const output = await readText(child.stderr);
    assert.match(output, /^reader-gone0 reader-gone0 reader-gone0$/m);
    assert.equal(output.match(/WARN/g)?.length, 1, output);
  });
}

test('lines of two watches never mix', async () => {
  const fd = fs.openSync(join(dir, 'out'), 'w');
  try {
    await using sink = createStdoutSink({ clock: realClock, clocks: stillClocks, log: silentLog, fd });
    const batches = [1, 4, 7].map((id) => [mail(id), mail(id + 1), mail(id + 2)]);
    await Promise.all(batches.map((batch) => sink.take(batch, null, never)));
    assert.equal(fs.readFileSync(join(dir, 'out'), 'utf8'), batches.flat().map(formatTakeLine).join(''));
  } finally {
    fs.closeSync(fd);
  }
});

test('a full disk behind stdout is no-space', async (t) => {
  if (needs(t, fs.existsSync('/dev/full') ? null : '/dev/full is missing: only Linux has it')) return;
  const fd = fs.openSync('/dev/full', 'w');
  try {
    await using sink = createStdoutSink({ clock: realClock, clocks: stillClocks, log: silentLog, fd });
    const ack = await sink.take([mail(1)], null, never);
    assert.ok(ack.is === 'stopped' && ack.fault.code === 'no-space' && ack.count === 0);
  } finally {
    fs.closeSync(fd);
  }
});
