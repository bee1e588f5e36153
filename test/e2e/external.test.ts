import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLineSource, unread } from '../kit/outside-sources.ts';
import { needs } from '../kit/require.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** The lines of the contract, by a shell script. */
const CONTRACT_SCRIPT = `#!/bin/sh
while read -r line; do
  case $line in
    *'"hello"'*) echo '{"op":"ready","protocol":1,"source":"my-mail","label":"My mail","can":["hint"]}' ;;
    *'"look"'*) id=\${line#*'"id":'}; id=\${id%%,*}
      echo '{"op":"persona","persona":"ada","unread":2,"urgent":1,"agent":"live","cwd":"/srv/p"}'
      echo '{"op":"item","persona":"ada","key":"m-17","state":"unread","from":"bo","created":"2026-11-29T09:00:00Z","subject":"Schema","content":"May I?","urgent":true}'
      echo "{\\"op\\":\\"done\\",\\"id\\":$id,\\"cursor\\":\\"m-17\\",\\"full\\":true,\\"more\\":false}" ;;
  esac
done
`;

const SECRETS = { KIJITOMON_TOKEN: 'a secret of the hive', HIVEBAR_TOKEN: 'another', OPENAI_API_KEY: 'a third' };

describe('sources outside of Hivebar', () => {
  let home: TrayHome;
  let tray: TrayProcess;
  let place: Scratch;

  before(async () => {
    home = trayHome({ primary: { is: 'local' }, alertAfter: 2 });
    place = scratch();
    tray = await home.start([], SECRETS);
  });

  after(async () => {
    await tray[Symbol.asyncDispose]();
    place[Symbol.dispose]();
    home[Symbol.dispose]();
  });

  const add = async (...args: readonly string[]): Promise<void> => {
    const added = await home.run(['source', 'add', ...args]);
    assert.equal(added.code, 0, added.stderr);
  };
  const show = async (name: string) => {
    const { stdout } = await home.run(['source', 'show', name, '--json']);
    return (JSON.parse(stdout) as { report: { state: string; why: string | null; pid: number; stderr: string[] } })
      .report;
  };

  test('external 1: a shell script is on the board at once, without a restart', async () => {
    const path = place.write('mail.sh', CONTRACT_SCRIPT);
    chmodSync(path, 0o700);
    const added = await home.run(['source', 'add', 'ext', '--yes', '--', path]);
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /runs .*mail\.sh as you[\s\S]*A click runs nothing[\s\S]*from now on/);
    const began = performance.now();
    const ada = await tray.persona('ext-ada', ({ unread: count }) => count === 2);
    assert.ok(performance.now() - began < 2000, 'within 2 s');
    assert.deepEqual([ada.urgent, ada.agent, ada.cwd], [1, 'live', '/srv/p']);
    await until('its event', () => home.mail('ext-ada').length === 1);
    const event = home.events('ext-ada').find(({ event: name }) => name === 'new');
    assert.deepEqual([event?.id, event?.source, event?.subject, event?.content], [1, 'my-mail', 'Schema', 'May I?']);
    const { stdout } = await home.run(['source', 'list']);
    assert.match(stdout, /ext +up +1 persona +exec .*mail\.sh/);
    assert.equal(statSync(home.at('config', 'config.json')).mode & 0o777, 0o600);
  });

  test('external 2: a source that is killed is back within a second, with the cursor that was acknowledged', async () => {
    const source = createLineSource(place, 'killed', { lines: [unread('ada', 'a')], done: { cursor: 'c1' } });
    await add('killed', '--yes', '--', ...source.argv);
    await until('its event', () => home.mail('killed-ada').length === 1);
    const { pid } = await show('killed');
    await sleep(500); // the cursor is saved after the event
    process.kill(pid, 'SIGKILL');
    source.set({ done: { cursor: 'c2', full: false } });
    const listHellos = () => source.heard.filter(({ op }) => op === 'hello');
    await until('it is started again', () => listHellos().length === 2);
    assert.equal(listHellos()[1]?.cursor, 'c1');
    const restarted = (await show('killed')).pid;
    assert.notEqual(restarted, pid);
    assert.equal((await tray.persona('killed-ada')).unread, 1);
    assert.deepEqual(home.mail('killed-ada'), [1]);
  });

  test('external 3: a source that writes 1 GiB unasked is ended, costs no memory and delays nobody', async (t) => {
    if (needs(t, process.platform === 'linux' ? null : 'linux: the memory of a process is read in /proc')) return;
    const readRss = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${tray.pid}/status`, 'utf8'))?.[1]) / 1024;
    const flood = createLineSource(place, 'flood', { lines: [unread('ada', 'a')] });
    const other = createLineSource(place, 'calm', { lines: [unread('bo', 'b')] });
    await add('flood', '--yes', '--', ...flood.argv);
    await add('calm', '--yes', '--every', '5s', '--', '/bin/sh', writeOneShot(place, 'calm', 0));
    await tray.persona('flood-ada', ({ unread: count }) => count === 1);
    await tray.persona('calm-ada', ({ unread: count }) => count === 1);
    const before = readRss();
    for (const kind of ['line', 'lines'] as const) {
      flood.set({ flood: kind });
      const { pid } = await show('flood');
      if (pid !== null) process.kill(pid, 'SIGKILL');
      const isRefused = (reason: string | null): boolean => /flood: schema: /.test(reason ?? '');
      const down = await tray.persona('flood-ada', ({ state, reason }) => state === 'DOWN' && isRefused(reason));
      assert.equal(down.unread, 1);
      // 1 GiB that was kept would not be given back. A collection that is due may be late.
      await until('it has not grown by 20 MiB', () => readRss() - before < 20);
      const began = performance.now();
      await tray.post('/api/v1/actions/poll', { persona: 'calm-ada' });
      await tray.until('it is polled', ({ personas }) =>
        personas.some(({ id, state }) => id === 'calm-ada' && state === 'UP'),
      );
      assert.ok(performance.now() - began < 2000, 'others are not delayed');
      flood.set({ lines: [unread('ada', 'a')] });
      await tray.persona('flood-ada', ({ state }) => state === 'UP');
    }
    assert.match((await show('flood')).state, /up/);
    assert.ok(other.argv.length > 0);
    await home.run(['source', 'remove', 'flood']);
    await home.run(['source', 'remove', 'calm']);
  });

  test('external 4: hostile names and keys are notes, and make no file outside of events', async () => {
    const bad = [
      { op: 'item', persona: '../x', key: 'k' },
      { op: 'item', persona: '../x', key: 'k', state: 'unread' },
      { op: 'persona', persona: '../../etc' },
      unread('ada', 'nul\0'),
      unread('lone\ud800', 'k'),
      unread('__proto__', 'k'),
      unread('ada', '__proto__'),
      '{"op":"item","persona":"ada","key":"k2","state":"unread","extra":{"__proto__":"x"}}',
    ];
    const source = createLineSource(place, 'bad', { lines: [unread('ada', 'good'), ...bad] });
    await add('bad', '--yes', '--', ...source.argv);
    await until('its events', () => home.mail('bad-ada').length === 2);
    const { stdout } = await home.run(['source', 'show', 'bad']);
    assert.equal(stdout.split('\n').filter((line) => line.startsWith('note ')).length >= 7, true, stdout);
    source.set({ lines: [unread('ada', 'good'), { ...unread('ada', 'k'.repeat(10_000_000)) }] });
    await tray.post('/api/v1/actions/poll', { persona: 'bad-ada' });
    await until('it is refused', async () => /schema: a line is longer/.test((await show('bad')).why ?? ''));
    assert.equal((await tray.persona('bad-ada')).unread, 2);
    assert.deepEqual(
      readdirSync(home.dir).filter((name) => name.includes('x') && !['config', 'outbox.journal'].includes(name)),
      [],
    );
    assert.deepEqual(
      readdirSync(home.at('events')).filter((name) => name.includes('bad-')),
      ['events.bad-ada.ndjson'],
    );
    assert.equal(existsSync(home.at('x')), false);
    await home.run(['source', 'remove', 'bad']);
  });

  test('external 6: after exit 78 it is not started again, until a person restarts it', async () => {
    const source = createLineSource(place, 'stopped', { exit: 78 });
    await add('stopped', '--yes', '--', ...source.argv);
    await until('it is stopped', async () => (await show('stopped')).state === 'stopped');
    assert.match((await show('stopped')).why ?? '', /exit code 78/);
    source.set({ lines: [unread('ada', 'a')] });
    await sleep(2500); // any other exit is tried again after a second
    assert.equal(source.heard.length, 0);
    assert.equal((await home.run(['source', 'restart', 'stopped'])).code, 0);
    await tray.persona('stopped-ada', ({ unread: count }) => count === 1);
  });

  test('external 7: what an item opens is run only where the settings allow it, and a file is never opened', async () => {
    const lines = [
      { op: 'persona', persona: 'ada', cwd: '/', resume: ['touch', place.at('ran')] },
      unread('ada', 'a', { open: { argv: ['touch', place.at('ran')] } }),
      unread('ada', 'b', { open: { url: 'file:///etc/passwd' } }),
      unread('ada', 'c', { open: { url: 'https://example.org/c' } }),
    ];
    const source = createLineSource(place, 'opens', { lines });
    await add('opens', '--yes', '--', ...source.argv);
    await until('its events', () => home.mail('opens-ada').length === 3);
    const links = home.events('opens-ada').flatMap(({ event, link }) => (event === 'new' ? [link ?? null] : []));
    assert.deepEqual(links, [null, null, 'https://example.org/c']);
    const { result } = (await tray.post('/api/v1/actions/open', { persona: 'opens-ada' }).catch(() => ({
      result: { opened: 'refused' },
    }))) as { result: { opened: string } };
    assert.notEqual(result.opened, 'terminal');
    assert.equal(existsSync(place.at('ran')), false);
  });

  test('a question is asked of the person on every surface until it is answered, also after it was delivered', async () => {
    const source = createLineSource(place, 'asks', {
      lines: [unread('ada', 'q', { kind: 'question', content: 'Why?' })],
    });
    await add('asks', '--yes', '--', ...source.argv);
    await tray.persona('asks-ada', ({ questions }) => questions === 1);
    await until('its event', () => home.events('asks-ada').some(({ event }) => event === 'question'));
    await tray.post('/api/v1/actions/poll', { persona: 'asks-ada' });
    const { stdout } = await home.run(['status']);
    assert.match(stdout, /^1 question for you,/);
    assert.match(stdout, / asks-ada: 1 question for you|ada \(asks-ada\): 1 question for you/);
    source.set({ lines: [{ op: 'item', persona: 'ada', key: 'q', state: 'read' }] });
    await tray.post('/api/v1/actions/poll', { persona: 'asks-ada' });
    await tray.persona('asks-ada', ({ questions }) => questions === 0);
    await home.run(['source', 'remove', 'asks']);
  });

  test('given acts, a person marks mail as read and replies through it; without acts nobody does', async () => {
    const source = createLineSource(place, 'acts', { lines: [unread('ada', 'a'), unread('ada', 'b')] });
    await add('acts', '--yes', '--acts', '--', ...source.argv);
    await tray.persona('acts-ada', ({ unread: count, canMarkRead }) => count === 2 && canMarkRead);
    await until('its events', () => home.mail('acts-ada').length === 2);
    await tray.post('/api/v1/actions/read', { persona: 'acts-ada', id: 2 });
    await tray.post('/api/v1/actions/source-reply', { persona: 'acts-ada', text: 'Yes' });
    const listActs = () => source.heard.filter(({ op }) => op === 'act').map(({ op: _, id: _id, ...act }) => act);
    await until('both', () => listActs().length === 2);
    assert.deepEqual(listActs(), [
      { act: 'markRead', persona: 'ada', keys: ['b'] },
      { act: 'reply', persona: 'ada', text: 'Yes' },
    ]);
    await assert.rejects(tray.post('/api/v1/actions/source-reply', { persona: 'ext-ada', text: 'Yes' }), /may not act/);
    assert.equal((await tray.persona('ext-ada')).canMarkRead, false);
    await home.run(['source', 'remove', 'acts']);
  });

  test('external 8: it sees no token, works in a private folder, and a program that everybody may write is refused', async () => {
    const source = createLineSource(place, 'env', { lines: [unread('ada', 'a')] });
    await add('env', '--yes', '--env', 'OWN=yes', '--', ...source.argv);
    await tray.persona('env-ada', ({ unread: count }) => count === 1);
    const { env, cwd } = source.started ?? assert.fail('it was not started');
    assert.deepEqual(
      Object.keys(env).filter((name) => !/^(PATH|HOME|LANG|TZ|XDG_.*|OWN|__CF.*)$/.test(name)),
      [],
    );
    assert.ok(!JSON.stringify(env).includes(home.ran('token')?.trim() ?? ''), 'the token of Hivebar');
    assert.match(cwd, /[/\\]sources[/\\]env$/);
    assert.equal(statSync(cwd).mode & 0o777, 0o700);

    const path = place.write('open.sh', CONTRACT_SCRIPT);
    chmodSync(path, 0o777);
    const refused = await home.run(['source', 'add', 'open', '--yes', '--', path]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /everybody may write it/);
    chmodSync(path, 0o700);
    await add('open', '--yes', '--', path);
    await tray.persona('open-ada', ({ unread: count }) => count === 2);
    chmodSync(path, 0o777);
    await home.run(['source', 'restart', 'open']);
    const down = await tray.persona('open-ada', ({ state }) => state === 'DOWN');
    assert.equal(down.unread, 2);
    assert.match(down.reason ?? '', /is not run: everybody may write it/);
  });

  test('external 9: the exit of a program that runs once is UP, UP with a note, DOWN, or changes nothing', async () => {
    const script = (code: number) => writeOneShot(place, 'codes', code);
    await add('codes', '--yes', '--every', '5s', '--', '/bin/sh', script(0));
    await tray.persona('codes-ada', ({ state, unread: count }) => state === 'UP' && count === 1);
    script(1);
    const poll = async (): Promise<unknown> => await tray.post('/api/v1/actions/poll', { persona: 'codes-ada' });
    await poll();
    await until('the note', async () =>
      JSON.stringify(await home.run(['source', 'show', 'codes'])).includes('the disk is slow'),
    );
    assert.equal((await tray.persona('codes-ada')).state, 'UP');
    script(3);
    await poll();
    await sleep(300);
    assert.equal((await tray.persona('codes-ada')).state, 'UP');
    script(2);
    await poll();
    const down = await tray.persona('codes-ada', ({ state }) => state === 'DOWN');
    assert.equal(down.unread, 1);
    assert.match(down.reason ?? '', /says that it is down/);
    script(3);
    await sleep(5000);
    assert.equal((await tray.persona('codes-ada')).state, 'DOWN', 'nobody knows, so it stays');
    script(0);
    await tray.persona('codes-ada', ({ state }) => state === 'UP');
    await home.run(['source', 'remove', 'codes']);
  });

  test('external 12: two sources name the same persona, and no name is used twice', async () => {
    for (const name of ['x', 'y']) {
      const source = createLineSource(place, name, { lines: [unread('ada', 'a')] });
      await add(name, '--yes', '--', ...source.argv);
    }
    await tray.persona('x-ada', ({ unread: count }) => count === 1);
    await tray.persona('y-ada', ({ unread: count }) => count === 1);
    for (const name of ['garden', 'x', 'bc', 'local', 'No']) {
      const refused = await home.run(['source', 'add', name, '--yes', '--', '/bin/cat']);
      assert.equal(refused.code, 2, name);
    }
    const removed = await home.run(['source', 'remove', 'x']);
    assert.match(removed.stdout, /from now on/);
    await tray.until('x-ada is gone', ({ personas }) => personas.every(({ id }) => id !== 'x-ada'));
    assert.ok((await tray.status()).personas.some(({ id }) => id === 'y-ada'));
    assert.ok(existsSync(home.at('events', 'events.x-ada.ndjson')), 'its event file stays');
  });
});

test('external 2: given kill -9 of Hivebar between the events and the cursor, then nothing is delivered again', async () => {
  using home = trayHome();
  using place = scratch();
  const first = { lines: [unread('ada', 'a'), unread('ada', 'b')], done: { cursor: 'c1', full: true } };
  const source = createLineSource(place, 'once', first);
  const added = await home.run(['source', 'add', 'once', '--yes', '--', ...source.argv]);
  assert.match(added.stdout, /from the next start/, 'without a running Hivebar the settings alone change');
  const killed = await home.start();
  await until('the events', () => home.mail('once-ada').length === 2);
  await killed.kill();
  await using tray = await home.start();
  // It may have been killed before the cursor was saved, so the same items come again.
  source.set({ lines: [...first.lines, unread('ada', 'c')], done: { cursor: 'c2', full: true } });
  await tray.persona('once-ada');
  await tray.post('/api/v1/actions/poll', { persona: 'once-ada' });
  await until('the third', () => home.mail('once-ada').length >= 3);
  await sleep(300);
  assert.deepEqual(home.mail('once-ada'), [1, 2, 3]);
  assert.ok(source.heard.some(({ op }) => op === 'hello'));
});

/** A program that runs once and ends with this code. It is replaced in place by rename. */
function writeOneShot(place: Scratch, name: string, code: number): string {
  const path = place.at(`${name}.sh`);
  const lines =
    code > 1
      ? ''
      : `echo '{"op":"persona","persona":"ada","unread":1}'\necho '{"op":"item","persona":"ada","key":"k","state":"unread"}'\n`;
  const note = code === 1 ? 'echo "the disk is slow" >&2\n' : '';
  writeFileSync(`${path}.new`, `#!/bin/sh\n${lines}${note}exit ${code}\n`, { mode: 0o700 });
  copyFileSync(`${path}.new`, path);
  return path;
}
