import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { reconcileStore } from '../../app/program/store-reconciliation.ts';
import type { SavedTrayState } from '../../app/sources/hive-watchers.ts';
import { type Event, toMailEventId } from '../../core/events/index.ts';
import { DAMAGED_FROM, openLocalHive, sealAll } from '../../core/inbox/index.ts';
import { formatIso } from '../../core/model/index.ts';
import { plainRandom, realClock, realClocks, silentLog } from '../../core/ports/index.ts';
import { openOutbox } from '../../core/sinks/outbox/index.ts';
import { copyStore, createRealDisk, openStore, readStoreReport } from '../../core/state/index.ts';

const PLACES = Number(process.env.HIVEBAR_PLACES ?? 200);
const SEED = Number(process.env.HIVEBAR_SEED ?? 20261129);
const PERSONAS = ['ada', 'bo', 'cy'];
const MESSAGES = 60;
const COPIED = 30;
const KEEP_MS = 30 * 86_400_000;
const going = new AbortController().signal;
const root = mkdtempSync(join(tmpdir(), 'hivebar-fault-store-'));
after(() => rmSync(root, { recursive: true, force: true }));

const toPersona = (id: number): string => PERSONAS[id % PERSONAS.length] as string;
/** Some longer than what an event shows. */
const formatText = (id: number): string => `message ${id} é😀 ${'long text '.repeat(id % 6 === 0 ? 60 : id % 4)}`;
const toIdentity = (persona: string) => ['local', persona];
const named = (address: string) => ({ id: address, address, label: address });

function openAll(folder: string) {
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  const log = { ...silentLog, warn: note, error: note };
  const path = join(folder, 'hivebar.sqlite');
  const disk = createRealDisk(log);
  const db = openStore(path, { checks: true });
  const damaged: number[] = [];
  const local = openLocalHive({ db, clock: realClock, log, contentChars: 220, onDamaged: (n) => damaged.push(n) });
  sealAll(db);
  const outbox = openOutbox<SavedTrayState>({
    ...{ db, disk, clock: realClock, clocks: realClocks, directory: join(folder, 'events') },
    journal: join(folder, 'outbox.journal'),
    onBehind: () => {},
  });
  const report = readStoreReport(path);
  const recoveredSince = report === null || report.isFilled ? null : realClock.now() - KEEP_MS;
  const machine = { disk, clock: realClock, random: plainRandom, log };
  reconcileStore({ db, local, hive: { named }, outbox, state: folder, contentChars: 220, recoveredSince, machine });
  return { db, local, outbox, lines, report, damaged };
}

/** A message as the watch of the local hive tells it. */
function toEvent(persona: string, id: number, content: string): Event {
  const created = formatIso(realClock.now());
  return {
    ...{ event: 'new', source: 'kijito-inbox', ts: created, id, from: 'sender', created, persona },
    ...{ content: [...content].slice(0, 220).join(''), event_id: toMailEventId(persona, id), wake_class: 'mail' },
  } as Event;
}

async function tell(all: ReturnType<typeof openAll>, persona: string, id: number, content: string): Promise<void> {
  const sink = all.outbox.sinkFor(persona, persona);
  const saved = {
    cursor: id,
    state: 'UP',
    consecutive_failures: 0,
    identity: toIdentity(persona),
  } as unknown as SavedTrayState;
  const ack = await sink.take([toEvent(persona, id, content)], saved, going);
  assert.equal(ack.is, 'all');
}

/** As a kill leaves it: some in the database, some in its log only, all told; and a backup of half of it. */
async function prepare(): Promise<{ folder: string; backup: string }> {
  const live = join(root, 'live');
  const [folder, backup] = [join(root, 'past'), join(root, 'backup')];
  const all = openAll(live);
  for (let id = 1; id <= MESSAGES; id += 1) {
    const sent = all.local.sendNow({
      to: toPersona(id),
      from: 'sender',
      content: formatText(id),
      urgent: id % 9 === 0,
    });
    assert.equal(sent.id, id);
    await tell(all, toPersona(id), id, formatText(id));
    if (id !== COPIED) continue;
    all.outbox.listNewest(null, 1); // fills the tables
    copyStore(all.db);
    all.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    cpSync(live, backup, { recursive: true });
  }
  cpSync(live, folder, { recursive: true });
  return { folder, backup };
}

