import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { after, test } from 'node:test';
import { parseEventLine } from '../../events/index.ts';
import { realClock, realClocks, realFiles, silentLog } from '../../ports/index.ts';
import { openDatabase } from '../../state/index.ts';
import { openOutbox } from './index.ts';

const PERSONAS = ['ada', 'bo', 'cy'];
const KILLS = 30;

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-kill-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const at = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** When told to begin: takes events of three personas as fast as it can, from where each left off; prints what was acknowledged. */
const SCRIPT = `
  const { openDatabase } = await import(${at('../../state/database.node.ts')});
  const { openOutbox } = await import(${at('./index.ts')});
  const { realClock, realClocks, realFiles, silentLog } = await import(${at('../../ports/index.ts')});
  const home = ${JSON.stringify(home)};
  await new Promise((begin) => process.stdin.once('data', begin));
  const outbox = openOutbox({
    db: openDatabase(home + '/hivebar.sqlite'),
    disk: { files: realFiles, log: silentLog, uid: process.getuid() },
    clock: realClock,
    clocks: realClocks,
    directory: home,
    journal: home + '/outbox.journal',
    rotation: { maxBytes: 2000, keep: 9999 },
    onBehind: (persona, fault) => console.log('behind', persona, String(fault)),
  });
  const going = new AbortController().signal;
  const run = async (persona) => {
    const sink = outbox.sinkFor(persona, persona);
    await sink.open();
    for (let id = (outbox.readSaved(persona)?.cursor ?? 0) + 1; ; id += 1) {
      const event = { event: 'new', source: 's', ts: 't', id, from: 'z', created: 'c', persona, content: '\\u{1f600}'.repeat(id % 40), event_id: persona + ':new:' + id, wake_class: 'mail' };
      const taken = await sink.take([event], { cursor: id }, going);
      process.stdout.write(persona + ' ' + id + ' ' + taken.is + '\\n');
    }
  };
  await Promise.all(${JSON.stringify(PERSONAS)}.map(run));
`;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Ready, but for the word: so that the next one starts up while this one lives. */
function waiting(): Child {
  return spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Lets it run for a moment after its first acknowledgement, then kills it; returns what it printed. */
async function readUntilExit(child: Child, ms: number): Promise<string[]> {
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (printed === '') setTimeout(() => child.kill('SIGKILL'), ms);
    printed += text;
  });
  child.stdin.write('begin');
  await once(child, 'close');
  return printed.split('\n').slice(0, -1);
}

/** All event ids a follower of the persona's file could have read, in order. */
function publishedIds(persona: string): number[] {
  const name = `events.${persona}.ndjson`;
  const archives = fs.readdirSync(home).filter((file) => file.startsWith(`${name}.`));
  const number = (file: string): number => Number(file.slice(name.length + 1));
  const text = [...archives.sort((a, b) => number(b) - number(a)), name]
    .map((f) => fs.readFileSync(join(home, f), 'utf8'))
    .join('');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const event = parseEventLine(line);
      assert.ok(event?.event === 'new', line);
      return event.id;
    });
}

test(`killed ${KILLS} times at random moments: every taken event is in the file once, in order`, async () => {
  const acknowledged = new Map(PERSONAS.map((persona) => [persona, 0]));
  const children = [waiting(), waiting()];
  for (let i = 0; i < KILLS; i += 1) {
    if (i + children.length < KILLS) children.push(waiting());
    for (const line of await readUntilExit(children.shift() ?? waiting(), Math.random() * 30)) {
      const [persona, id, is] = line.split(' ');
      assert.equal(is, 'all', line);
      acknowledged.set(persona ?? '', Number(id));
    }
  }
  const disk = { files: realFiles, log: silentLog, uid: process.getuid?.() ?? null };
  using db = openDatabase(join(home, 'hivebar.sqlite'));
  const behind: string[] = [];
  using outbox = openOutbox<{ cursor: number }>({
    db,
    disk,
    clock: realClock,
    clocks: realClocks,
    directory: home,
    journal: join(home, 'outbox.journal'),
    onBehind: (p) => behind.push(p),
  });
  for (const persona of PERSONAS) {
    await outbox.sinkFor(persona, persona).open();
    const cursor = outbox.readSaved(persona)?.cursor ?? 0;
    assert.ok(cursor >= (acknowledged.get(persona) ?? 0) && cursor > KILLS);
    assert.deepEqual(
      publishedIds(persona),
      Array.from({ length: cursor }, (_, i) => i + 1),
    );
  }
  assert.deepEqual(behind, []);
});
