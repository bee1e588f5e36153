import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ERROR_CLASSES } from '../../core/link/index.ts';
import { wireTo } from '../kit/daemon-link.ts';
import { answering, type DaemonHome, type DaemonProcess, daemonHome } from '../kit/daemon-process.ts';
import { runCli, startCli } from '../kit/process.ts';
import { programEntry } from '../kit/program.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { until } from '../kit/until.ts';
import { type ReferenceUpstream, referenceUpstream, type UpstreamPersona } from '../kit/upstream/index.ts';
import { userSystemd } from '../kit/user-systemd.ts';

const RUN = ['daemon', 'run', '--tenant', 'acme', '--identity', 'ada'];
const KEYS = ['ts', 'level', 'event', 'msg', 'tenant_id', 'agent_identity', 'agent_surface', 'machine_id', 'fsm'];

interface Line {
  readonly level: string;
  readonly event: string;
  readonly msg: string;
  readonly error_class?: string;
  readonly [key: string]: unknown;
}

/** Records as they were written, each checked for its keys. */
function recordsIn(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const record = JSON.parse(line.replace(/^<\d>/, '')) as Line;
      const keys = Object.keys(record).filter((key) => key !== 'error_class');
      assert.deepEqual(keys, [...KEYS, 'pid', 'version']);
      return record;
    });
}

/** Things that fail, with words in them that no log may have. */
async function troubled(
  up: ReferenceUpstream,
  ada: UpstreamPersona,
  daemon: DaemonProcess,
): Promise<readonly string[]> {
  const words = ['hunter2', 'dawnmeeting', 'mallory'];
  ada.signals(1, { from: 'mallory', body: 'dawnmeeting', urgent: true });
  up.faults.pending = { is: 'bad-shape', body: { rev: 'hunter2', items: [{ from: 'mallory', body: 'dawnmeeting' }] } };
  ada.send({ type: 'pending_changed', rev: ada.queue.rev, body: 'dawnmeeting' });
  await daemon.until('a peek failed', ({ last_error_class: is }) => is === 'pending_reconcile_failed');
  using wire = wireTo(daemon.places.socket);
  wire.say('{"v":1,"token":"hunter2","verb":"status"}\n');
  await daemon.until('a token was refused', ({ last_error_class: is }) => is === 'ipc_auth_failed');
  ada.raw('mallory says "dawnmeeting", and hunter2');
  await daemon.until('a frame was none', ({ last_error_class: is }) => is === 'ws_stream_stalled');
  up.faults.pending = null;
  await daemon.connected();
  return [...words, readFileSync(daemon.places.token, 'utf8').trim(), ada.observe, ada.act];
}

/** Told of one daemon from its start to its end. */
function checkStory(records: readonly Line[], daemon: DaemonProcess): void {
  const events = records.map(({ event }) => event);
  for (const event of ['started', 'transition', 'error', 'stopping', 'stopped'])
    assert.ok(events.includes(event), event);
  assert.deepEqual(
    records
      .filter(({ event }) => event === 'transition')
      .slice(0, 2)
      .map(({ msg }) => msg.split(':')[0]),
    ['DISCONNECTED -> RECONCILING', 'RECONCILING -> CONNECTED'],
  );
  assert.deepEqual(
    records.flatMap(({ error_class: is }) => is ?? []).filter((name) => !ERROR_CLASSES.some((is) => is === name)),
    [],
  );
  for (const record of records) {
    const { tenant_id, agent_identity, agent_surface, pid } = record;
    assert.deepEqual([tenant_id, agent_identity, agent_surface, pid], ['acme', 'ada', 'claude-code', daemon.pid]);
    assert.match(String(record.machine_id), /^[A-Za-z0-9._-]{1,64}$/);
  }
}

