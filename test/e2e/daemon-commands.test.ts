import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configIn, linkIn, notingHandlers, STATUS } from '../kit/daemon-link.ts';
import { daemonHome } from '../kit/daemon-process.ts';
import { runCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { referenceUpstream } from '../kit/upstream/index.ts';

const run = (home: string, ...words: readonly string[]) =>
  runCli(['daemon', ...words], { env: { HIVEBAR_HOME: home } });
const ADA = ['--tenant', 'acme', '--identity', 'ada'] as const;

describe('a daemon from the command line', () => {
  test('says how it is, for a person and for a script', async () => {
    using at = scratch();
    await using _ = await linkIn(at.dir, notingHandlers().handlers);
    const shown = await run(at.dir, 'status', ...ADA);
    assert.deepEqual([shown.code, shown.stderr], [0, '']);
    assert.match(shown.stdout, /^acme-ada {2}sleeping {2}CONNECTED\nprocess {4}pid 4242, version 1\.0\.0, up 12 s\n/);
    assert.match(shown.stdout, /\npending {4}2\n/);
    assert.match(shown.stdout, /RECONCILING -> CONNECTED {2}peek_ok\n$/);
    const json = await run(at.dir, 'status', ...ADA, '--json');
    assert.deepEqual(JSON.parse(json.stdout), STATUS);
  });

  test('what a daemon says acts on no terminal', async () => {
    using at = scratch();
    const status = () => ({ ...STATUS, surface: 'x\u001b[31m' });
    await using _ = await linkIn(at.dir, notingHandlers({ status }).handlers);
    for (const more of [[], ['--json']]) {
      const { code, stdout } = await run(at.dir, 'status', ...ADA, ...more);
      assert.equal(code, 0);
      assert.equal(stdout.includes('\u001b'), false);
    }
  });

  test('is asked for a bell and for its surface, each by one verb', async () => {
    using at = scratch();
    const { handlers, calls } = notingHandlers();
    await using _ = await linkIn(at.dir, handlers);
    const notified = await run(at.dir, 'notify', ...ADA);
    assert.deepEqual(
      [notified.code, notified.stdout],
      [0, 'acme-ada: will ring at the next turn boundary, if something waits then\n'],
    );
    const json = await run(at.dir, 'notify', ...ADA, '--json');
    assert.deepEqual(JSON.parse(json.stdout), { emitted: false, why: 'queued' });
    const resumed = await run(at.dir, 'resume', ...ADA);
    assert.deepEqual([resumed.code, resumed.stdout], [0, 'acme-ada: its surface is bound again\n']);
    assert.deepEqual(
      calls.filter((call) => !call.startsWith('read')),
      ['notify null', 'notify null', 'resume'],
    );
  });

  test('a surface that cannot be bound is exit 1', async () => {
    using at = scratch();
    const resume = async (): Promise<void> => {
      throw new Error('no');
    };
    await using _ = await linkIn(at.dir, notingHandlers({ resume }).handlers);
    const { code, stdout, stderr } = await run(at.dir, 'resume', ...ADA);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^hivebar daemon: the daemon acme-ada refused \(surface_unavailable\): /);
  });

  test('one that does not run is exit 1 with the next step; one that does not end after its deadline as well', async () => {
    using at = scratch();
    for (const verb of ['status', 'notify', 'resume', 'shutdown']) {
      const { code, stdout, stderr } = await run(at.dir, verb, ...ADA);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr,
        /^hivebar daemon: the daemon acme-ada is not running: .*ctl\.sock: start it with hivebar daemon/,
      );
    }
    const { handlers, calls } = notingHandlers();
    await using _ = await linkIn(at.dir, handlers);
    const { code, stderr } = await run(at.dir, 'shutdown', ...ADA, '--reason', 'a test', '--deadline', '10');
    assert.equal(code, 1);
    assert.match(stderr, /was asked to end but still runs after 1010 ms/);
    assert.deepEqual(calls, ['shutdown a test 10']);
  });

  test('persona daemon check 13: a real one that is told to end is gone when the command says so', async () => {
    await using up = await referenceUpstream();
    using home = daemonHome();
    const ada = up.persona('acme', 'ada');
    home.install(ada, up);
    await using daemon = await home.start(ada);
    await daemon.connected();
    const shown = await run(home.dir, 'status', 'acme-ada', '--json');
    assert.equal((JSON.parse(shown.stdout) as { readonly pid: number }).pid, daemon.pid);
    assert.equal((await run(home.dir, 'notify')).code, 0);
    const ended = await run(home.dir, 'shutdown', 'acme-ada');
    assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, 'acme-ada: has ended\n', '']);
    assert.deepEqual(await daemon.cli.ended(), { code: 0, signal: null });
    assert.equal((await run(home.dir, 'status')).code, 1);
  });

  test('is named by its joined name, by two flags, or not at all where there is but one', async () => {
    using at = scratch();
    const none = await run(at.dir, 'status');
    assert.equal(none.code, 2);
    assert.match(none.stderr, /no daemon is installed; use --tenant and --identity/);
    configIn(at.dir);
    await using _ = await linkIn(at.dir, notingHandlers().handlers);
    for (const words of [[], ['acme-ada'], [...ADA]]) assert.equal((await run(at.dir, 'status', ...words)).code, 0);
    configIn(at.dir, { identity: 'bo' });
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /several daemons are installed; name one of them: acme-ada, acme-bo/],
      [['acme-cy'], /acme-cy: no daemon of that name is installed/],
      [['acme-ada', 'x'], /unexpected argument x/],
      [['acme-ada', ...ADA], /use either acme-ada or --tenant and --identity/],
      [['--tenant', 'acme'], /use both --tenant and --identity/],
      [['--tenant', 'ACME', '--identity', 'ada'], /ACME is not valid/],
      [['--tenant', '..', '--identity', 'ada'], /\.\. is not valid/],
      [['--nonsense'], /--nonsense/],
    ];
    for (const [words, message] of cases) {
      const { code, stderr } = await run(at.dir, 'status', ...words);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    for (const deadline of ['5001', '-1', 'x', '']) {
      const { code, stderr } = await run(at.dir, 'shutdown', 'acme-ada', `--deadline=${deadline}`);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /--deadline .*must be a number of milliseconds, at most 5000/);
    }
    for (const words of [[], ['nonsense']]) {
      const { code, stderr } = await run(at.dir, ...words);
      assert.equal(code, 2);
      assert.match(stderr, /: expected run, .*status/);
    }
    at.write('daemons/acme-ada/daemon.json', '{"tenant": 7, "owner": "tray"}');
    const bad = await run(at.dir, 'status', 'acme-ada');
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /daemons\/acme-ada\/daemon\.json: tenant is 7, must be .*: correct the file/);
    assert.equal((await run(at.dir, 'status', ...ADA)).code, 0);
  });
});
