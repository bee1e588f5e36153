import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { after, test } from 'node:test';
import { type Event, parseEventLine } from '../events/index.ts';

/**
 * A watch of a set with the real outbox and database, killed with SIGKILL: by itself after its n-th call to the disk, so also between
 * the journal and the event file, or from outside at any moment. A message comes with every look, is delivered two looks later,
 * read after four, and gone after seven.
 */
const LIVES = 24;
const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-set-kill-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const at = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
const FILE = 'events.ada.ndjson';

const SCRIPT = `
  const { openDatabase } = await import(${at('../state/database.node.ts')});
  const { openOutbox } = await import(${at('../sinks/outbox/index.ts')});
  const { realClock, realClocks, realFiles, silentLog } = await import(${at('../ports/index.ts')});
  const { createWatcher, createInitialState } = await import(${at('./index.ts')});
  const fs = await import('node:fs');
  const home = ${JSON.stringify(home)};
  const [dies, looks] = (await new Promise((begin) => process.stdin.once('data', begin))).toString().split(' ').map(Number);
  let calls = 0;
  const mortal = new Proxy(realFiles, {
    get: (files, name) => (...args) => {
      const answer = files[name](...args);
      calls += 1;
      if (calls === dies) process.kill(process.pid, 'SIGKILL');
      return answer;
    },
  });
  const tick = () => Number(fs.existsSync(home + '/tick') ? fs.readFileSync(home + '/tick', 'utf8') : 0);
  const db = openDatabase(home + '/hivebar.sqlite');
  const outbox = openOutbox({
    db,
    disk: { files: mortal, log: silentLog, uid: process.getuid() },
    clock: realClock,
    clocks: realClocks,
    directory: home,
    journal: home + '/outbox.journal',
    rotation: { maxBytes: 4000, keep: 9999 },
    onBehind: (persona, fault) => console.log('behind', persona, String(fault)),
  });
  const exactly = (n) => ({ is: 'exact', n });
  const source = {
    id: 'garden',
    kind: 'garden',
    personas: async () => [],
    poll: () => {
      const now = tick();
      const items = [];
      for (let i = Math.max(1, now - 6); i <= now; i += 1) {
        const fingerprint = now - i < 2 ? 'fresh' : now - i < 4 ? 'delivered' : 'read';
        items.push({ key: 'k' + i, fingerprint, appeared: fingerprint === 'read' ? 'quiet' : 'new', changed: fingerprint === 'fresh' ? null : fingerprint, vanished: 'gone',
          from: null, created: null, content: '\\u{1f600}'.repeat(i % 40), extra: { stem: 'k' + i } });
      }
      return { at: realClock.now(), unread: exactly(1), urgent: exactly(0), agentState: { is: 'unknown', why: 'not-reported' },
        evidence: { is: 'set', epoch: '1', items } };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const sink = outbox.sinkFor('ada', 'ada');
  const rules = { persona: 'ada', address: 'ada', source: 'garden', run: String(process.pid).padStart(16, '0'), pollSeconds: 60, alertAfter: 3,
    maxReplay: 50, heartbeatMs: null, suppressed: new Set(), delivery: 'at-least-once', silenced: new Set() };
  const saved = outbox.readSaved('ada');
  const state = createInitialState(realClock.now(), { is: saved === null ? 'born' : 'resume' }, saved, await sink.open(), rules);
  const persona = { id: 'ada', address: 'ada', label: 'ada' };
  const watcher = createWatcher({ persona, source, sink, saver: null, rules, state, clock: realClock, put: () => {}, settling: () => false });
  const going = new AbortController().signal;
  for (let left = looks; left > 0; left -= 1) {
    await watcher.poll((run) => run(), going, going);
    process.stdout.write(outbox.lastEventId('ada') + '\\n');
    if (left === 1) break;
    fs.writeFileSync(home + '/next', String(tick() + 1));
    fs.renameSync(home + '/next', home + '/tick');
  }
  await watcher[Symbol.asyncDispose]();
  outbox[Symbol.dispose]();
  db[Symbol.dispose]();
`;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Ready, but for the word: so that the next one starts up while this one lives. */
function waiting(): Child {
  return spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Lives until its `dies`-th call to the disk (0: for ever), or until `ms` after its first look, or for so many looks. */
async function pollUntilExit(child: Child, dies: number, ms: number | null, polls: number): Promise<number | null> {
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (printed === '' && ms !== null) setTimeout(() => child.kill('SIGKILL'), ms);
    printed += text;
    assert.ok(!printed.includes('behind'), printed);
  });
  child.stdin.end(`${dies} ${polls}`);
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

/** All that a follower of the persona's file could have read, in order. */
function published(): Event[] {
  const archives = fs.readdirSync(home).filter((file) => file.startsWith(`${FILE}.`));
  const number = (file: string): number => Number(file.slice(FILE.length + 1));
  const texts = [...archives.sort((a, b) => number(b) - number(a)), FILE].map((f) =>
    fs.readFileSync(join(home, f), 'utf8'),
  );
  return texts
    .join('')
    .split('\n')
    .slice(0, -1)
    .map((line) => parseEventLine(line) ?? assert.fail(line));
}

test(`a watch of a set, killed ${LIVES} times: each message is told once, then its changes in order, and nothing is lost`, async () => {
  const children = [waiting(), waiting()];
  let killed = 0;
  for (let i = 0; i < LIVES; i += 1) {
    children.push(waiting());
    const child = children.shift() ?? waiting();
    // The calls of a start are about 20, and of a look about 5.
    const code =
      i % 3 < 2
        ? await pollUntilExit(child, 8 + i * 2, null, 30)
        : await pollUntilExit(child, 0, Math.random() * 20, 1e9);
    if (code === null) killed += 1;
  }
  assert.ok(killed > LIVES / 2, `${killed} were killed`);
  assert.equal(await pollUntilExit(children.shift() ?? waiting(), 0, null, 9), 0, 'a last one ends by itself');
  for (const child of children) child.kill('SIGKILL');

  const now = Number(fs.readFileSync(join(home, 'tick'), 'utf8'));
  const delivered = published().filter((event) => 'id' in event);
  const ids = delivered.map((event) => event.event_id);
  assert.equal(new Set(ids).size, ids.length, 'nothing twice');
  const mail = delivered.filter((event) => event.event === 'new');
  assert.deepEqual(
    mail.map((event) => event.id),
    Array.from({ length: now }, (_, i) => i + 1),
    'one id a message, and none is left out',
  );
  assert.deepEqual(
    mail.map((event) => 'stem' in event && event.stem),
    Array.from({ length: now }, (_, i) => `k${i + 1}`),
  );
  for (const { id } of mail) {
    const story = delivered.filter((event) => event.id === id);
    const names = story.map((event) => event.event).join(' ');
    const age = now - id;
    const ends =
      age < 2
        ? /^new$/
        : age < 4
          ? /^new delivered$/
          : age < 7
            ? /^new (delivered )?read$/
            : /^new (delivered )?(read )?gone$/;
    assert.match(names, ends, `message ${id} of ${now}`);
    assert.deepEqual(
      story.slice(1).map((event) => event.event_id.split('-').at(-1)),
      story.slice(1).map((_, n) => String(n + 1)),
    );
  }
  assert.ok(now > 10, `${now} messages`);
});