/** Ada is installed, and nobody runs. */
function adasHome(up: ReferenceUpstream): { readonly home: DaemonHome; readonly ada: UpstreamPersona } & Disposable {
  const home = daemonHome();
  const ada = up.persona('acme', 'ada');
  home.install(ada, up);
  return { home, ada, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('daemon logs prints the journal of its unit, else its log file, and says where neither is', async () => {
  await using up = await referenceUpstream();
  using adas = adasHome(up);
  const { home } = adas;
  const logs = ['daemon', 'logs', 'acme-ada'];
  const bare = { env: { ...home.env, PATH: '/nowhere' } };
  const none = await runCli(logs, bare);
  assert.deepEqual([none.code, none.stdout], [1, '']);
  const { log, runtime } = home.places('ada');
  assert.equal(none.stderr, `hivebar daemon: acme-ada has logged nothing here: there is no ${log}\n`);
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  const record = (msg: string): string =>
    JSON.stringify({ ts: '2026-11-30T12:00:00.000Z', level: 'warn', event: 'error', msg });
  writeFileSync(log, `${record('from the file')}\n`, { mode: 0o600 });
  assert.match((await runCli(logs, bare)).stdout, /^2026-\S+ \S+ {2}warn {3}from the file\n$/);
  assert.equal((await runCli([...logs, '--json'], bare)).stdout, `${record('from the file')}\n`);
  const journal = userSystemd(home.dir, 'never', record('from the journal'));
  const { stdout } = await runCli(logs, { env: { ...home.env, ...journal.env } });
  assert.match(stdout, /^2026-\S+ \S+ {2}warn {3}from the journal\n$/);
});

describe('persona daemon check 15: the log of a daemon', { skip: process.platform === 'win32' }, () => {
  test('persona daemon check 15: under the journal, lines with priorities on its stream; no content, token or sender', async () => {
    await using up = await referenceUpstream();
    using adas = adasHome(up);
    const { home, ada } = adas;
    using dir = scratch();
    const path = dir.write('journal', '');
    const { dev, ino } = statSync(path, { bigint: true });
    const stdout = openSync(path, 'a');
    const env = { ...home.env, JOURNAL_STREAM: `${dev}:${ino}` };
    const cli = startCli([...RUN, '--project', home.project], { env, stdout });
    closeSync(stdout);
    await using daemon = await answering(cli, home.places('ada'));
    await daemon.connected();
    const secrets = await troubled(up, ada, daemon);
    assert.equal((await daemon.stop()).code, 0);
    const text = dir.text('journal');
    const prefixes = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(0, 3));
    assert.deepEqual([...new Set(prefixes)].toSorted(), ['<3>', '<6>']);
    const records = recordsIn(text);
    checkStory(records, daemon);
    assert.deepEqual(
      secrets.filter((secret) => text.includes(secret)),
      [],
    );
    assert.ok(records.some(({ error_class: is, level }) => is === 'pending_reconcile_failed' && level === 'error'));
    assert.deepEqual(statSync(daemon.places.runtime).mode & 0o777, 0o700);
  });

  test('persona daemon check 15: where the system has no log it is a private file in the runtime directory', async (t) => {
    const has = ['/run/systemd/journal/stdout', '/dev/log'].find((path) => statSync(path, { throwIfNoEntry: false }));
    if (needs(t, has === undefined && process.platform === 'linux' ? null : 'this system has a log of its own')) return;
    await using up = await referenceUpstream();
    using adas = adasHome(up);
    const { home, ada } = adas;
    await using daemon = await home.start(ada, { env: { JOURNAL_STREAM: '1:1' } });
    await daemon.connected();
    const secrets = await troubled(up, ada, daemon);
    await daemon.stop();
    const text = readFileSync(daemon.places.log, 'utf8');
    checkStory(recordsIn(text), daemon);
    assert.deepEqual(
      secrets.filter((secret) => text.includes(secret)),
      [],
    );
    assert.equal(statSync(daemon.places.log).mode & 0o777, 0o600);
    const shown = await runCli(['daemon', 'logs', 'acme-ada', '-n', '2'], { env: home.env });
    assert.match(shown.stdout, /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}info {3}\S.*\n){2}$/);
  });

  test('persona daemon check 15: a log that takes nothing stops nobody: the daemon rings, and ends when it is asked', async () => {
    await using up = await referenceUpstream();
    using adas = adasHome(up);
    const { home, ada } = adas;
    const places = home.places('ada');
    mkdirSync(places.runtime, { recursive: true, mode: 0o700 });
    symlinkSync('/nothing/here', places.log);
    await using daemon = await home.start(ada, { env: { PATH: '/nothing' } });
    await daemon.connected();
    ada.signals(1);
    await daemon.until('it knows of the signal', ({ pending }) => pending.count === 1);
    assert.equal((await daemon.turnBoundary()).emitted, true);
    assert.equal((await daemon.stop()).code, 0);
  });

  test('persona daemon check 15: a journal of systemd has the records under the name of the unit, with their priorities', (t) => {
    const journald = '/lib/systemd/systemd-journald';
    const isRoot = process.getuid?.() === 0;
    const mayMount = isRoot && spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/run']).status === 0;
    const has = mayMount && statSync(journald, { throwIfNoEntry: false }) !== undefined;
    if (needs(t, has ? null : 'needs root, mounts of its own and systemd-journald: apt-get install systemd')) return;
    using home = daemonHome();
    using dir = scratch();
    // A journal of its own in mounts of its own, which end with this shell. Whoever has no config is refused, and says so.
    const shell = `
      mount -t tmpfs none /run && mkdir -p /run/systemd/journal
      ${journald} > /dev/null 2>&1 & journal=$!
      n=0; while [ ! -S /run/systemd/journal/stdout ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done
      "$@" > /dev/null 2>&1; echo $? > ${dir.at('code')}
      n=0; while [ $n -lt 600 ]; do
        journalctl --sync; journalctl -D /run/log/journal -t prism-daemon-acme-ada -o json > ${dir.at('found')}
        [ -s ${dir.at('found')} ] && break; sleep 0.1; n=$((n+1))
      done
      kill $journal; wait $journal`;
    const command = [process.execPath, programEntry('hivebar'), ...RUN, '--project', home.project];
    const env = { ...process.env, ...home.env };
    const ran = spawnSync('unshare', ['-m', '/bin/sh', '-c', shell, 'sh', ...command], { env, encoding: 'utf8' });
    assert.equal(dir.text('code').trim(), '78', ran.stderr);
    const [found] = dir
      .text('found')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    assert.deepEqual(
      [found?.SYSLOG_IDENTIFIER, found?.PRIORITY, found?._TRANSPORT],
      ['prism-daemon-acme-ada', '3', 'stdout'],
    );
    const [record] = recordsIn(found?.MESSAGE ?? '');
    assert.deepEqual([record?.event, record?.error_class], ['error', 'config_invalid']);
    assert.equal(statSync(home.places('ada').log, { throwIfNoEntry: false }), undefined, 'and in no file');
  });
});

