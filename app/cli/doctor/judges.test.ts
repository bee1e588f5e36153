import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../../core/model/index.ts';
import { type HiveProbe, judgeHive } from '../../../core/sources/kijito/doctor.node.ts';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { formatLoginState } from '../service.ts';
import { defineCheck, examine, formatReport, formatReportJson, toExitCode } from './check.ts';
import {
  judgeHelper,
  judgeLogin,
  judgeNotificationDaemon,
  judgeNotifier,
  type NotificationDaemonProbe,
  type NotifierProbe,
  type TrayHelperProbe,
} from './desktop-judges.ts';
import { type DoctorContext, type Finding, fail, ok, warn } from './doctor-context.ts';
import {
  type DirectoryProbe,
  type FileProbe,
  judgeClock,
  judgeDirectory,
  judgeFiles,
  judgeLock,
  judgeNode,
  judgeSocket,
  type LockProbe,
} from './machine-judges.ts';
import { judgePort, type PortProbe } from './mail-judges.ts';
import { judgeProducers, judgeSharedFiles, type ProducersProbe, type SharedFilesProbe } from './probes.node.ts';

const output = (finding: Finding): string =>
  `${finding.is} ${finding.seen}${'next' in finding ? ` -> ${finding.next}` : ''}`;

/** One sight after the other, and what has to be said of it. */
function judged<Seen extends object>(
  name: string,
  judge: (seen: Seen) => Finding,
  usual: Seen,
  rows: readonly (readonly [object, RegExp])[],
): void {
  describe(name, () => {
    for (const [different, words] of rows) {
      test(`${JSON.stringify(different)}: ${words.source}`, () =>
        assert.match(output(judge({ ...usual, ...different })), words));
    }
  });
}

judged('node', judgeNode, { version: '24.21.0', path: '/n' }, [
  [{}, /^ok 24\.21\.0/],
  [{ version: '24.15.0' }, /^ok/],
  [{ version: '24.14.1' }, /^fail .*too old -> install Node 24\.15 or newer/],
  [{ version: '20.20.2' }, /^fail/],
]);

const FILE: FileProbe = { path: '/a', is: 'file', mode: 0o600, uid: 5, me: 5 };
describe('private files', () => {
  test('G7 on Windows, where files have access lists and no mode, they are not called private but not checked', () => {
    const files = [FILE, { ...FILE, path: '/b' }].map((file) => ({ ...file, mode: null, uid: null, me: null }));
    assert.match(output(judgeFiles(files)), /^skipped \/a, \/b: not checked; .*icacls/);
    assert.match(output(judgeFiles([{ ...FILE, is: 'symlink', mode: null, uid: null, me: null }])), /^fail .*symlink/);
    assert.match(output(judgeFiles([FILE])), /^ok \/a: only their owner can read them$/);
  });
});

test('G7 a task that was deleted in the Task Scheduler is no start at login', () => {
  const status = {
    is: 'off',
    path: 'C:\\logon-task.xml',
    why: 'the task X is no longer in the Task Scheduler',
  } as const;
  assert.match(
    output(judgeLogin({ status, missing: null })),
    /^warn off: .*but the task X is no longer .* -> .*service install/,
  );
  assert.match(
    formatLoginState(status),
    /^does not start at login: .*, but the task X is no longer in the Task Scheduler$/,
  );
});

const DIRECTORY: DirectoryProbe = {
  is: 'directory',
  path: '/a b',
  mode: 0o700,
  uid: 5,
  me: 5,
  isWritable: true,
  freeBytes: 2 ** 31,
};
judged<DirectoryProbe>('a directory', judgeDirectory, DIRECTORY, [
  [{}, /^ok \/a b, mode 0700, 2\.0 GiB free$/],
  [{ mode: 0o755 }, /^warn .*0755 instead of 0700 -> run: chmod 700 '\/a b'/],
  [{ uid: 0 }, /^fail .*belongs to user 0, not to this user \(5\)/],
  [{ isWritable: false }, /^fail .*cannot be written to/],
  [{ freeBytes: 1000 }, /^fail .*1000 bytes free/],
  [{ freeBytes: 100 * 2 ** 20 }, /^warn .*only 100\.0 MiB free/],
  [{ is: 'other', kind: 'symlink' }, /^fail .*symlink.* -> set HIVEBAR_HOME/],
  [{ is: 'absent', parent: '/', canMake: false }, /^fail .*\/ is not writable/],
]);

