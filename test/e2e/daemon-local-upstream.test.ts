import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type DaemonConfig, type DaemonPlaces, findOwnDaemonPlaces } from '../../core/link/index.ts';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, writeAtomically } from '../../core/state/index.ts';
import { DAEMON_PERSONAS, installPersonas } from '../kit/daemon-personas.ts';
import { answering, type DaemonProcess } from '../kit/daemon-process.ts';
import { startCli } from '../kit/process.ts';
import { createHello, openStream } from '../kit/stream-client.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import type { SuitePersona } from '../kit/upstream-suite.ts';

/** A tray process that is the upstream of real daemons, in one home. */
interface Lab extends AsyncDisposable {
  readonly home: TrayHome;
  readonly ada: SuitePersona;
  tray: TrayProcess;
  places(identity: string): DaemonPlaces;
  daemon(identity: string): Promise<DaemonProcess>;
  push(to: string, text: string): Promise<void>;
  ask(token: string, method: 'GET' | 'POST', path: string, body?: object): Promise<{ status: number; body: unknown }>;
}

async function lab(): Promise<Lab> {
  const home = trayHome();
  const project = join(home.home, 'project');
  mkdirSync(project);
  const [ada] = installPersonas(
    home.dir,
    DAEMON_PERSONAS.map((config): DaemonConfig => ({ ...config, project })),
  );
  if (ada === undefined) throw new Error('a persona is needed');
  const places = (identity: string): DaemonPlaces => findOwnDaemonPlaces({ tenant: 'lab', identity }, home.env);
  const rig: Lab = {
    home,
    ada,
    tray: await home.start(),
    places,
    daemon: (identity) => {
      const words = ['daemon', 'run', '--tenant', 'lab', '--identity', identity, '--project', project];
      return answering(startCli(words, { env: home.env }), places(identity));
    },
    async push(to, text) {
      const { code, stderr } = await home.run(['inbox', 'push', '--to', to, text]);
      assert.equal(code, 0, stderr);
    },
    async ask(token, method, path, body) {
      const headers: Record<string, string> = { Authorization: `Bearer ${token}`, Connection: 'close' };
      if (body !== undefined) headers['Content-Type'] = 'application/json';
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const answer = await fetch(rig.tray.url + path, init);
      return { status: answer.status, body: await answer.json() };
    },
    async [Symbol.asyncDispose]() {
      await rig.tray[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
  return rig;
}

const knows =
  (count: number) =>
  ({ pending }: { readonly pending: { readonly count: number; readonly fresh: boolean } }): boolean =>
    pending.fresh && pending.count === count;

describe('a daemon and the hive of its own machine', () => {
  let rig: Lab;
  before(async () => {
    rig = await lab();
  });
  after(() => rig?.[Symbol.asyncDispose]());

  test('persona daemon check 8: what another process pushes is known, rung once, drained by a command, and then over', async () => {
    await using daemon = await rig.daemon('ada');
    await daemon.connected();
    await rig.push('ada', 'the build is red');
    await rig.push('ada', 'the build is green');
    await daemon.until('both are known', knows(2));
    assert.deepEqual(await daemon.turnBoundary(), { emitted: true, why: 'rung' });
    const { outstanding } = await daemon.status();
    assert.notEqual(outstanding, null, 'a doorbell is no acknowledgement');
    assert.deepEqual(await daemon.turnBoundary(), { emitted: false, why: 'outstanding' });
    const drained = await rig.home.run(['inbox', 'drain', 'ada']);
    assert.match(drained.stdout, /the build is red[\s\S]*the build is green/);
    await daemon.until('the drain', (status) => knows(0)(status) && status.outstanding === null);
    assert.deepEqual(await daemon.turnBoundary(), { emitted: false, why: 'nothing_pending' });
  });

  test('persona daemon check 3: a daemon is registered apart, never to be master, and may neither speak nor drain', async () => {
    await using daemon = await rig.daemon('ada');
    await daemon.connected();
    const { body } = await rig.ask(rig.ada.observe, 'GET', '/v1/registrations');
    const { registrations, counts } = body as {
      registrations: Readonly<Record<string, unknown>>[];
      counts: object;
    };
    const [row] = registrations;
    assert.deepEqual(
      [counts, row?.kind, row?.master_eligible, row?.identity, row?.tenant_id],
      [{ daemon: 1, agent: 0 }, 'daemon', false, 'ada', 'lab'],
    );
    const signal = { to: 'bo', from: 'ada', body: 'I speak' };
    assert.equal((await rig.ask(rig.ada.observe, 'POST', '/v1/signals', signal)).status, 403);
    assert.equal((await rig.ask(rig.ada.observe, 'POST', '/v1/signals/pending/drain', { max: 1 })).status, 403);
    using agent = openStream(rig.tray.url, { token: rig.ada.observe });
    agent.send(createHello(rig.ada, { kind: 'agent' }));
    assert.equal(await agent.ended(), 4403);
    assert.equal((await daemon.status()).fsm, 'CONNECTED');
  });

  test('a surface drains with its own command, text or JSON, and the daemon hears of it', async () => {
    await using daemon = await rig.daemon('ada');
    await daemon.connected();
    await rig.push('ada', 'first <b>');
    await rig.push('ada', 'second');
    await rig.push('ada', 'third');
    await daemon.until('all are known', knows(3));
    const answer = await rig.home.run(['daemon', 'drain', 'lab-ada', '--max', '1', '--json']);
    assert.equal(answer.code, 0, answer.stderr);
    const { items, remaining } = JSON.parse(answer.stdout) as { items: { body: string }[]; remaining: number };
    assert.deepEqual([items.map(({ body }) => body), remaining], [['first <b>'], 2]);
    await daemon.until('one less', knows(2));
    const text = await rig.home.run(['daemon', 'drain', 'lab-ada', '--max', '1']);
    assert.match(text.stdout, /^Hivebar: [\s\S]*second[\s\S]*<\/item>\n\[1 more pending: .*lab-ada\]\n$/);
    await rig.home.run(['daemon', 'drain', 'lab-ada']);
    await daemon.until('nothing more', knows(0));
    const none = await rig.home.run(['daemon', 'drain', 'lab-ada']);
    assert.deepEqual([none.code, none.stdout], [0, '']);
  });

  test('mail that is read anywhere is as good as drained; a signal of another program is known like any other', async () => {
    await using daemon = await rig.daemon('ada');
    await daemon.connected();
    const sent = await rig.ask(rig.tray.token, 'POST', '/v1/signals', { to: 'ada', from: 'ci', body: 'hello' });
    assert.equal(sent.status, 202);
    await daemon.until('it is known', knows(1));
    assert.equal((await daemon.turnBoundary()).why, 'rung');
    await rig.ask(rig.tray.token, 'GET', '/api/inbox?persona=ada&mark_read=true');
    await daemon.until('the drain', (status) => knows(0)(status) && status.outstanding === null);
  });

  test('a tray process that is killed and comes again is found, at its new port, and nothing rings by that', async () => {
    await using daemon = await rig.daemon('ada');
    const { pending: before } = await daemon.connected();
    await rig.tray.kill();
    await daemon.until('the loss', ({ fsm }) => fsm === 'DISCONNECTED');
    await rig.push('ada', 'while nobody served');
    rig.tray = await rig.home.start();
    const { outstanding, pending } = await daemon.until('it is reconciled', (status) => knows(1)(status));
    assert.equal(outstanding, null);
    assert.ok((pending.rev ?? 0) > (before.rev ?? 0), 'the revision goes on over a new start');
    assert.equal((await daemon.turnBoundary()).why, 'rung');
    await rig.home.run(['inbox', 'drain', 'ada']);
    await daemon.until('the drain', knows(0));
  });

  test('D3 given a drain while the tray process is away, what comes then rings at the next boundary, once', async () => {
    await using daemon = await rig.daemon('ada');
    await daemon.connected();
    await rig.push('ada', 'before');
    await daemon.until('it is known', ({ pending }) => pending.fresh && pending.count > 0);
    assert.deepEqual(await daemon.turnBoundary(), { emitted: true, why: 'rung' });
    await rig.tray.kill();
    await daemon.until('it knows', ({ fsm }) => fsm === 'DISCONNECTED');
    assert.equal((await rig.home.run(['inbox', 'drain', 'ada'])).code, 0);
    await rig.push('ada', 'after');
    rig.tray = await rig.home.start();
    await daemon.until('connected again', knows(1), 30_000);
    assert.deepEqual(await daemon.turnBoundary(), { emitted: true, why: 'rung' });
    assert.deepEqual(await daemon.turnBoundary(), { emitted: false, why: 'outstanding' });
    await rig.home.run(['inbox', 'drain', 'ada']);
    await daemon.until('the drain', (status) => knows(0)(status) && status.outstanding === null);
  });

  test('to a persona that is over a signal is refused and nothing of before is lost; what is sent as mail is kept', async () => {
    const signal = { to: 'ada', from: 'ci', body: 'accepted' };
    {
      await using daemon = await rig.daemon('ada');
      await daemon.connected();
      assert.equal((await rig.ask(rig.tray.token, 'POST', '/v1/signals', signal)).status, 202);
      const ended = await rig.home.run(['daemon', 'shutdown', 'lab-ada', '--reason', 'wrap']);
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal((await daemon.cli.ended()).code, 0);
    }
    const { status, body } = await rig.ask(rig.tray.token, 'POST', '/v1/signals', { ...signal, body: 'refused' });
    assert.equal(status, 409);
    const { error, binding } = body as { error: string; binding: { identity: string; reason: string } };
    assert.deepEqual([error, binding.identity, binding.reason], ['stale_target', 'ada', 'wrap']);
    const mail = await rig.home.run(['send', '--to', 'ada', '--from', 'ci', 'mail is always accepted']);
    assert.equal(mail.code, 0, mail.stderr);
    const { stdout } = await rig.home.run(['inbox', 'drain', 'ada', '--json']);
    const { items } = JSON.parse(stdout) as { items: { content: string }[] };
    assert.deepEqual(
      items.map(({ content }) => content),
      ['accepted', 'mail is always accepted'],
    );
  });

  test('a session that is announced is an agent, apart from daemons; one that is over is a stale way to its persona', async () => {
    const session = (...words: string[]) => rig.home.run(['session', ...words, 'bo', '--id', 's1']);
    const set = await session('set', '--cwd', rig.home.home, '--pid', String(process.pid));
    assert.equal(set.code, 0, set.stderr);
    const { body } = await rig.ask(rig.ada.observe, 'GET', '/v1/registrations');
    const { registrations, counts } = body as { registrations: Readonly<Record<string, unknown>>[]; counts: object };
    assert.deepEqual(counts, { daemon: 0, agent: 1 });
    const [row] = registrations;
    assert.deepEqual(
      [row?.kind, row?.master_eligible, row?.address, row?.registration_id],
      ['agent', true, 'bo', 's1'],
    );
    assert.equal((await session('end')).code, 0);
    // The daemon of bo is installed and was never there: it has its time to come.
    const signal = { to: 'bo', from: 'ci', body: 'x' };
    assert.equal((await rig.ask(rig.tray.token, 'POST', '/v1/signals', signal)).status, 202);
    const other = await rig.home.run(['session', 'set', 'cy', '--id', 's2', '--pid', String(process.pid)]);
    assert.equal(other.code, 0, other.stderr);
    assert.equal((await rig.ask(rig.tray.token, 'POST', '/v1/signals', { ...signal, to: 'cy' })).status, 202);
    await rig.home.run(['session', 'end', 'cy', '--id', 's2']);
    const stale = await rig.ask(rig.tray.token, 'POST', '/v1/signals', { ...signal, to: 'cy' });
    assert.equal(stale.status, 409);
    const { binding } = stale.body as { binding: { kind: string; reason: string } };
    assert.deepEqual([binding.kind, binding.reason], ['agent', 'wrap']);
  });

  test('a token that is made anew is taken at once, and the old one no more', async () => {
    const disk = createRealDisk(silentLog);
    const next = realRandom.hex(32);
    writeAtomically(disk, realRandom, rig.places('ada').observeToken, `${next}\n`);
    assert.equal((await rig.ask(rig.ada.observe, 'GET', '/v1/signals/pending')).status, 401);
    assert.equal((await rig.ask(next, 'GET', '/v1/signals/pending')).status, 200);
    writeAtomically(disk, realRandom, rig.places('ada').observeToken, `${rig.ada.observe}\n`);
    assert.equal((await rig.ask(rig.ada.observe, 'GET', '/v1/signals/pending')).status, 200);
  });
});