/** Numbers that are the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

type Harm = (folder: string, backup: string, random: (below: number) => number) => string;

const FILES = [
  'hivebar.sqlite',
  'hivebar.sqlite',
  'hivebar.sqlite',
  'hivebar.sqlite-wal',
  'hivebar.sqlite-wal',
  'outbox.journal',
];

const flipBit: Harm = (folder, _, random) => {
  const name = FILES[random(FILES.length)] as string;
  const path = join(folder, name);
  const bytes = readFileSync(path);
  const at = random(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  writeFileSync(path, bytes);
  return `a bit of byte ${at} of ${name}`;
};
/** One that changes what somebody said, which no structure of the file shows. */
const flipText: Harm = (folder, _, random) => {
  const path = join(folder, 'hivebar.sqlite');
  const bytes = readFileSync(path);
  const places: number[] = [];
  for (let at = bytes.indexOf('message '); at !== -1; at = bytes.indexOf('message ', at + 1)) places.push(at);
  const at = (places[random(places.length)] ?? 0) + random('message 1'.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  writeFileSync(path, bytes);
  return `a bit of the text at byte ${at} of hivebar.sqlite`;
};
const overwrite: Harm = (folder, _, random) => {
  const name = FILES[random(FILES.length)] as string;
  const path = join(folder, name);
  const bytes = readFileSync(path);
  const at = random(bytes.length);
  bytes.fill(random(256), at, Math.min(bytes.length, at + 1 + random(6000)));
  writeFileSync(path, bytes);
  return `bytes from ${at} of ${name}`;
};
const cut: Harm = (folder, _, random) => {
  const name = FILES[random(FILES.length)] as string;
  const to = random(statSync(join(folder, name)).size);
  truncateSync(join(folder, name), to);
  return `${name} cut to ${to}`;
};
const remove: Harm = (folder, _, random) => {
  const name = FILES[random(FILES.length)] as string;
  rmSync(join(folder, name));
  if (name === 'hivebar.sqlite' && random(2) === 0) rmSync(join(folder, 'hivebar.sqlite-wal'));
  return `${name} deleted`;
};
const setBack: Harm = (folder, backup, random) => {
  const withJournal = random(2) === 0;
  for (const name of [
    'hivebar.sqlite',
    'hivebar.sqlite-wal',
    'hivebar.sqlite-shm',
    ...(withJournal ? ['outbox.journal'] : []),
  ]) {
    rmSync(join(folder, name), { force: true });
    if (existsSync(join(backup, name))) cpSync(join(backup, name), join(folder, name));
  }
  return `set back ${withJournal ? 'with' : 'without'} its journal`;
};

/** Most are flips: a cut or a lost file is easily seen. */
const HARMS: readonly Harm[] = [
  flipBit,
  flipBit,
  flipBit,
  flipBit,
  flipBit,
  flipBit,
  flipText,
  flipText,
  overwrite,
  overwrite,
  cut,
  cut,
  remove,
  setBack,
];

/** Every `new` line of an event file, which names no two messages by one id. */
function readDelivered(folder: string, persona: string): readonly { id: number; content: string }[] {
  const path = join(folder, 'events', `events.${persona}.ndjson`);
  const events = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return events.filter(({ event }) => event === 'new');
}

test(`A1 A3 A4 given damage at ${PLACES} seeded places, each message is whole, recovered or told, and fresh mail comes once`, async () => {
  const { folder: past, backup } = await prepare();
  const random = seeded(SEED);
  const tally = { whole: 0, cut: 0, placeholder: 0, missing: 0, mended: 0 };
  for (let place = 0; place < PLACES; place += 1) {
    const folder = join(root, `place-${place}`);
    cpSync(past, folder, { recursive: true });
    rmSync(join(folder, 'hivebar.sqlite-shm'), { force: true });
    const harm = HARMS[random(HARMS.length)] as Harm;
    const label = `place ${place}, ${harm(folder, backup, random)}`;
    let all: ReturnType<typeof openAll>;
    try {
      all = openAll(folder);
    } catch (error) {
      throw new Error(`${label}: it does not start`, { cause: error });
    }
    const rows = new Map<number, { from: string; content: string; persona: string }>();
    for (const persona of PERSONAS) {
      const query = { persona, markRead: false, beforeId: null, limit: 1000, unreadOnly: false };
      for (const row of all.local.inbox(query).result) rows.set(row.id, { ...row, persona });
    }
    const isReported = all.report !== null || all.lines.some((line) => /went back|damaged/.test(line));
    if (all.report !== null) tally.mended += 1;
    for (let id = 1; id <= MESSAGES; id += 1) {
      const row = rows.get(id);
      if (row === undefined) {
        assert.ok(isReported, `${label}: message ${id} is missing and nobody says so`);
        tally.missing += 1;
      } else if (row.from === DAMAGED_FROM) tally.placeholder += 1;
      else {
        assert.equal(row.persona, toPersona(id), `${label}: message ${id} came to another inbox`);
        assert.equal(row.from, 'sender', `${label}: message ${id} has another sender`);
        if (row.content === formatText(id)) tally.whole += 1;
        else {
          const head = row.content.split('\n[recovered')[0] as string;
          assert.ok(
            row.content.includes('\n[recovered') && formatText(id).startsWith(head),
            `${label}: message ${id} was altered`,
          );
          tally.cut += 1;
        }
      }
    }
    // An id may be what was damaged: its row is a placeholder, and says nothing.
    for (const [id, { from }] of rows)
      assert.ok((id >= 1 && id <= MESSAGES) || from === DAMAGED_FROM, `${label}: message ${id} was never sent`);

    const fresh = all.local.sendNow({ to: 'ada', from: 'sender', content: `fresh ${place}`, urgent: false });
    assert.ok(fresh.id > MESSAGES, `${label}: the id ${fresh.id} is given again`);
    await all.outbox.sinkFor('ada', 'ada').open();
    await tell(all, 'ada', fresh.id, `fresh ${place}`);
    const delivered = readDelivered(folder, 'ada');
    assert.equal(new Set(delivered.map(({ id }) => id)).size, delivered.length, `${label}: an id was told twice`);
    assert.deepEqual(
      delivered.filter(({ content }) => content === `fresh ${place}`).map(({ id }) => id),
      [fresh.id],
      label,
    );
    all.outbox[Symbol.dispose]();
    all.local[Symbol.dispose]();
    all.db[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(JSON.stringify(tally));
  assert.ok(tally.placeholder > 0, `some of these changed a text: ${JSON.stringify(tally)}`);
  assert.ok(tally.whole > PLACES * MESSAGES * 0.8, `most are whole: ${JSON.stringify(tally)}`);
});