judged<LockProbe>(
  'the lock',
  judgeLock,
  { os: 'linux', koffi: { is: 'failed', why: 'no such file' }, flock: '/usr/bin/flock' },
  [
    [{ koffi: { is: 'loads', version: '3' } }, /^ok koffi 3/],
    [{}, /^warn .*no such file.*\/usr\/bin\/flock is used/],
    [{ flock: null }, /^fail .*no other way.*util-linux/],
    [{ os: 'darwin' }, /^warn/],
    [{ os: 'win32' }, /^fail/],
  ],
);

const HIVE: HiveProbe = {
  address: 'http://localhost:7474/',
  lies: 'loopback',
  isLocalhost: true,
  dialed: [
    { address: '127.0.0.1', is: 'connects' },
    { address: '::1', is: 'connects' },
  ],
  asked: { is: 'hive', personas: 3, unread: 2, ms: 4, defects: [] },
  skewMs: 500,
  token: { is: 'none' },
};
judged('a hive', judgeHive, HIVE, [
  [{}, /^ok http:\/\/localhost:7474\/ \(loopback\): 3 personas, 2 unread, answered in 4 ms$/],
  [{ skewMs: 300_000 }, /^warn .*300 s ahead of ours -> set the clock/],
  [{ skewMs: -61_000 }, /^warn .*61 s behind ours/],
  [
    { asked: { is: 'hive', personas: 3, unread: 2, ms: 4, defects: ['http://h/api: entry 0: it is null'] } },
    /^warn .*answers; http:\/\/h\/api: entry 0: it is null -> correct that entry at the hive/,
  ],
  [
    { asked: { is: 'fault', code: 'dns', message: 'hive.test has no address' }, dialed: [] },
    /^fail .*no address -> check the host name/,
  ],
  [
    { asked: { is: 'fault', code: 'unauthorized', message: '401' }, token: { is: 'given', flaws: [] } },
    /^fail .*-> the hive does not accept the token/,
  ],
]);

const PORT: PortProbe = {
  port: 7475,
  v4: { is: 'nobody' },
  v6: { is: 'nobody' },
  ours: null,
  ourVersion: '0.10.0',
  who: null,
};
const OURS = { is: 'hivebar', version: '0.10.0', id: 'me' } as const;
judged('the port', judgePort, PORT, [
  [{}, /^ok 7475 is free/],
  [{ v6: { is: 'closes' } }, /^fail \[::1\]:7475/],
  [{ v4: { is: 'hivebar', version: '0.9.0', id: 'x' } }, /^fail .*an older Hivebar \(version 0\.9\.0\)/],
  [{ v4: { is: 'hivebar', version: '0.10.0', id: 'x' } }, /^fail .*another Hivebar/],
  [{ ours: { id: 'me' }, v4: OURS, v6: OURS }, /^ok .*is this Hivebar$/],
  [{ ours: { id: 'me' }, v4: { ...OURS, version: null, id: null }, v6: { is: 'no-address' } }, /^ok .*no ::1 here/],
  [
    { ours: { id: 'me' }, v4: OURS, v6: { is: 'http', status: 200, server: null } },
    /^warn .*at \[::1\] another program/,
  ],
  [{ ours: { id: 'me' }, v4: { is: 'hangs' }, v6: OURS }, /^fail .*never answers/],
]);

