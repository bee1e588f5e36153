import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ProjectsWire, ProjectWire } from '../../app/status/wire-projects.ts';
import { brainclaw, DATA, EXPECTED, LAST, line, type Store } from '../kit/brainclaw-store.ts';
import type { EventLine } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { standIn, type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const BOARD = 'bc-prj_lab0001';
const AGENTS = ['claude-code', 'codex', 'github-copilot', 'hermes'].map((agent) => `${BOARD}-${agent}`);

interface StoreState {
  readonly store: string;
}

const homeWith = (brainclaw: object, more: object = {}): TrayHome =>
  trayHome({ primary: { is: 'local' }, brainclaw: { is: 'on', ...brainclaw }, ...more });
const createHome = (store: Store, more: object = {}): TrayHome => homeWith({ projects: [store.dir], ...more });

const ask = async <T>(tray: TrayProcess, path: string, token = false): Promise<T> => {
  const headers = token ? { authorization: `Bearer ${tray.token}` } : {};
  return (await (await fetch(tray.url + path, { headers })).json()) as T;
};
/** What its agent was told of items and messages. */
const delivered = (home: TrayHome, persona: string): readonly string[] =>
  home
    .events(persona)
    .filter(({ event }) => /^(new|cleared|read|acked|gone|handoff|assigned|action)$/.test(String(event)))
    .map(({ event, item, message_id }: EventLine) => `${event} ${item ?? message_id ?? ''}`.trim());
const waitForUnread = (tray: TrayProcess, unread: number | null) =>
  tray.persona(BOARD, (shown) => shown.unread === unread);

describe('a project in the tray process', () => {
  test('is a board and its agents, the same on every surface, each with an event file of its own', async () => {
    using store = brainclaw();
    using home = createHome(store);
    await using tray = await home.start();
    const { unread, label, source, state } = await waitForUnread(tray, 20);
    assert.deepEqual([unread, label, source, state], [20, store.dir.split('/').at(-1), BOARD, 'UP']);
    const codex = await tray.persona(`${BOARD}-codex`, (shown) => shown.unread === 2);
    assert.match(codex.label, /^codex · /);
    const status = await tray.until('all agents', ({ personas }) =>
      AGENTS.every((id) => personas.some((p) => p.id === id)),
    );
    assert.equal(new Set(status.personas.map(({ eventsFile }) => eventsFile)).size, 5);
    for (const { id, eventsFile } of status.personas) assert.ok(eventsFile?.endsWith(`/events.${id}.ndjson`), id);
    const hive = status.hives.find((candidate) => candidate.source === BOARD);
    assert.deepEqual([hive?.state, hive?.address], ['UP', store.dir]);

    const { projects } = await ask<ProjectsWire>(tray, '/api/brainclaw');
    assert.deepEqual(
      projects.map(({ id, board, seq, attention }) => ({ id, board, seq, attention })),
      [{ id: BOARD, board: BOARD, seq: 359, attention: EXPECTED.observer.attention_required }],
    );
    assert.deepEqual(status.projects, [{ id: BOARD, board: BOARD, source: BOARD, rev: projects[0]?.rev }]);
    assert.deepEqual(
      projects[0]?.agents.map(({ agent, pending, actionable }) => [agent, pending, actionable]),
      Object.entries(EXPECTED.inbox)
        .map(([agent, { pending, actionable }]) => [agent, pending, actionable])
        .sort(),
    );
    const table = (await home.run(['status'])).stdout;
    for (const [name, count] of [
      [label, 20],
      [codex.label, 2],
    ] as const)
      assert.match(table, new RegExp(`UP +${count} .* ${name} [(]bc-`), table);
  });

  test('keeps its text for who has the token', async () => {
    using store = brainclaw();
    using home = createHome(store);
    await using tray = await home.start();
    await waitForUnread(tray, 20);
    const open = await (await fetch(`${tray.url}/api/brainclaw/${BOARD}`)).text();
    const list = await (await fetch(`${tray.url}/api/brainclaw`)).text();
    for (const text of [open, list]) assert.doesNotMatch(text, /Approve|the thing|candidate cnd|cnd_a|act_a|please/);
    const { sheet, project, acts } = await ask<ProjectWire>(tray, `/api/brainclaw/${BOARD}`, true);
    const attention = sheet?.sections[0];
    assert.deepEqual([attention?.id, attention?.rows.length, project.root, acts], ['attention', 20, store.dir, false]);
    assert.ok(attention?.rows.some(({ title, why }) => title === 'Approve the plan?' && why === 'pending_actions'));
  });

  test('an action that asks is one more, one event and one notification; a restart tells nothing twice', async () => {
    using store = brainclaw();
    using home = createHome(store);
    const notifier = standIn(home, 'notify-send');
    const env = { ...notifier.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
    const banners = (): readonly string[] => notifier.calls.filter((item) => /: \d+ new/.test(item));
    store.step(1);
    {
      await using tray = await home.start([], env);
      await waitForUnread(tray, 20);
      assert.deepEqual(delivered(home, BOARD), []);
      store.step(2);
      await waitForUnread(tray, 21);
      await until('its event', () => delivered(home, BOARD).length > 0);
      await until('its banner', () => banners().length > 0);
      await tray.stop();
    }
    assert.deepEqual(delivered(home, BOARD), ['new state:act_c0']);
    const saved = JSON.parse(readFileSync(home.at('brainclaw', `${BOARD}.cursor.json`), 'utf8')) as StoreState;
    assert.equal(saved.store, store.root);
    await using again = await home.start([], env);
    await waitForUnread(again, 21);
    await again.persona(`${BOARD}-codex`, ({ unread }) => unread === 2);
    store.step(3);
    store.step(4);
    await waitForUnread(again, 20);
    await until('that it is over', () => delivered(home, BOARD).length > 1);
    assert.deepEqual(delivered(home, BOARD), ['new state:act_c0', 'cleared state:act_c0']);
    assert.equal(banners().length, 1, banners().join());
  });

  test('a sheet that changes without a count has another rev in the status', async () => {
    using store = brainclaw();
    using home = createHome(store);
    store.step(1);
    await using tray = await home.start();
    await waitForUnread(tray, 20);
    const [before] = (await tray.until('a sheet', ({ projects }) => projects.length === 1)).projects;
    writeFileSync(
      store.event(LAST),
      line(361, { item_id: 'pln_new', payload: { status: 'in_progress', text: 'Paint' } }),
      { flag: 'a' },
    );
    await tray.until('another rev', ({ projects }) => projects[0]?.rev !== before?.rev);
    const { rev, sheet } = await ask<ProjectWire>(tray, `/api/brainclaw/${BOARD}`, true);
    assert.equal(rev, (await tray.status()).projects[0]?.rev);
    assert.equal(sheet?.sections.find(({ id }) => id === 'in-progress')?.rows[0]?.title, 'Paint');
  });

  test('whose journal is off is not known, which is not 0; its agents have their mail', async () => {
    using store = brainclaw();
    rmSync(store.journal, { recursive: true });
    using home = createHome(store);
    await using tray = await home.start();
    await tray.persona(`${BOARD}-codex`, ({ unread }) => unread === 2);
    const shown = await tray.persona(BOARD, ({ state }) => state === 'UP');
    assert.deepEqual([shown.unread, shown.unreadIs, shown.agentReason], [null, 'unknown', 'journal-off']);
    const [project] = (await ask<ProjectsWire>(tray, '/api/brainclaw')).projects;
    assert.deepEqual([project?.remarks, project?.attention, project?.counts.plans], [['journal-off'], null, null]);
  });

  test('with its mail switched off has agents only by their work', async () => {
    using store = brainclaw();
    using home = createHome(store, { mail: false });
    await using tray = await home.start();
    await waitForUnread(tray, 20);
    const [project] = (await ask<ProjectsWire>(tray, '/api/brainclaw')).projects;
    assert.deepEqual([...new Set(project?.agents.map(({ pending }) => pending))], [null]);
  });
});

describe('which projects are watched', () => {
  const copy = (to: string): void => cpSync(join(DATA, 'journal'), to, { recursive: true });

  test('those below a root, also one that comes while it runs; one that goes leaves the board', async () => {
    using place = scratch();
    copy(place.at('w', 'one'));
    using home = homeWith({ roots: [place.at('w')] });
    await using tray = await home.start();
    await waitForUnread(tray, 20);
    copy(place.at('w', 'deep', 'two'));
    await tray.post('/api/v1/actions/poll', {});
    const { projects } = await tray.until('both', ({ projects: all }) => all.length === 2);
    const second = projects.find(({ id }) => id !== BOARD)?.id ?? '';
    assert.match(second, /^bc-prj_lab0001_[0-9a-f]{6}$/);
    await tray.persona(second, ({ unread }) => unread === 20);
    rmSync(place.at('w', 'one'), { recursive: true });
    await tray.post('/api/v1/actions/poll', {});
    const left = await tray.until('one', ({ projects: all }) => all.length === 1);
    assert.deepEqual(
      [left.projects[0]?.id, left.personas.some(({ source }) => source === BOARD), left.hives.length, left.causes],
      [second, false, 2, []],
    );
  });

  test('one that is named and appears later; taken out of the settings it is on the board no more', async () => {
    using place = scratch();
    using home = homeWith({ projects: [place.at('one')] });
    {
      await using tray = await home.start();
      assert.deepEqual((await tray.status()).projects, []);
      copy(place.at('one'));
      await tray.post('/api/v1/actions/poll', {});
      await waitForUnread(tray, 20);
      await tray.stop();
    }
    writeFileSync(home.at('config', 'config.json'), JSON.stringify({ primary: { is: 'local' } }));
    await using tray = await home.start();
    const status = await tray.until('the local hive', ({ hives }) => hives[0]?.state === 'UP');
    assert.deepEqual([status.projects, status.personas, status.hives.length], [[], [], 1]);
    assert.deepEqual(await ask(tray, '/api/brainclaw'), { projects: [] });
  });

  test('two copies of one project keep their ids over a restart, also when the first by path came last', async () => {
    using place = scratch();
    copy(place.at('b'));
    using home = homeWith({ roots: [place.dir] });
    {
      await using tray = await home.start();
      await waitForUnread(tray, 20);
      await tray.stop();
    }
    copy(place.at('a'));
    await using tray = await home.start();
    const { hives } = await tray.until('both', ({ projects }) => projects.length === 2);
    assert.equal(hives.find(({ source }) => source === BOARD)?.address, place.at('b'));
  });

  test('one that is named and whose disk is gone is DOWN, for one reason, and comes back', async () => {
    using place = scratch();
    copy(place.at('one'));
    using home = homeWith({ projects: [place.at('one')] }, { pollSeconds: 1, alertAfter: 1 });
    await using tray = await home.start();
    await waitForUnread(tray, 20);
    renameSync(place.at('one'), place.at('away'));
    const down = await tray.until('all down', ({ totals }) => totals.up === 0 && totals.down > 0);
    assert.deepEqual(
      down.causes.map(({ key }) => key),
      [BOARD],
    );
    renameSync(place.at('away'), place.at('one'));
    await tray.until('all up', ({ totals }) => totals.down === 0 && totals.up > 0);
    assert.ok(existsSync(place.at('one', '.brainclaw')));
  });
});

test('hivebar doctor says what asks for a person, and what is wrong first', async () => {
  const readDoctorLine = async (home: TrayHome): Promise<string> =>
    /^\S+ +brainclaw .*$/m.exec((await home.run(['doctor'])).stdout)?.[0] ?? '';
  using store = brainclaw();
  using home = createHome(store);
  assert.match(await readDoctorLine(home), /1 project; prj_lab0001: skipped=5, /);
  using none = homeWith({ projects: [join(store.dir, 'none')] });
  assert.match(await readDoctorLine(none), /0 projects; .*none contains no project/);
  using off = trayHome();
  assert.match(await readDoctorLine(off), /switched off/);
});
