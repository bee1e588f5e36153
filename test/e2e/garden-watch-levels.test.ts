import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { enqueue, upsert } from '../../core/sources/garden/index.ts';
import { toStem } from '../../core/state/index.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { EXPECTED, fillLiveMarkers, findCitizenId, garden, handAt } from '../kit/garden-store.ts';
import { WITHOUT_ROOT } from '../kit/permissions.ts';
import { needs } from '../kit/require.ts';
import { standIn, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { gardenHome, listDelivered, sleeper, toPersonaId } from '../kit/watch-garden.ts';

const LEFT_OUT = ['20260614T120007-00d0b1', '20260614T120008-00d0b2'];
/** `pollSeconds` is 1 at least. */
const FAST = { pollSeconds: 1 };

test('garden check 2: every citizen is a persona with what waits for it; what is none is named in the log', async () => {
  using store = garden('store');
  using home = gardenHome(store);
  const before = store.tree();
  await using tray = await home.start();
  const isSeen = ({ unread }: { readonly unread: number | null }): boolean => unread !== null;
  const status = await tray.until('all citizens', ({ personas: all }) => all.length === 18 && all.every(isSeen));
  const shown = new Map(status.personas.map((persona) => [persona.id, persona]));
  for (const [label, { gardenId, unread }] of Object.entries(EXPECTED.citizens)) {
    if (!LEFT_OUT.includes(gardenId)) assert.equal(shown.get(toPersonaId(gardenId))?.unread, unread, label);
  }
  assert.equal(status.totals.unread, 7);
  assert.deepEqual(
    status.personas.map(({ state }) => state),
    Array(18).fill('UP'),
  );
  assert.equal(shown.get(toPersonaId(findCitizenId('cc-mixed')))?.label.split(' · ')[0], 'claude-code');
  const defects = tray.log.filter((line) => line.startsWith('garden: '));
  for (const name of [
    ...EXPECTED.listAllMetaIdentities.errors.map(({ filename }) => filename),
    ...LEFT_OUT.map((id) => `${id}.meta.json`),
    ...['20260101T000000-0a0b0c', 'lost+found'],
    ...['state-badjson', 'state-drift', 'state-stray'].map((label) => `${findCitizenId(label)}/state.json`),
  ]) {
    assert.equal(defects.filter((line) => line.startsWith(`garden: ${name}: `)).length, 1, name);
  }
  assert.deepEqual(store.tree(), before);
});

test('D6 a box whose permission is lost is down at once; given back, it is up with what waits', {
  skip: process.platform === 'win32',
}, async () => {
  using store = garden('store');
  using home = gardenHome(store, FAST);
  await using tray = await home.start([], {}, WITHOUT_ROOT);
  const mixed = findCitizenId('cc-mixed');
  await tray.persona(toPersonaId(mixed), ({ state, unread }) => state === 'UP' && unread === 3);
  const box = join(store.places.mailbox, mixed);
  chmodSync(box, 0);
  try {
    const lost = await tray.persona(toPersonaId(mixed), ({ reason }) => reason !== null);
    assert.equal(lost.state, 'DOWN', JSON.stringify(lost));
    assert.match(lost.reason ?? '', /permission/);
  } finally {
    chmodSync(box, 0o700);
  }
  await tray.persona(toPersonaId(mixed), ({ state, unread }) => state === 'UP' && unread === 3);
});

test('A10 what waited before the first start is counted and not told; what comes then is, with the numbers after it', async () => {
  using store = garden('store');
  using home = gardenHome(store);
  await using tray = await home.start();
  const mixed = findCitizenId('cc-mixed');
  const shown = await tray.persona(toPersonaId(mixed), ({ unread }) => unread === 3);
  assert.equal(shown.lastMailAt, null);
  const kinds = (): readonly string[] => home.events(toStem(toPersonaId(mixed))).map(({ event }) => event);
  await until('the baseline', () => kinds().includes('armed'));
  assert.deepEqual(kinds(), ['baseline_skipped', 'armed']);
  const { stem } = enqueue(handAt({ now: '2026-06-15T00:00:00.000Z' }), store.places, mixed, 'hello\n');
  await until('it', () => listDelivered(home, mixed).length > 0);
  assert.deepEqual(listDelivered(home, mixed), [`new 4 ${stem}`]);
  const after = await tray.persona(toPersonaId(mixed), ({ unread }) => unread === 4);
  assert.equal(after.lastMailAt, '2026-06-15T00:00:00.000000+00:00');
});

test('A10 with garden.backfill what waited before the first start is told once, with numbers from 1 on', async () => {
  using store = garden('store');
  using home = gardenHome(store, { garden: { is: 'auto', store: store.store, backfill: true } });
  await using tray = await home.start();
  const mixed = findCitizenId('cc-mixed');
  const files = EXPECTED.citizens['cc-mixed']?.mailboxFiles ?? [];
  const stems = files.flatMap((file) => /^(.*)\.msg(\.delivered)?(\.read)?$/.exec(file)?.[1] ?? []);
  await until('four messages', () => listDelivered(home, mixed).length >= 4);
  assert.deepEqual(
    listDelivered(home, mixed),
    stems.map((stem, i) => `new ${i + 1} ${stem}`),
  );
  const { lastMailAt } = await tray.persona(toPersonaId(mixed), ({ unread }) => unread === 3);
  assert.match(lastMailAt ?? '', /^2026-06-14T/);
});

test('garden check 6: agents live, are gone or unknown by their markers, and one that ends is gone within one poll', async (t) => {
  if (needs(t, process.platform === 'linux' ? null : 'start keys of this test are those of Linux')) return;
  using store = garden('store');
  await using owner = await sleeper();
  fillLiveMarkers(store, owner.pid, owner.startKey);
  using home = gardenHome(store, FAST);
  await using tray = await home.start();
  const agent = async (label: string, is: string, reason: string | null): Promise<void> => {
    const fits = (shown: { agent: string; agentReason: string | null; unread: number | null }): boolean =>
      shown.unread !== null && shown.agent === is && shown.agentReason === reason;
    await tray.persona(toPersonaId(findCitizenId(label)), fits);
  };
  await agent('cc-enqueued', 'live', null);
  await agent('cc-mixed', 'unknown', 'identity-mismatch');
  await agent('cc-delivered', 'gone', 'owner-dead');
  await agent('cc-read', 'unknown', 'owner-implausible');
  await agent('agy-misdelivered', 'unknown', 'no-drain');
  await owner.end();
  await agent('cc-enqueued', 'gone', 'owner-dead');
  const { causes } = await tray.status();
  assert.deepEqual(causes, [], 'an agent that is gone is no outage');
});

test('a file in the place of the boxes is down for one reason; no boxes at all is up', async () => {
  using store = garden('store');
  using home = gardenHome(store, { ...FAST, alertAfter: 1 });
  await using tray = await home.start();
  await tray.until('all citizens', ({ personas }) => personas.filter(({ state }) => state === 'UP').length === 18);
  renameSync(store.places.mailbox, `${store.places.mailbox}.away`);
  await tray.until('nothing unread', ({ totals }) => totals.unread === 0 && totals.up === 18);
  writeFileSync(store.places.mailbox, '');
  const down = await tray.until('everybody down', ({ totals }) => totals.down === 18);
  assert.deepEqual(
    down.causes.map(({ key }) => key),
    ['garden'],
  );
  rmSync(store.places.mailbox);
  renameSync(`${store.places.mailbox}.away`, store.places.mailbox);
  await tray.until('everybody up', ({ totals }) => totals.up === 18 && totals.unread === 7);
});

test('a garden that appears is watched from then on, under the variables of either generation', async () => {
  using store = garden();
  using home = trayHome();
  await using tray = await home.start([], {
    PI_META_SESSIONS_DIR: store.places.sessions,
    ENTWURF_META_MAILBOX_DIR: store.places.mailbox,
  });
  assert.ok(!(await tray.status()).hives.some(({ source }) => source === 'garden'));
  mkdirSync(store.places.sessions);
  const { record } = upsert(handAt(), store.places, { backend: 'codex', nativeSessionId: 'n', cwd: '/fields/river' });
  enqueue(handAt(), store.places, record.gardenId, 'hello\n');
  const shown = await tray.persona(toPersonaId(record.gardenId), ({ unread }) => unread === 1);
  await until(
    'its first message, which came while it was watched for',
    () => listDelivered(home, record.gardenId).length === 1,
  );
  assert.deepEqual([shown.label, shown.source, shown.agent], ['codex · river', 'garden', 'unknown']);
});

test('garden.is off: nothing of a garden is seen', async () => {
  using store = garden('store');
  using home = trayHome({ primary: { is: 'local' }, garden: { is: 'off', store: store.store } });
  await using tray = await home.start();
  const { hives, personas } = await tray.until('the local hive', ({ hives: all }) => all[0]?.state === 'UP');
  assert.deepEqual([hives.some(({ source }) => source === 'garden'), personas], [false, []]);
});

test('beside a Kijito persona: tray, page and JSON have both, and each has its own event file', async () => {
  using store = garden('store');
  await using hive = await fakeHive();
  hive.deliver('ada', { content: 'hi' });
  using home = gardenHome(store, { primary: { is: 'kijito', base: hive.url } });
  await using tray = await home.start();
  const citizen = await tray.persona(toPersonaId(findCitizenId('cc-mixed')), ({ unread }) => unread === 3);
  const ada = await tray.persona('ada', ({ state }) => state === 'UP');
  assert.notEqual(citizen.eventsFile, ada.eventsFile);
  const output = await home.run(['status', '--json']);
  const ids = (JSON.parse(output.stdout) as { personas: { id: string }[] }).personas.map(({ id }) => id);
  assert.ok(ids.includes('ada') && ids.includes(citizen.id));
  const table = (await home.run(['status'])).stdout;
  assert.match(table, /claude-code · /);
});

test('hivebar doctor says who is there, and what is wrong first', async () => {
  using store = garden('store');
  using home = gardenHome(store);
  const line = async (target: typeof home): Promise<string> =>
    /^\S+ +garden .*$/m.exec((await target.run(['doctor'])).stdout)?.[0] ?? '';
  assert.match(await line(home), /18 citizens, 7 unread; .* \(and 1[34] more\)/);
  using sound = garden('empty');
  upsert(handAt(), sound.places, { backend: 'pi', nativeSessionId: 'n', cwd: '/w' });
  using other = gardenHome(sound);
  assert.match(await line(other), /1 citizen, 0 unread/);
  using nobody = trayHome();
  assert.match(await line(nobody), /meta-sessions does not exist/);
});

test('Open session takes the native session up again in its folder, in a terminal', async () => {
  using store = garden();
  using home = gardenHome(store);
  const folder = join(home.home, 'work');
  mkdirSync(folder);
  const { record } = upsert(handAt(), store.places, {
    ...{ backend: 'claude-code', nativeSessionId: '7f3c $(id)', cwd: folder },
  });
  const claude = standIn(home, 'claude');
  const terminal = standIn(home, 'xterm');
  await using tray = await home.start([], { ...claude.env, ...terminal.env, TERMINAL: 'xterm' });
  await tray.persona(toPersonaId(record.gardenId), ({ unread }) => unread === 0);
  await tray.post('/api/v1/actions/open', { persona: toPersonaId(record.gardenId) });
  await until('the terminal', () => terminal.calls.length >= 4);
  const [dash, program, ...args] = terminal.calls;
  assert.deepEqual([dash, program?.endsWith('/claude'), args], ['-e', true, ['--resume', '7f3c $(id)']]);
});