test('a path that no socket can have is a failure before anybody listens', () => {
  const seen = {
    path: `/${'x'.repeat(107)}`,
    is: 'absent',
    mode: null,
    most: 107,
    answer: { is: 'not-running' },
  } as const;
  assert.match(output(judgeSocket(seen)), /^fail .*108 bytes.*shorter HIVEBAR_HOME/);
  assert.match(output(judgeSocket({ ...seen, path: seen.path.slice(1) })), /^skipped/);
});

judged('the clock', judgeClock, { now: 1_800_000_000_000, wallMs: 100, monotonicMs: 100 }, [
  [{}, /^ok/],
  [{ wallMs: 3100 }, /^warn .*it is being set/],
  [{ now: 0 }, /^fail .*before 2026/],
]);

judged<TrayHelperProbe>(
  'the tray helper',
  judgeHelper,
  { isWay: true, os: 'linux', arch: 'x64', path: '/h', isThere: true, fault: null, hasRosetta: null, lacks: [] },
  [
    [{}, /^ok \/h/],
    [{ lacks: ['libappindicator3.so.1'] }, /^fail .*-> apt-get install libayatana-appindicator3-1/],
    [{ arch: 'arm64' }, /^fail .*no tray helper for linux arm64/],
    [{ os: 'darwin', arch: 'arm64', hasRosetta: false }, /^fail .*Rosetta is not installed/],
    [{ isThere: false }, /^fail .*missing/],
    [
      { fault: new Fault('helper', '/p/h.br: damaged', { is: 'machine', key: 'helper' }) },
      /^fail .*\/p\/h\.br: damaged.*install/,
    ],
  ],
);

const MAC: NotifierProbe = {
  isWanted: true,
  os: 'darwin',
  arch: 'arm64',
  own: null,
  hasRosetta: false,
  hasOsascript: true,
};
judged('banners on macOS and Windows', judgeNotifier, MAC, [
  [
    { own: { path: '/t', version: '3.0.0' } },
    /^warn \/t 3\.0\.0 -> no banner\? Allow it: System Settings > Notifications/,
  ],
  [{ own: { path: '/t', version: '2.0.0' } }, /^warn .*clicks need 3/],
  [{ hasRosetta: true }, /^warn .*by Rosetta -> .*System Settings/],
  [{}, /^warn osascript, without clicks/],
  [{ hasOsascript: false }, /^fail/],
  [{ os: 'win32' }, /^ok SnoreToast/],
]);

const DAEMON = { is: 'there', who: 'dunst 1.9', can: ['actions', 'body'], isPaused: null } as const;
judged<NotificationDaemonProbe>(
  'the notification daemon',
  judgeNotificationDaemon,
  { isWanted: true, hasDisplay: true, daemon: DAEMON, running: null },
  [
    [{}, /^ok dunst 1\.9 \(actions, body\)/],
    [{ daemon: { ...DAEMON, can: ['body'] } }, /^warn .*reports no clicks/],
    [{ daemon: { is: 'activatable' } }, /^ok the bus starts one with the first/],
    [{ daemon: { is: 'none' } }, /^fail/],
    [{ daemon: { is: 'none' }, hasDisplay: false }, /^warn/],
    [{ running: 'unavailable (no session bus)' }, /^fail .*the running Hivebar reports: unavailable/],
  ],
);

/** The examination itself needs no more of it. */
const sceneWith = (clock: FakeClock): DoctorContext => ({ clock }) as unknown as DoctorContext;

