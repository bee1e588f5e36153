import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drain, enqueue, upsert } from '../../core/sources/garden/index.ts';
import { doorbell, findCitizenId, type Garden, garden, handAt } from '../kit/garden-store.ts';
import { readLines } from '../kit/read-lines.ts';
import { needs } from '../kit/require.ts';
import { CHANGES, OPENS_TO_WRITE } from '../kit/strace.ts';
import { until } from '../kit/until.ts';
import { gardenHome, listDelivered, readMailEvents, toPersonaId } from '../kit/watch-garden.ts';

const WRITER = fileURLToPath(import.meta.resolve('../kit/garden-writer.ts'));
const FAST = { pollSeconds: 1 };
const backfill = (store: Garden): object => ({ garden: { is: 'auto', store: store.store, backfill: true } });
const never = new AbortController().signal;

type Did = readonly [what: 'sent' | 'rang' | 'read', gardenId: string, stem: string];

/** Another program at work, to its end. */
const write = (store: Garden, how: readonly number[], citizens: readonly string[]): Promise<readonly Did[]> =>
  readLines<Did>([WRITER, store.store, ...how.map(String), ...citizens]);

const count = (did: readonly Did[], wanted: Did[0]): number => did.filter(([act]) => act === wanted).length;

/** System calls that name a path, or a file that is open, of a process and all its threads; until it is ended. */
async function traced(pid: number, path: string): Promise<AsyncDisposable & { end(): Promise<void> }> {
  const calls = 'trace=%file,%desc';
  const child = spawn('strace', ['-f', '-y', '-s', '0', '-e', calls, '-o', path, '-p', `${pid}`], {
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  await until('the trace', () => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
  const end = async (): Promise<void> => {
    child.kill('SIGINT');
    await gone;
  };
  return { end, [Symbol.asyncDispose]: end };
}

test('garden check 3: while others send, ring and read, the watcher changes nothing in the store', async (t) => {
  if (needs(t, spawnSync('strace', ['-V']).status === 0 ? null : 'strace: apt-get install strace')) return;
  using store = garden('store');
  // What is read before it is seen is told too: the others wait for nobody.
  using home = gardenHome(store, { ...FAST, ...backfill(store) });
  const citizens = [findCitizenId('cc-never-armed'), findCitizenId('cc-armed-empty'), findCitizenId('codex-plain')];
  const before = store.tree();
  await using tray = await home.start();
  await tray.until('all citizens', ({ personas }) => personas.length === 18);
  const log = store.at('strace');
  await using strace = await traced(tray.pid, log);

  const did = await write(store, [60, 50, 20, 10], citizens);
  assert.deepEqual([count(did, 'sent'), count(did, 'rang')], [50, 20]);
  const stems = (wanted: Did[0]) =>
    did.flatMap(([act, gardenId, stem]) => (act === wanted ? [`${gardenId} ${stem}`] : []));
  const deliveredMail = (event: string): readonly string[] =>
    citizens.flatMap((id) =>
      readMailEvents(home, id).flatMap((line) => (line.event === event ? [`${id} ${line.stem}`] : [])),
    );
  await until('every message', () => deliveredMail('new').length >= 50);
  const after = store.tree();
  await tray.until(
    'three more polls',
    (() => {
      const seen = new Set<unknown>();
      return ({ personas }) => seen.add(personas[0]?.asOf).size > 3;
    })(),
  );
  assert.deepEqual(store.tree(), after);
  await strace.end();

  // Whatever is of nobody in particular is as it was, with its mode, time and bytes.
  const isTheirs = (name: string): boolean => citizens.some((id) => name.startsWith(join('meta-mailbox', id)));
  const rest = (tree: Readonly<Record<string, string>>) => Object.entries(tree).filter(([name]) => !isTheirs(name));
  assert.deepEqual(rest(after), rest(before));
  // Every message is where the others left it.
  const state = new Map<string, string>();
  for (const [label, gardenId, stem] of did) {
    if (label === 'sent') state.set(`${gardenId} ${stem}`, '.msg');
    if (label === 'read') state.set(`${gardenId} ${stem}`, `${state.get(`${gardenId} ${stem}`)}.read`);
    if (label === 'rang')
      for (const [key, end] of state) if (key.startsWith(gardenId) && end === '.msg') state.set(key, '.msg.delivered');
  }
  const boxes = citizens.flatMap((id) =>
    (store.box(id) ?? []).filter((name) => name.includes('.msg')).map((name) => `${id} ${name}`),
  );
  assert.deepEqual(boxes.sort(), [...state].map(([key, end]) => `${key}${end}`).sort());
  assert.deepEqual([...deliveredMail('new')].sort(), [...stems('sent')].sort());

  const calls = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes(store.store));
  assert.ok(
    calls.some((line) => line.includes('.msg')),
    'the trace saw how messages were read',
  );
  assert.deepEqual(calls.filter((line) => CHANGES.test(line) || OPENS_TO_WRITE.test(line)).slice(0, 5), []);
});

test('garden check 8: a fresh cut takes the personas away, with one gone for each message; a new record is a persona within one poll', async () => {
  using store = garden('store');
  using home = gardenHome(store, { ...FAST, ...backfill(store) });
  await using tray = await home.start();
  await tray.until('all citizens', ({ personas, totals }) => personas.length === 18 && totals.unread === 7);
  const mixed = findCitizenId('cc-mixed');
  await until('its mail', () => listDelivered(home, mixed).length === 4);
  const { sessions } = store.places;
  renameSync(sessions, `${sessions}.archive-x`);
  mkdirSync(sessions);
  await tray.until('nobody', ({ personas }) => personas.length === 0);
  const wasNew = listDelivered(home, mixed).slice(0, 4);
  assert.deepEqual(
    listDelivered(home, mixed).slice(4),
    wasNew.map((line) => line.replace('new', 'gone')),
  );
  const { record } = upsert(handAt(), store.places, {
    backend: 'claude-code',
    nativeSessionId: 'n',
    cwd: '/fields/river',
  });
  const shown = await tray.persona(toPersonaId(record.gardenId), ({ unread }) => unread === 0, 2000);
  assert.equal(shown.label, 'claude-code · river');
  enqueue(handAt(), store.places, record.gardenId, 'hello\n');
  await until('its first message', () => listDelivered(home, record.gardenId).length === 1);

  // Put back, they are citizens again; what waits for them was told, and keeps its ids.
  rmSync(sessions, { recursive: true });
  renameSync(`${sessions}.archive-x`, sessions);
  await tray.until('all citizens', ({ personas, totals }) => personas.length === 18 && totals.unread === 7);
  enqueue(handAt(), store.places, mixed, 'later\n');
  await until('what came since', () => listDelivered(home, mixed).length === 9);
  assert.match(listDelivered(home, mixed).at(-1) ?? '', /^new 5 /);
  const ids = readMailEvents(home, mixed).map(({ event_id: id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

test('A9 given boxes that are moved away and back, and a record that is replaced, no mail is told again', async () => {
  using store = garden('store');
  using home = gardenHome(store, FAST);
  const [sent, other] = [findCitizenId('cc-never-armed'), findCitizenId('cc-armed-empty')];
  {
    await using tray = await home.start();
    await tray.until('all citizens', ({ personas }) => personas.length === 18);
    for (const id of [sent, sent, other]) enqueue(handAt(), store.places, id, 'hello\n');
    await until('its mail', () => listDelivered(home, sent).length === 2 && listDelivered(home, other).length === 1);
    const { mailbox, sessions } = store.places;
    renameSync(mailbox, `${mailbox}.away`);
    await until('gone', () => listDelivered(home, sent).length === 4);
    renameSync(`${mailbox}.away`, mailbox);
    await tray.persona(toPersonaId(sent), ({ unread }) => unread === 2);
    // As a copying program does it that deletes what it replaces.
    const path = join(sessions, `${sent}.meta.json`);
    const record = readFileSync(path);
    rmSync(path);
    await tray.until('17', ({ personas }) => personas.length === 17);
    store.write('next', record.toString());
    renameSync(store.at('next'), path);
    await tray.persona(toPersonaId(sent), ({ unread }) => unread === 2);
    await tray.stop();
  }
  await using tray = await home.start();
  await tray.persona(toPersonaId(sent), ({ unread }) => unread === 2);
  enqueue(handAt(), store.places, sent, 'later\n');
  await until('what came since', () => listDelivered(home, sent).at(-1)?.startsWith('new') === true);
  const kinds = readMailEvents(home, sent).map(({ event, id, wake_class: wakes }) => `${event} ${id} ${wakes}`);
  const gone = ['gone 1 liveness', 'gone 2 liveness'];
  const inOrder = [...kinds.slice(0, 2), ...kinds.slice(2, 4).sort(), ...kinds.slice(4, 6).sort(), ...kinds.slice(6)];
  assert.deepEqual(inOrder, ['new 1 mail', 'new 2 mail', ...gone, ...gone, 'new 3 mail']);
});

test('both directories renamed away and made anew, and a parent too: watched all the same', async () => {
  using store = garden('store');
  using home = gardenHome(store);
  await using tray = await home.start();
  await tray.until('all citizens', ({ personas }) => personas.length === 18);
  for (const place of [store.places.sessions, store.places.mailbox]) renameSync(place, `${place}.archive-1`);
  await tray.until('nobody', ({ personas }) => personas.length === 0);
  for (let n = 1; n <= 3; n += 1) {
    const { record } = upsert(handAt(), store.places, { backend: 'claude-code', nativeSessionId: `n${n}`, cwd: '/w' });
    enqueue(handAt(), store.places, record.gardenId, 'hello\n');
    await tray.persona(toPersonaId(record.gardenId), ({ unread }) => unread === 1, 15_000);
    await until('its message', () => listDelivered(home, record.gardenId).length === 1);
  }
});

test('a record that breaks takes its persona away without a word; mended, the watch goes on where it was', async () => {
  using store = garden('store');
  using home = gardenHome(store, { ...FAST, ...backfill(store) });
  await using tray = await home.start();
  const mixed = findCitizenId('cc-mixed');
  await until('its mail', () => listDelivered(home, mixed).length === 4);
  const path = join(store.places.sessions, `${mixed}.meta.json`);
  const good = readFileSync(path);
  const put = (text: string | Buffer): void => {
    store.write('next', text);
    renameSync(store.at('next'), path);
  };
  put('{');
  await tray.until('17', ({ personas }) => personas.length === 17);
  enqueue(
    handAt({ now: '2026-06-15T00:00:00.000Z' }),
    { ...store.places, sessions: createCopy(store, mixed, good) },
    mixed,
    'late\n',
  );
  put(good);
  await tray.persona(toPersonaId(mixed), ({ unread }) => unread === 4);
  await until('the late one', () => listDelivered(home, mixed).length === 5);
  assert.match(listDelivered(home, mixed)[4] ?? '', /^new 5 2026-06-15T/);
});

/** A directory of records in which this citizen is one. */
function createCopy(store: Garden, gardenId: string, record: Buffer): string {
  mkdirSync(store.at('records'));
  store.write(join('records', `${gardenId}.meta.json`), record);
  return store.at('records');
}

test('what goes while nobody watches is told once at the next start', async () => {
  using store = garden('store');
  using home = gardenHome(store, backfill(store));
  const delivered = findCitizenId('cc-delivered');
  {
    await using tray = await home.start();
    await until('its mail', () => listDelivered(home, delivered).length === 1);
    await tray.stop();
  }
  rmSync(join(store.places.sessions, `${delivered}.meta.json`));
  for (let start = 1; start <= 2; start += 1) {
    await using tray = await home.start();
    await tray.until('17', ({ personas }) => personas.length === 17);
    await tray.stop();
  }
  assert.deepEqual(
    listDelivered(home, delivered).map((line) => line.split(' ')[0]),
    ['new', 'gone'],
  );
});

test('killed again and again while messages arrive: each stem is told once, and its changes have its id', async () => {
  using store = garden('store');
  using home = gardenHome(store, { ...FAST, ...backfill(store) });
  const citizens = [findCitizenId('cc-never-armed'), findCitizenId('codex-plain')];
  let isWriting = true;
  const writing = write(store, [40, 120, 10, 0], citizens).finally(() => {
    isWriting = false;
  });
  for (let kill = 0; isWriting && kill < 8; kill += 1) {
    await using tray = await home.start();
    await sleep(Math.random() * 600);
    await tray.kill();
  }
  const sent = (await writing).flatMap(([act, id, stem]) => (act === 'sent' ? [`${id} ${stem}`] : []));
  await using tray = await home.start();
  const news = (): readonly string[] =>
    citizens.flatMap((id) =>
      readMailEvents(home, id).flatMap(({ event, stem }) => (event === 'new' ? [`${id} ${stem}`] : [])),
    );
  await until('every message', () => news().length >= sent.length);
  assert.deepEqual([...news()].sort(), [...sent].sort());
  for (const id of citizens) {
    doorbell(store.places, id);
    const { messages } = await drain(handAt(), store.places, id, never);
    assert.ok(messages.length > 0);
    const read = (): number => readMailEvents(home, id).filter(({ event }) => event === 'read').length;
    await until('every reading', () => read() >= messages.length);
    const numbers = new Map<unknown, Set<unknown>>();
    for (const { stem, id: number } of readMailEvents(home, id))
      numbers.set(stem, (numbers.get(stem) ?? new Set()).add(number));
    assert.ok(
      [...numbers.values()].every(({ size }) => size === 1),
      'a stem has one id',
    );
    assert.equal(new Set([...numbers.values()].flatMap((ids) => [...ids])).size, numbers.size, 'and no other has it');
  }
  await tray.until('nothing unread', ({ personas }) =>
    personas
      .filter(({ id }) => citizens.some((citizen) => id === toPersonaId(citizen)))
      .every(({ unread }) => unread === 0),
  );
  assert.ok(readdirSync(store.places.mailbox).length > 0);
});

test('messages appear, are announced, read and removed: an event each, with its body and sender', async () => {
  using store = garden('store');
  using home = gardenHome(store);
  const id = findCitizenId('cc-never-armed');
  await using tray = await home.start();
  await tray.persona(toPersonaId(id), ({ unread }) => unread === 0);
  const rule = '─'.repeat(40);
  const body = `[entwurf received ⟵]\n  from: bo\n  session: none\n  at: now\n  wants reply: no\n${rule}\nhello\u0000 there\n`;
  const { stem } = enqueue(handAt(), store.places, id, body);
  await until('new', () => listDelivered(home, id).length === 1);
  doorbell(store.places, id);
  await until('delivered', () => listDelivered(home, id).length === 2);
  await tray.persona(toPersonaId(id), ({ unread }) => unread === 1);
  await drain(handAt(), store.places, id, never);
  await until('read', () => listDelivered(home, id).length === 3);
  rmSync(join(store.places.mailbox, id, `${stem}.msg.delivered.read`));
  await until('gone', () => listDelivered(home, id).length === 4);
  assert.deepEqual(
    listDelivered(home, id),
    ['new', 'delivered', 'read', 'gone'].map((event) => `${event} 1 ${stem}`),
  );
  const [event] = readMailEvents(home, id);
  assert.deepEqual(
    [event?.source, event?.persona, event?.from, event?.content, event?.created],
    ['garden-mailbox', toPersonaId(id), 'bo', 'hello there\n', '2026-06-14T06:00:00.000Z'],
  );
});
