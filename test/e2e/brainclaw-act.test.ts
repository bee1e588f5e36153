import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectWire } from '../../app/status/wire-projects.ts';
import { AGENT_SHELL, installed, NOT_INSTALLED, type ServerOnPath } from '../kit/brainclaw-server.ts';
import { brainclaw, type Store, viewed } from '../kit/brainclaw-store.ts';
import { scratch } from '../kit/scratch.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** `brainclaw` is a stand-in everywhere here: the real one is not installed where Hivebar is tested. */
const PROJECT = 'bc-prj_lab0001';

const createHome = (store: Store, actions: boolean): TrayHome =>
  trayHome({ primary: { is: 'local' }, brainclaw: { is: 'on', projects: [store.dir], actions } });

/** A candidate that asks for a person. */
function pendingIn(store: Store): string {
  const candidates = viewed(store.open()).replay.projection.getByType('candidate');
  const found = [...candidates.values()].find(
    ({ payload }) => payload.status === 'pending' && payload.source === 'human',
  );
  assert.ok(found?.item_id);
  return found.item_id;
}

const candidatesIn = (store: Store): number => viewed(store.open()).replay.projection.getByType('candidate').size;

const fetchSheet = async (tray: TrayProcess): Promise<ProjectWire> => {
  const headers = { authorization: `Bearer ${tray.token}` };
  return (await (await fetch(`${tray.url}/api/brainclaw/${PROJECT}`, { headers })).json()) as ProjectWire;
};

/** The sheet as soon as something on it was asked of brainclaw. */
async function seededIn(tray: TrayProcess): Promise<ProjectWire['sheet']> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(20)) {
    const { sheet } = await fetchSheet(tray);
    if ((sheet?.seeded.length ?? 0) > 0) return sheet;
  }
  throw new Error(`nothing was asked of brainclaw\n${tray.cli.stderr}`);
}

const keysOn = ({ sheet }: ProjectWire): readonly string[] =>
  sheet?.sections.find(({ id }) => id === 'attention')?.rows.map(({ key }) => key) ?? [];

const waitForUnread = (tray: TrayProcess, unread: number | null) =>
  tray.persona(PROJECT, (shown) => shown.unread === unread);