describe('the examination', () => {
  const about = ['icon'] as const;
  const probe = async (): Promise<null> => null;

  test('a check that never ends, and one that throws, are findings of their own; the others stand', async () => {
    const clock = fakeClock();
    let aborted = false;
    const hangs = defineCheck({
      name: 'hangs',
      about,
      probe: (_, signal) => {
        signal.addEventListener('abort', () => {
          aborted = true;
        });
        return new Promise<null>(() => {});
      },
      judge: () => ok('never'),
    });
    const throws = defineCheck({
      name: 'throws',
      about,
      probe: () => Promise.reject(new Error('odd')),
      judge: () => ok('never'),
    });
    const fine = defineCheck({ name: 'fine', about, probe, judge: () => ok('fine') });
    const all = examine([hangs, throws, fine], sceneWith(clock));
    await clock.advance(3000);
    assert.deepEqual(
      (await all).map(({ finding }) => output(finding).split(' ->')[0]),
      ['warn timed out after 3 s', 'fail the check itself failed: odd', 'ok fine'],
    );
    assert.equal(aborted, true);
  });

  test('0 with warnings, 1 with a failure; a warning is a reason only where it can be one', async () => {
    const clock = fakeClock();
    const loose = defineCheck({ name: 'loose', about, hints: [], probe, judge: () => warn('mode', 'chmod') });
    const host = defineCheck({ name: 'host', about, probe, judge: () => fail('no \u001b[31mhost', 'install') });
    const warned = await examine([loose], sceneWith(clock));
    assert.equal(toExitCode(warned), 0);
    assert.match(formatReport(warned), /No icon\? +no cause found/);
    const failed = await examine([loose, host], sceneWith(clock));
    assert.equal(toExitCode(failed), 1);
    const text = formatReport(failed);
    assert.match(text, /^fail {5}host {3}no \\u001b\[31mhost\n +-> install$/m);
    assert.match(text, /No icon\? +because of: host\nNo banner\? +no cause found/);
    const { ok: isOk, reasons } = JSON.parse(formatReportJson(failed, '1')) as { ok: boolean; reasons: unknown };
    assert.deepEqual(
      [isOk, reasons],
      [false, { icon: { fail: ['host'], warn: [] }, banner: { fail: [], warn: [] }, mail: { fail: [], warn: [] } }],
    );
  });
});

const SAVED = { path: '/old/hive.ada.json', persona: 'ada', agoMs: 20_000 };
judged<ProducersProbe>(
  'a second producer',
  judgeProducers,
  { os: 'linux', trayRuns: true, headless: null, directories: ['/old'], held: [], saved: [] },
  [
    [{ directories: [] }, /^skipped/],
    [{}, /^ok no other monitor runs$/],
    [
      { held: ['/old/hive.ada.json.lock', '/b'] },
      /^warn .*delivered twice: it holds \/old\/hive\.ada\.json\.lock \(and 1 more\)/,
    ],
    [{ held: ['/l'], trayRuns: false }, /^warn another monitor runs: it holds \/l -> run: systemctl.*hivebar migrate$/],
    [{ held: ['/l'], os: 'darwin' }, /-> run: launchctl bootout gui/],
    [
      { saved: [SAVED] },
      /^warn another monitor saved its position of ada 20 s ago, .*twice: \/old\/hive\.ada\.json -> /,
    ],
    [{ saved: [{ ...SAVED, agoMs: 3_600_000 }] }, /^ok/],
    [{ headless: '/h.lock' }, /^warn the headless watch runs beside .*\/h\.lock -> .*uninstall --headless/],
    [{ headless: '/h.lock', trayRuns: false }, /^ok only the headless watch/],
  ],
);

const SHARED = { path: '/old/events.ndjson', quietMs: 3_600_000, isRetired: true };
judged<SharedFilesProbe>(
  'a shared events file',
  judgeSharedFiles,
  { files: [SHARED], instead: '/s/events.PERSONA.ndjson' },
  [
    [{}, /^warn no program has written to \/old\/events\.ndjson for 1 h: .*-> .*tail -F \/s\/events\.PERSONA\.ndjson;/],
    [{ files: [] }, /^skipped/],
    [{ files: [{ ...SHARED, quietMs: 1000 }] }, /^ok .*is written to/],
    [{ files: [{ ...SHARED, isRetired: false }] }, /^ok/],
  ],
);
