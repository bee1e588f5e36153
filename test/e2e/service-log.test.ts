import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { fakeHive } from '../kit/fake-hive.ts';
import { runCli, startCli } from '../kit/process.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';

const MIB = 1024 * 1024;

/** What the unit of launchd starts, with a log that is there already. */
function unit(dir: Scratch, hive: string): readonly string[] {
  const files = ['--state-file', dir.at('hive.json'), '--events-file-template', dir.at('events.{persona}.ndjson')];
  const run = ['service', 'run', '--headless', '--stays-down', '--log', dir.at('watch.err'), '--'];
  return [...run, '--hive', hive, '--poll-seconds', '1', ...files];
}

const lines = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

describe('what the headless service says, where no journal takes it', () => {
  test('a log that nobody rotates: put aside at 1 MiB, one older at most, and nobody else can read it', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    const log = dir.at('watch.err');
    const fill = `${'x'.repeat(1023)}\n`.repeat(1024).slice(0, -1024);
    writeFileSync(log, `${fill}${'y'.repeat(1000)}\n`, { mode: 0o644 });
    writeFileSync(`${log}.1`, 'the one before');
    await using cli = startCli(unit(dir, hive.url));
    await until('its first line fills the log', () => lines(`${log}.1`).includes('watching 1 of 1'));
    assert.ok(statSync(`${log}.1`).size < MIB + 1000);
    assert.deepEqual([statSync(log).mode & 0o777, statSync(`${log}.1`).mode & 0o777], [0o600, 0o600]);
    assert.equal(existsSync(`${log}.2`), false);
    hive.fail({ is: 'status', status: 500 });
    await until('later lines are in a small file', () => /ada/.test(lines(log)), 60_000);
    assert.ok(statSync(log).size < MIB / 2);
    assert.equal((await cli.stop()).code, 0);
  });

  test('a loop of dying at the start: the log never has more than two parts', async () => {
    using dir = scratch();
    const log = dir.at('watch.err');
    const args = ['service', 'run', '--headless', '--stays-down', '--log', log, '--', '--poll-seconds', '0'];
    for (let start = 0; start < 3; start += 1) {
      writeFileSync(log, `${'z'.repeat(MIB)}\n`, { flag: 'a', mode: 0o600 }); // as node, which writes through launchd
      assert.equal((await runCli(args)).code, 0);
      assert.ok(statSync(`${log}.1`).size < 2 * MIB);
      assert.equal(statSync(log).size, 0);
    }
    assert.match(lines(`${log}.1`).slice(-200), /hivebar service: --poll-seconds 0: must be at least 1/);
    assert.equal(existsSync(`${log}.2`), false);
  });

  test('trap 52: a log that is a symlink is not followed; it is said on stderr, and the watch goes on', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    writeFileSync(dir.at('precious'), 'precious\n');
    symlinkSync(dir.at('precious'), dir.at('watch.err'));
    await using cli = startCli(unit(dir, hive.url));
    await cli.says(/watch\.err/);
    await cli.says(/watching 1 of 1/);
    assert.equal(lines(dir.at('precious')), 'precious\n');
    assert.equal((await cli.stop()).code, 0);
  });

  test('a place for the log that cannot be written to takes nothing down', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    mkdirSync(dir.at('watch.err'));
    await using cli = startCli(unit(dir, hive.url));
    await cli.says(/watching 1 of 1/);
    assert.equal((await cli.stop()).code, 0);
  });

  test('Kijito contract i: its directories are private though nobody made them, its files too', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    const at = (name: string): string => dir.at(`state/headless/${name}`);
    const files = ['--state-file', at('hive.json'), '--events-file-template', at('events.{persona}.ndjson')];
    const run = ['service', 'run', '--headless', '--stays-down', '--log', at('watch.err'), '--', '--hive', hive.url];
    await using cli = startCli([...run, ...files, '--poll-seconds', '1'], {
      wrap: ['sh', '-c', 'umask 0; exec "$@"', 'sh'],
    });
    hive.deliver('ada');
    const names = ['events.ada.ndjson', 'hive.ada.json', 'hive.ada.json.lock', 'watch.err'];
    // Beside them lies, for a moment after each poll, what the position is written to before it is renamed.
    await until(
      'these and no others',
      () => existsSync(at('.')) && isDeepStrictEqual(readdirSync(at('.')).sort(), names),
    );
    const modes = (paths: readonly string[]) => paths.map((name) => statSync(at(name)).mode & 0o777);
    assert.deepEqual(modes(['..', '.']), [0o700, 0o700]);
    assert.deepEqual(modes(names), [0o600, 0o600, 0o600, 0o600]);
    assert.equal((await cli.stop()).code, 0);
  });

  test('why it crashed is in the log, also where stderr is nowhere', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    using dir = scratch();
    writeFileSync(dir.at('boom.mjs'), `process.on('SIGUSR2', () => { throw new Error('out of the blue') });\n`);
    await using cli = startCli(unit(dir, hive.url), { env: { NODE_OPTIONS: `--import=${dir.at('boom.mjs')}` } });
    await until('it watches', () => lines(dir.at('watch.err')).includes('watching 1 of 1'));
    cli.kill('SIGUSR2');
    assert.notEqual((await cli.ended()).code, 0);
    assert.match(lines(dir.at('watch.err')), /hivebar service: Error: out of the blue\n {4}at /);
  });
});
