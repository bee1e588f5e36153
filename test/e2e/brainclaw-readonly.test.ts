import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brainclaw, ended, LAST, type Store } from '../kit/brainclaw-store.ts';
import { readLines } from '../kit/read-lines.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { CHANGES, LOCKS, OPENS_TO_WRITE, STARTS, straced } from '../kit/strace.ts';
import { until } from '../kit/until.ts';

const kit = (name: string): string => fileURLToPath(import.meta.resolve(`../kit/${name}.ts`));
const AGENTS = ['codex', 'claude-code', 'github-copilot'] as const;
/** The contract says 60: so long is `HIVEBAR_SPAN=60`. */
const SPAN_SECONDS = Number(process.env.HIVEBAR_SPAN ?? 4);
const PAUSE_MS = 50;

/** Each thing in a store with all that is known of it but when it was read. */
function readTree({ root }: Store): ReadonlyMap<string, string> {
  const names = ['.', ...(readdirSync(root, { recursive: true }) as string[])].sort();
  return new Map(
    names.map((name) => {
      const stat = lstatSync(join(root, name));
      const { mode, mtimeMs, ctimeMs, ino, size, nlink } = stat;
      const bytes = stat.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(root, name)))
            .digest('hex')
        : '';
      return [name, [mode, mtimeMs, ctimeMs, ino, size, nlink, bytes].join(' ')];
    }),
  );
}

type Wrote = readonly ['line', text: string] | readonly ['file', name: string, text: string];

/** Another program at work, to its end. */
const writes = (store: Store, name: string, first: number, count: number, agent: string): Promise<readonly Wrote[]> =>
  readLines<Wrote>([kit('brainclaw-writer'), store.root, LAST, name, `${first}`, `${count}`, `${PAUSE_MS}`, agent]);

test('brainclaw check 8: while three others write, the watcher changes nothing, locks nothing and starts nothing', async (t) => {
  if (needs(t, spawnSync('strace', ['-V']).status === 0 ? null : 'strace: apt-get install strace')) return;
  using store = ended(brainclaw());
  using apart = scratch();
  const before = readTree(store);
  const journal = readFileSync(store.event(LAST), 'utf8');
  const log = apart.at('strace');
  await using watcher = straced(log, [process.execPath, kit('brainclaw-watcher'), store.root, ...AGENTS]);
  await until('the watcher', () => watcher.stdout().includes('ready'));
  assert.deepEqual(readTree(store), before, 'reading it all changed nothing');

  const count = Math.ceil((SPAN_SECONDS * 1000) / PAUSE_MS);
  const wrote = await Promise.all(
    AGENTS.map((agent, index) => writes(store, `writer${index}`, 361 + index * count, count, agent)),
  );
  const quiet = readTree(store);
  await new Promise((resolve) => setTimeout(resolve, 2500)); // two polls and more
  assert.deepEqual(readTree(store), quiet, 'nor did polling it');
  await watcher.end();
  const after = readTree(store);

  // Nobody but the others wrote: each file of theirs holds what they left there, all else is as it was.
  const foreign = new Set([join('events', LAST), ...AGENTS.map((agent) => join('coordination', 'inbox', agent))]);
  for (const [index, agent] of AGENTS.entries()) {
    const files = new Map((wrote[index] ?? []).flatMap((entry) => (entry[0] === 'file' ? [[entry[1], entry[2]]] : [])));
    assert.equal(files.size, count);
    for (const [name, text] of files) {
      const path = join('coordination', 'inbox', agent, name);
      foreign.add(path);
      assert.equal(readFileSync(join(store.root, path), 'utf8'), text);
    }
  }
  const rest = (tree: ReadonlyMap<string, string>) => [...tree].filter(([name]) => !foreign.has(name));
  assert.deepEqual(rest(after), rest(before));
  const lines = readFileSync(store.event(LAST), 'utf8').slice(journal.length).split('\n');
  const appended = wrote.flat().flatMap((entry) => (entry[0] === 'line' ? [entry[1]] : []));
  assert.deepEqual(lines.filter((text) => text !== '').sort(), appended.sort());

  // It was no idle watcher: all of it was told, once each.
  const delivered = JSON.parse(watcher.stdout().split('\n').at(-2) ?? '') as Readonly<
    Record<string, readonly string[]>
  >;
  const pending = AGENTS.flatMap((_, w) =>
    range(count).flatMap((n) => (n % 2 === 0 ? [`new state:act_writer${w}_${n}`] : [])),
  );
  assert.deepEqual([...(delivered[''] ?? [])].sort(), pending.sort());
  for (const [w, agent] of AGENTS.entries()) {
    const news = (delivered[agent] ?? []).filter((text) => text.startsWith('new ')).sort();
    const sent = range(count).map((n) => `new msg_writer${w}_${n}`);
    assert.deepEqual(news, sent.sort());
  }

  const calls = readFileSync(log, 'utf8').split('\n');
  const below = calls.filter((text) => text.includes(store.root));
  assert.ok(
    below.some((text) => text.includes(LAST)) && below.some((text) => text.includes('msg_writer0_0.json')),
    'the trace saw how it was read',
  );
  const isChange = (text: string): boolean => CHANGES.test(text) || OPENS_TO_WRITE.test(text) || LOCKS.test(text);
  assert.deepEqual(below.filter(isChange).slice(0, 5), []);
  assert.ok(calls.some(isChange), 'the trace sees changes where there are some');
  assert.deepEqual(calls.filter((text) => STARTS.test(text)).slice(1, 5), [], 'no program but itself');
});

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