async function asked(tray: TrayProcess, params: object): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await fetch(`${tray.url}/api/v1/actions/brainclaw`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${tray.token}` },
    body: JSON.stringify({ project: PROJECT, ...params }),
  });
  return { status: answer.status, body: await answer.text() };
}

const calls = (server: ServerOnPath) => server.list('called').map(({ params }) => params);

describe('hivebar brainclaw act', () => {
  test('has brainclaw do it, as a person, and leaves no server behind', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files, 'none', store.root);
    const id = pendingIn(store);
    const before = candidatesIn(store);
    const env = { ...AGENT_SHELL, ...server.env };
    const done = await home.run(['brainclaw', 'act', 'accept', id, '--project', store.dir], { env });
    assert.equal(
      done.stdout,
      `brainclaw accepted accept ${id}; the board shows it when the journal has it\n`,
      done.stderr,
    );
    assert.equal(done.code, 0);
    assert.deepEqual(calls(server), [
      { name: 'bclaw_transition', arguments: { entity: 'candidate', id, to: 'accepted' } },
    ]);
    assert.equal(candidatesIn(store), before - 1);
    const [started] = server.list('started');
    assert.equal(started?.cwd, store.dir);
    assert.deepEqual(started?.argv, ['mcp']);
    assert.equal(started?.env.BRAINCLAW_OBSERVER, '1');
    assert.notEqual(started?.env.BRAINCLAW_AGENT_NAME, AGENT_SHELL.BRAINCLAW_AGENT_NAME);
    assert.deepEqual(
      Object.keys(started?.env ?? {}).filter((name) =>
        /SESSION|AGENT_ID|CLAIM|BOUNDARY|CLAUDE|_CWD|_PROJECT/.test(name),
      ),
      [],
    );
    assert.deepEqual(server.alive, []);
  });

  test('is refused unless the settings let it, and names the setting', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, false);
    const server = installed(files, 'none', store.root);
    const args = ['brainclaw', 'act', 'accept', pendingIn(store), '--project', store.dir];
    const refused = await home.run(args, { env: server.env });
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /brainclaw\.actions is not switched on .* add "actions": true to the setting brainclaw/,
    );
    assert.deepEqual(server.noted, []);
  });

  test('prints the exact call where brainclaw is not installed, and ends with 3', async () => {
    using store = brainclaw();
    using home = createHome(store, true);
    const run = (...args: readonly string[]) =>
      home.run(['brainclaw', 'act', ...args, '--project', store.dir], { env: NOT_INSTALLED });
    const text = await run('reject', 'cnd_1', '--text', "it isn't so");
    assert.equal(text.code, 3);
    const [call = '', shell = ''] = text.stdout.split('\n');
    assert.equal(call, `bclaw_transition {"entity":"candidate","id":"cnd_1","to":"rejected","reason":"it isn't so"}`);
    assert.match(shell, /^cd \S+ && brainclaw reject cnd_1 --by \S+ --reason 'it isn'\\''t so'$/);
    const json = await run('resolve', 'act_c0', '--text', 'the blue one', '--json');
    assert.equal(json.code, 3);
    const { arguments: args, ...reported } = JSON.parse(json.stdout) as { arguments: Record<string, unknown> };
    assert.deepEqual(reported, {
      accepted: false,
      project: 'prj_lab0001',
      root: store.dir,
      tool: 'bclaw_assignment_action',
      shell: null,
    });
    assert.deepEqual(
      { ...args, agent: '' },
      { action_id: 'act_c0', outcome: 'resolved', text: 'the blue one', agent: '' },
    );
  });

  test('says what brainclaw says, without what a terminal would act on', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const { env } = installed(files, 'error');
    const failed = await home.run(['brainclaw', 'act', 'release', 'clm_9', '--project', store.dir], { env });
    assert.equal(failed.code, 1);
    assert.match(
      failed.stderr,
      /bclaw_release_claim \{.*\}: Claim not found: \[31m clm_9: correct what brainclaw names/,
    );
    assert.ok(!failed.stderr.includes('\u001b'));
  });

  test('of a wrong command line is a usage error before anything is asked', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files);
    for (const args of [[], ['accept'], ['wreck', 'cnd_1'], ['accept', 'clm_1'], ['accept', 'cnd_1', 'cnd_2']]) {
      const { code } = await home.run(['brainclaw', 'act', ...args, '--project', store.dir], { env: server.env });
      assert.equal(code, 2, args.join(' '));
    }
    assert.deepEqual(server.noted, []);
  });
});

describe('the action brainclaw of a tray process', () => {
  test('conformance 5: the board follows the record, not the answer', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files); // takes the call, and writes nothing yet
    const id = pendingIn(store);
    await using tray = await home.start([], server.env);
    await waitForUnread(tray, 20);
    assert.ok(keysOn(await fetchSheet(tray)).includes(`candidate:${id}`));
    const { result } = (await tray.post('/api/v1/actions/brainclaw', {
      ...{ project: PROJECT, do: 'accept', item: `candidate:${id}` },
    })) as { result: Record<string, unknown> };
    assert.deepEqual([result.accepted, result.tool], [true, 'bclaw_transition']);
    await tray.post('/api/v1/actions/poll', {});
    assert.equal((await tray.persona(PROJECT)).unread, 20);
    assert.ok(keysOn(await fetchSheet(tray)).includes(`candidate:${id}`), 'nothing is taken for done');
    const [before] = (await tray.status()).projects;
    store.step(1); // a record of something else
    await tray.until('it is read', ({ projects: [now] }) => now?.rev !== before?.rev);
    assert.equal((await tray.persona(PROJECT)).unread, 20);
  });

  test('with the record the item is gone from the board, and its event says so', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files, 'none', store.root);
    const id = pendingIn(store);
    await using tray = await home.start([], server.env);
    await waitForUnread(tray, 20);
    assert.deepEqual(server.noted, [], 'a server is not started to look');
    assert.equal((await asked(tray, { do: 'accept', item: id })).status, 200);
    await waitForUnread(tray, 19);
    assert.ok(!keysOn(await fetchSheet(tray)).includes(`candidate:${id}`));
    await until('it is told', () =>
      home.events(PROJECT).some(({ event, item }) => event === 'cleared' && String(item).includes(id)),
    );
    assert.equal((await asked(tray, { do: 'reject', item: 'cnd_x' })).status, 200);
    assert.equal(server.list('started').length, 1, 'one server for both');
    assert.equal((await tray.stop()).code, 0);
    assert.deepEqual(server.alive, []);
  });

  test('is refused without the setting, without brainclaw, without the token, and for what cannot be done', async () => {
    using store = brainclaw();
    using files = scratch();
    const server = installed(files);
    const accept = { do: 'accept', item: 'cnd_1' };
    {
      using off = createHome(store, false);
      await using tray = await off.start([], server.env);
      await waitForUnread(tray, 20);
      const { status, body } = await asked(tray, accept);
      assert.equal(status, 409);
      assert.match(body, /actions-off.*brainclaw\.actions is not switched on/);
    }
    {
      using home = createHome(store, true);
      await using tray = await home.start([], NOT_INSTALLED);
      await waitForUnread(tray, 20);
      const { status, body } = await asked(tray, accept);
      assert.equal(status, 501);
      const { error } = JSON.parse(body) as { error: { message: string } };
      assert.match(
        error.message,
        /the call is bclaw_transition \{"entity":"candidate","id":"cnd_1","to":"accepted"\}, or cd /,
      );
      assert.equal((await asked(tray, { do: 'accept', item: 'clm_1' })).status, 400);
      assert.equal((await asked(tray, { ...accept, project: 'bc-other' })).status, 400);
      const open = await fetch(`${tray.url}/api/v1/actions/brainclaw`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ project: PROJECT, ...accept }),
      });
      assert.equal(open.status, 401);
    }
    assert.deepEqual(server.noted, []);
  });
});

describe('what brainclaw can add to a board that the journal does not make whole', () => {
  test('is asked for once when the journal is off, and marked', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files);
    renameSync(store.journal, store.at('.brainclaw', 'elsewhere'));
    await using tray = await home.start([], server.env);
    await waitForUnread(tray, 4);
    const { sheet } = await fetchSheet(tray);
    assert.deepEqual(sheet?.remarks, ['journal-off']);
    assert.deepEqual([...(sheet?.seeded ?? [])].sort(), ['actions', 'agents', 'claims', 'plans', 'sessions']);
    assert.deepEqual([sheet?.counts.claims, sheet?.counts.runs], [3, null]);
    await tray.post('/api/v1/actions/poll', {});
    await tray.post('/api/v1/actions/poll', {});
    assert.deepEqual(calls(server), [{ name: 'bclaw_context', arguments: { kind: 'board_summary' } }]);
  });

  test('is asked for when the registry is not whole in it, and gives way once it is', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files);
    const last = readdirSync(store.journal)
      .filter((name) => name.startsWith('seg-'))
      .sort()
      .slice(1);
    const texts = last.map((name) => [name, readFileSync(store.event(name), 'utf8')] as const);
    for (const [name, text] of texts) {
      const whole = text.indexOf('{"v":2,"seq":157,');
      if (name === last[0]) writeFileSync(store.event(name), text.slice(0, whole));
      else rmSync(store.event(name));
    }
    await using tray = await home.start([], server.env);
    const sheet = await seededIn(tray);
    assert.ok(sheet?.remarks.includes('registry-partial'));
    assert.deepEqual([...(sheet?.seeded ?? [])].sort(), ['actions', 'agents', 'claims', 'sessions']);
    for (const [name, text] of texts) writeFileSync(store.event(name), text);
    await waitForUnread(tray, 20);
    const now = (await fetchSheet(tray)).sheet;
    assert.deepEqual([...(now?.seeded ?? [])].sort(), ['agents', 'sessions']);
    assert.equal(now?.counts.claims, 12);
    assert.equal(calls(server).length, 1);
  });

  test('is not asked for when the journal says all, nor when acting is off', async () => {
    using files = scratch();
    const server = installed(files);
    for (const actions of [true, false]) {
      using store = brainclaw();
      using home = createHome(store, actions);
      if (!actions) renameSync(store.journal, store.at('.brainclaw', 'elsewhere'));
      await using tray = await home.start([], server.env);
      await waitForUnread(tray, actions ? 20 : null);
      await tray.post('/api/v1/actions/poll', {});
      assert.equal((await fetchSheet(tray)).sheet?.seeded.length, 0);
    }
    assert.deepEqual(server.noted, []);
  });

  test('when it does not answer, the board is what the journal says', async () => {
    using store = brainclaw();
    using files = scratch();
    using home = createHome(store, true);
    const server = installed(files, 'dies');
    renameSync(store.journal, store.at('.brainclaw', 'elsewhere'));
    await using tray = await home.start([], server.env);
    await until('it is said', () => tray.log.some((line) => /is shown without the counts of brainclaw mcp/.test(line)));
    const { sheet } = await fetchSheet(tray);
    assert.deepEqual([sheet?.seeded, sheet?.counts.claims], [[], null]);
    assert.equal((await tray.persona(PROJECT)).unread, null);
  });
});