describe('the metrics file of a daemon', { skip: process.platform === 'win32' }, () => {
  test('it is private, whole and new every 10 s, and what status says; a write that fails is one line of log', async () => {
    await using up = await referenceUpstream({ pingMs: 200 });
    using adas = adasHome(up);
    const { home, ada } = adas;
    await using daemon = await home.start(ada, { faster: 20 });
    const { metrics: file, runtime, log } = daemon.places;
    await daemon.connected();
    ada.signals(3);
    await daemon.until('it knows of the signals', ({ pending }) => pending.count === 3);
    const depth = (): string | undefined =>
      /daemon_signal_queue_depth\{[^}]*\} (\d+)/.exec(readFileSync(file, 'utf8'))?.[1];
    await until('they are in the file', () => depth() === '3');
    const names = (text: string): readonly string[] =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.replace(/ \S+$/, ''));
    assert.deepEqual(names(readFileSync(file, 'utf8')), names((await daemon.status()).metrics));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    rmSync(file);
    mkdirSync(join(file, 'in the way'), { recursive: true });
    const failed = await daemon.until('the failure', ({ last_error_class: is }) => is === 'unclassified');
    const { uptime_s } = failed;
    const later = await daemon.until('three more beats', (status) => status.uptime_s > uptime_s + 35);
    assert.match(later.metrics, /daemon_errors_total\{[^}]*error_class="unclassified"[^}]*\} 1\n/);
    rmSync(file, { recursive: true });
    await until('it is written again', () => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
    ada.drain(2);
    await daemon.until('they are gone', ({ pending }) => pending.count === 1);
    await daemon.stop();
    assert.equal(depth(), '1', 'written once more at the end');
    assert.ok(statSync(runtime).isDirectory() && log.startsWith(runtime));
  });

  test('persona daemon check 12: whatever fails in a daemon that runs, ten classes are in its metrics', async () => {
    await using up = await referenceUpstream();
    using adas = adasHome(up);
    const { home, ada } = adas;
    await using daemon = await home.start(ada);
    await daemon.connected();
    for (let n = 0; n < 200; n += 1) {
      using wire = wireTo(daemon.places.socket);
      wire.say(`{"v":1,"token":"wrong ${n}","verb":"made_up_${n}"}\n`);
      await wire.over();
    }
    const count = /daemon_errors_total\{[^}]*error_class="ipc_auth_failed"[^}]*\} (\d+)/;
    await daemon.until('all are counted', ({ metrics }) => count.exec(metrics)?.[1] === '200');
    await troubled(up, ada, daemon);
    const { metrics } = await daemon.status();
    const classes = [...metrics.matchAll(/daemon_errors_total\{[^}]*error_class="([^"]*)"/g)].map(([, is]) => is);
    assert.deepEqual(classes.toSorted(), [...ERROR_CLASSES].toSorted());
    assert.ok(!/wrong|made_up|session_id/.test(metrics));
  });
});
