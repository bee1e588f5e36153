import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Log } from '../../../../core/ports/index.ts';
import { realClock, realSpawn } from '../../../../core/ports/index.ts';
import { type Desktop, desktopMissing, poll, startDesktop } from '../../../../test/kit/desktop/index.ts';
import { createBanner } from '../../../../test/kit/notify-scene.ts';
import { needs } from '../../../../test/kit/require.ts';
import type { ClickTarget } from '../../../open/index.ts';
import { programOnPath } from '../../../programs.node.ts';
import type { ChannelListener, ChannelState, NotificationKey, NotificationPart } from '../channel.ts';
import type { DesktopBackend, OpenBackend } from '../desktop.ts';
import { toGroupId } from '../desktop.ts';
import { type BackendOptions, chooseBackend } from './choose.node.ts';
import { createMacHelperBackend, createToasterBackend } from './node-notifier.node.ts';
import { createNotifySendBackend } from './notify-send.node.ts';

const IDENTITY = { desktopEntry: 'hivebar', icon: '/icon.png' };
const PAGE = 'http://127.0.0.1:7475/';
const toPageUrl = (opens: ClickTarget): string => (opens.is === 'persona' ? `${PAGE}#${opens.persona}` : PAGE);

// Where named pipes of Windows are files of this folder; and nothing here may write into the project.
const workingFolder = process.cwd();
const elsewhere = fs.mkdtempSync(join(os.tmpdir(), 'hivebar-backends-'));
before(() => process.chdir(elsewhere));
after(() => {
  process.chdir(workingFolder);
  fs.rmSync(elsewhere, { recursive: true, force: true });
});

/** S7: what a mail may try on a shell, on AppleScript, and on an option parser. */
const HOSTILE = [
  "'; touch PWNED; '",
  '$(touch PWNED)',
  '`touch PWNED`',
  '" & (do shell script "touch PWNED") & "',
  'ends in a backslash \\',
  '--hint=string:x:y',
  '-x',
];

class CallLog implements ChannelListener {
  readonly callLines: string[] = [];
  clicked(key: NotificationKey, part: NotificationPart): void {
    this.callLines.push(`clicked ${key}${part === 'banner' ? '' : ` ${part}`}`);
  }
  closed(key: NotificationKey, by: 'person' | 'channel'): void {
    this.callLines.push(`closed ${key} by ${by}`);
  }
  state(state: ChannelState): void {
    this.callLines.push(state.is === 'ready' ? `ready: ${state.by}` : `${state.is}: ${state.why}`);
  }
  until(line: string): Promise<true> {
    return poll(
      () => `"${line}", only: ${JSON.stringify(this.callLines)}`,
      () => this.callLines.includes(line) || null,
    );
  }
}

/**
 * A folder with recording stand-ins: each writes its arguments, one JSON array a line, and then does what `after` says.
 * They stand in for programs of macOS and Windows, which cannot run here.
 */
class StandIns {
  readonly folder = fs.mkdtempSync(join(os.tmpdir(), 'hivebar-standins-'));
  readonly env = { PATH: '/usr/bin:/bin', HOME: this.folder };

  /** `body` is JavaScript: `args` are the arguments, `wait(name)` resolves when a test releases it. */
  add(name: string, body = ''): string {
    const file = join(this.folder, name);
    const record = JSON.stringify(this.record(name));
    const folder = JSON.stringify(this.folder);
    fs.writeFileSync(
      file,
      `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2);
const wait = (name) => new Promise((resolve) => {
  const look = () => {
    if (!fs.existsSync(${folder})) process.exit(); // the test is over
    if (fs.existsSync(${folder} + '/' + name)) resolve();
    else setTimeout(look, 10);
  };
  look();
});
fs.appendFileSync(${record}, JSON.stringify(args) + '\\n');
(async () => { ${body} })();
`,
    );
    fs.chmodSync(file, 0o755);
    return file;
  }

  release(name: string): void {
    fs.writeFileSync(join(this.folder, name), '');
  }

  /** The arguments of each call so far. */
  calls(name: string): string[][] {
    const file = this.record(name);
    if (!fs.existsSync(file)) return [];
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as string[]);
  }

  called(name: string, times: number): Promise<string[][]> {
    return poll(
      () => `${times} calls of ${name}, only: ${JSON.stringify(this.calls(name))}`,
      () => (this.calls(name).length >= times ? this.calls(name) : null),
    );
  }

  record(name: string): string {
    return join(this.folder, `${name}.calls`);
  }
}

function standIns(t: TestContext): StandIns {
  const made = new StandIns();
  t.after(() => {
    assert.equal(fs.existsSync('PWNED'), false);
    assert.equal(fs.existsSync(join(made.folder, 'PWNED')), false);
    fs.rmSync(made.folder, { recursive: true, force: true });
  });
  return made;
}

/** node-notifier looks at the machine it runs on before it does anything. */
function pretendMac(t: TestContext): void {
  t.mock.method(os, 'type', () => 'Darwin');
  t.mock.method(os, 'release', () => '24.0.0');
}

describe('macOS, own terminal-notifier', () => {
  const made = async (t: TestContext, version = '3.0.0', sound = false) => {
    const stand = standIns(t);
    stand.add('terminal-notifier', `if (args[0] === '-version') console.log('terminal-notifier ${version}.');`);
    const { backend, lines, heard } = await chosen(t, stand, { platform: 'darwin', arch: 'arm64', sound });
    return { stand, backend, lines, heard };
  };

  test('version 3 on PATH is called directly, opens the page itself, and replaces by its group', async (t) => {
    const { stand, backend, lines } = await made(t);
    await backend.show(createBanner());
    await backend.withdraw('mail:ada');
    const group = toGroupId('mail:ada');
    assert.deepEqual(stand.calls('terminal-notifier').slice(1), [
      ['-title', 'ada: 1 new', '-message', 'bob: hi', '-group', group, '-open', `${PAGE}#ada`],
      ['-remove', group],
    ]);
    assert.deepEqual(lines, [`info notifications: by ${join(stand.folder, 'terminal-notifier')}`]);
  });

  test('S7: hostile text arrives as one argument each, and never as an option', async (t) => {
    const { stand, backend } = await made(t);
    for (const text of HOSTILE) await backend.show(createBanner({ title: text, body: text }));
    const seen = stand.calls('terminal-notifier').slice(1);
    for (const [i, text] of HOSTILE.entries()) {
      assert.equal(seen[i]?.[1]?.replace(/^\u200b/, ''), text);
      assert.equal(seen[i]?.[3]?.replace(/^\u200b/, ''), text);
      assert.equal(seen[i]?.length, 8);
      assert.doesNotMatch(seen[i]?.[1] ?? '', /^[-"]/);
    }
  });

  test('with sound it asks for one', async (t) => {
    const { stand, backend } = await made(t, '3.0.0', true);
    await backend.show(createBanner());
    assert.deepEqual(stand.calls('terminal-notifier').at(-1)?.slice(-2), ['-sound', 'default']);
  });

  test('an older version is not used', async (t) => {
    const { lines } = await made(t, '2.0.0');
    assert.doesNotMatch(lines[0] ?? '', /by .*terminal-notifier$/);
  });
});

describe('macOS, node-notifier', () => {
  test('Rosetta answers: its own helper, with the page, no timeout, one callback a banner', async (t) => {
    pretendMac(t);
    const stand = standIns(t);
    stand.add('arch');
    const customPath = stand.add(
      'helper',
      `if (args.includes('-remove')) return;
       await wait(args[args.indexOf('-message') + 1].replaceAll('"', ''));
       console.log(JSON.stringify({ activationType: args.join(' ').includes('two') ? 'contentsClicked' : 'timeout' }));`,
    );
    const { backend, heard, lines } = await chosen(t, stand, {
      platform: 'darwin',
      arch: 'arm64',
      helperProgram: customPath,
    });
    assert.deepEqual(lines, ['info notifications: by node-notifier (terminal-notifier)']);
    assert.deepEqual(stand.calls('arch'), [['-x86_64', '/usr/bin/true']]);
    await Promise.all([
      backend.show(createBanner({ key: 'mail:one', body: 'one' })),
      backend.show(createBanner({ key: 'mail:two', body: 'two' })),
    ]);
    const [first] = await stand.called('helper', 2);
    assert.ok(first?.includes('-open'));
    assert.ok(!first?.includes('-timeout'), 'a timeout would take the banner down');
    stand.release('two');
    await heard.until('closed mail:two by person');
    stand.release('one');
    await heard.until('closed mail:one by channel');
    assert.ok(!heard.callLines.some((line) => line.startsWith('clicked')), 'the helper has opened the page already');
  });

  test('sound is on or off', async (t) => {
    pretendMac(t);
    const stand = standIns(t);
    const customPath = stand.add('helper');
    for (const sound of [true, false]) {
      const backend = opened(t, await createMacHelperBackend(toPageUrl, sound, realClock, customPath), new CallLog());
      await backend.show(createBanner());
    }
    const [loud, silent] = await stand.called('helper', 2);
    assert.ok(loud?.includes('-sound'));
    assert.ok(!silent?.includes('-sound'));
  });

  test('S7: hostile text stays inside its argument', async (t) => {
    pretendMac(t);
    const stand = standIns(t);
    const customPath = stand.add('helper');
    const backend = opened(t, await createMacHelperBackend(toPageUrl, false, realClock, customPath), new CallLog());
    for (const text of HOSTILE) await backend.show(createBanner({ body: text }));
    for (const args of await stand.called('helper', HOSTILE.length)) {
      const message = args[args.indexOf('-message') + 1] ?? '';
      assert.match(message, /^".*"$/u, 'wrapped, as the helper that comes with node-notifier expects');
      assert.equal(args[args.indexOf('-title') + 1], '"ada: 1 new"');
    }
  });

  test('a banner is withdrawn by its group', async (t) => {
    pretendMac(t);
    const stand = standIns(t);
    const customPath = stand.add('helper', `if (args.includes('-message')) await wait('never');`);
    const backend = opened(t, await createMacHelperBackend(toPageUrl, false, realClock, customPath), new CallLog());
    await backend.show(createBanner());
    await backend.withdraw('mail:ada');
    const [shown, removed] = await stand.called('helper', 2);
    assert.equal(shown?.[shown.indexOf('-group') + 1], `"${toGroupId('mail:ada')}"`);
    assert.deepEqual(removed?.slice(0, 2), ['-remove', `"${toGroupId('mail:ada')}"`]);
    stand.release('never');
  });

  test('a helper that cannot run refuses the banner', async (t) => {
    pretendMac(t);
    const backend = opened(
      t,
      await createMacHelperBackend(toPageUrl, false, realClock, '/nowhere/helper'),
      new CallLog(),
    );
    await assert.rejects(backend.show(createBanner()), /ENOENT/);
  });
});

describe('macOS, osascript', () => {
  test('neither Rosetta nor terminal-notifier: the texts are arguments of a fixed script', async (t) => {
    const stand = standIns(t);
    stand.add('arch', 'process.exit(1)');
    stand.add('osascript');
    const { backend, lines } = await chosen(t, stand, { platform: 'darwin', arch: 'arm64' });
    assert.match(lines[0] ?? '', /by osascript, without clicks \(for clicks: brew install terminal-notifier\)/);
    for (const text of HOSTILE) await backend.show(createBanner({ title: text, body: text }));
    const scripts = new Set(stand.calls('osascript').map((args) => args.slice(0, 6).join('\n')));
    assert.equal(scripts.size, 1, 'the script is the same whatever the text');
    for (const [i, args] of stand.calls('osascript').entries()) {
      assert.equal(args.length, 8);
      assert.equal(args[7]?.replace(/^\u200b/, ''), HOSTILE[i]);
      assert.doesNotMatch(args[6] ?? '', /^-/, 'nor does a text end the options');
    }
  });

  test('with sound the script asks for one, and is as fixed', async (t) => {
    const stand = standIns(t);
    stand.add('arch', 'process.exit(1)');
    stand.add('osascript');
    const { backend } = await chosen(t, stand, { platform: 'darwin', arch: 'arm64', sound: true });
    await backend.show(createBanner());
    const [args] = stand.calls('osascript');
    assert.match(args?.[3] ?? '', /^display notification .* sound name "Glass"$/);
    assert.deepEqual(args?.slice(6), ['ada: 1 new', 'bob: hi']);
  });

  test('a failure is a refusal that says why', async (t) => {
    const stand = standIns(t);
    stand.add('arch', 'process.exit(1)');
    stand.add('osascript', `console.error('not allowed'); process.exit(1);`);
    const { backend } = await chosen(t, stand, { platform: 'darwin', arch: 'arm64' });
    await assert.rejects(backend.show(createBanner()), /osascript ended with 1: not allowed/);
  });
});

describe('Windows, node-notifier', () => {
  /** A machine under load may start a helper slowly; how soon a failure has to show is not the question. */
  const patient: typeof realClock = { ...realClock, after: (ms, then) => realClock.after(ms * 20, then) };
  /** Writes the answer into the named pipe as SnoreToast does (here a socket in the folder), then ends with its code. */
  const TOAST = `
    if (args.includes('-close')) return;
    const text = args[args.indexOf('-m') + 1];
    await wait(text);
    const [action, code] = { click: ['clicked', 0], dismiss: ['dismissed', 2], late: ['timedout', 3] }[text] ?? ['', 1];
    const socket = require('node:net').connect(args[args.indexOf('-pipeName') + 1], () => {
      socket.end(Buffer.from('action=' + action + ';notificationId=1;version=0.7.0;', 'utf16le'), () => process.exit(code));
    });`;

  const made = async (t: TestContext) => {
    const stand = standIns(t);
    const customPath = stand.add('snoretoast', TOAST);
    const heard = new CallLog();
    const backend = opened(t, createToasterBackend(false, realClock, customPath), heard);
    return { stand, backend, heard };
  };

  test('each toast reports for itself: clicked, dismissed, timed out', async (t) => {
    const { stand, backend, heard } = await made(t);
    const texts = ['click', 'dismiss', 'late'];
    await Promise.all(texts.map((body) => backend.show(createBanner({ key: `mail:${body}`, body }))));
    for (const text of [...texts].reverse()) stand.release(text);
    await heard.until('clicked mail:click');
    await heard.until('closed mail:dismiss by person');
    await heard.until('closed mail:late by channel');
    const [args] = stand.calls('snoretoast');
    assert.ok(!args?.includes('-appID'), 'with an appID no click is reported');
  });

  test('without sound the toast is silent', async (t) => {
    const { stand, backend } = await made(t);
    await backend.show(createBanner({ body: 'late' }));
    assert.ok(stand.calls('snoretoast')[0]?.includes('-silent'));
    stand.release('late');
    const loud = opened(t, createToasterBackend(true, realClock, join(stand.folder, 'snoretoast')), new CallLog());
    await loud.show(createBanner({ body: 'late' }));
    assert.ok(!stand.calls('snoretoast')[1]?.includes('-silent'));
  });

  test('G7 a helper that crashed has shown nothing: its exit code and its signal refuse the banner', async (t) => {
    const stand = standIns(t);
    for (const [name, body, why] of [
      ['crashes', `process.exit(87)`, /crashes ended with code 87/],
      ['is-killed', `process.kill(process.pid, 'SIGKILL')`, /is-killed ended with SIGKILL/],
      ['fails', `process.exit(-1)`, /fails ended with code 255/],
    ] as const) {
      const heard = new CallLog();
      const backend = opened(t, createToasterBackend(false, patient, stand.add(name, body)), heard);
      await assert.rejects(backend.show(createBanner()), why);
    }
    const none = opened(t, createToasterBackend(false, realClock, '/nowhere/toast.exe'), new CallLog());
    await assert.rejects(none.show(createBanner()), /ENOENT/);
  });

  test('no result says nothing, least of all that somebody saw it', async (t) => {
    const { stand, backend, heard } = await made(t);
    await backend.show(createBanner({ body: 'hidden' }));
    stand.release('hidden');
    await heard.until('closed mail:ada by channel');
  });

  test('S7: hostile text arrives as it is', async (t) => {
    const { stand, backend } = await made(t);
    await Promise.all(HOSTILE.map((body, i) => backend.show(createBanner({ key: `mail:${i}`, title: body, body }))));
    const seen = (await stand.called('snoretoast', HOSTILE.length)).map((args) => [
      args[args.indexOf('-t') + 1]?.replace(/^\u200b/, ''),
      args[args.indexOf('-m') + 1]?.replace(/^\u200b/, ''),
    ]);
    assert.deepEqual(seen.sort(), HOSTILE.map((text) => [text, text]).sort());
    for (const body of HOSTILE) for (const name of [body, `\u200b${body}`]) stand.release(name);
  });

  test('the same key keeps its id, the ninth closes the first, and withdrawing closes', async (t) => {
    const { stand, backend, heard } = await made(t);
    await backend.show(createBanner({ key: 'mail:0', body: 'x' }));
    await Promise.all(Array.from({ length: 9 }, (_, i) => backend.show(createBanner({ key: `mail:${i}`, body: 'x' }))));
    await heard.until('closed mail:0 by channel');
    await backend.withdraw('mail:5');
    const calls = await stand.called('snoretoast', 12);
    const ids = calls.filter((args) => args.includes('-m')).map((args) => args[args.indexOf('-id') + 1]);
    const closed = calls.filter((args) => args.includes('-close')).map((args) => args[args.indexOf('-close') + 1]);
    assert.equal(ids.length, 10);
    assert.equal(new Set(ids).size, 9, 'the same id for the same key');
    assert.equal(closed.length, 2);
    assert.ok(closed.includes(ids[0]));
    assert.ok(closed.every((id) => ids.includes(id)));
    stand.release('x');
    await poll(
      () => 'the end of all toasts',
      () => !fs.readdirSync(stand.folder).some((name) => name.includes('hivebar-toast-')) || null,
    );
    assert.deepEqual(
      heard.callLines.filter((line) => line.includes('mail:5')),
      [],
      'what was withdrawn has no more to say',
    );
  });
});

describe('notify-send', () => {
  const missing =
    desktopMissing() ??
    (programOnPath('notify-send', process.env, 'linux') === null
      ? 'notify-send missing: apt-get install libnotify-bin'
      : null);
  const stack = new AsyncDisposableStack();
  let desktop: Desktop;
  let backend: DesktopBackend;
  const heard = new CallLog();

  before(async () => {
    if (missing !== null) return;
    desktop = stack.use(await startDesktop({ host: 'none' }));
    const file = programOnPath('notify-send', desktop.env, 'linux');
    assert.ok(file !== null);
    backend = stack.use((await createNotifySendBackend(file, IDENTITY, false, desktop.env, realClock))(heard));
  });
  after(() => stack.disposeAsync());

  test('a click comes back, and a new banner takes the place of the old', async (t) => {
    if (needs(t, missing)) return;
    assert.deepEqual(heard.callLines, ['ready: notify-send']);
    await backend.show(createBanner());
    await backend.show(createBanner({ title: 'ada: 2 new' }));
    const shown = await desktop.notifications.wait(/^ada: 2 new\nbob: hi$/);
    assert.equal(shown.hints['desktop-entry'], 'hivebar');
    assert.equal(shown.hints['suppress-sound'], true);
    await poll(
      () => 'the end of the first',
      async () => (await desktop.notifications.open()).length === 1 || null,
    );
    await desktop.notifications.click(/^ada: 2 new/);
    await heard.until('clicked mail:ada');
  });

  test('the buttons are there too', async (t) => {
    if (needs(t, missing)) return;
    const wants = { name: 'mute', params: {} };
    await backend.show(
      createBanner({ key: 'mail:bo', title: 'bo: 1 new', buttons: [{ id: 'mute', label: 'Mute 1 h', action: wants }] }),
    );
    const shown = await desktop.notifications.wait(/^bo: 1 new/);
    assert.deepEqual(shown.actions, ['default', 'Open', 'mute', 'Mute 1 h']);
    await backend.withdraw('mail:bo');
  });

  test('a button that was clicked is told by its name', async (t) => {
    const stand = standIns(t);
    const file = stand.add(
      'notify-send',
      `if (args[0] === '--help') console.log('--action'); else console.log('mute');`,
    );
    const clicked = new CallLog();
    const made = opened(t, await createNotifySendBackend(file, IDENTITY, true, stand.env, realClock), clicked);
    const wants = { name: 'mute', params: {} };
    await made.show(createBanner({ buttons: [{ id: 'mute', label: 'Mute 1 h', action: wants }] }));
    await clicked.until('clicked mail:ada mute');
    assert.ok(stand.calls('notify-send')[1]?.includes('--hint=string:sound-name:message-new-email'));
  });

  test('S7 S8: hostile text is text: no option, no markup', async (t) => {
    if (needs(t, missing)) return;
    await Promise.all(
      HOSTILE.map((text, i) => backend.show(createBanner({ key: `mail:${i}`, title: text, body: text }))),
    );
    await backend.show(createBanner({ key: 'mail:s8', title: 'ada', body: 'Fish & <b>Chips</b>' }));
    const open = await desktop.notifications.open();
    const plain = HOSTILE.filter((text) => !text.includes('&'));
    for (const text of plain)
      assert.ok(
        open.some((s) => s.summary === text && s.body === text),
        text,
      );
    const [fish] = open.filter((s) => s.summary.includes('Fish'));
    assert.equal(fish?.summary, 'ada: Fish & <b>Chips</b>', 'the summary is never markup');
    assert.equal(fish?.body, '');
  });

  test('a banner is withdrawn', async (t) => {
    if (needs(t, missing)) return;
    await backend.withdraw('mail:s8');
    await poll(
      () => 'withdrawal',
      async () => !(await desktop.notifications.open()).some((s) => s.summary.includes('Fish')) || null,
    );
  });

  test('without a daemon each banner is refused', async (t) => {
    if (needs(t, missing)) return;
    const file = programOnPath('notify-send', desktop.env, 'linux') ?? '';
    const env = { ...desktop.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
    const lonely = opened(t, await createNotifySendBackend(file, IDENTITY, false, env, realClock), new CallLog());
    await assert.rejects(lonely.show(createBanner()), /notify-send ended with 1/);
  });

  test('an old libnotify has no actions: the banner comes without a click', async (t) => {
    const stand = standIns(t);
    const file = stand.add('notify-send', `if (args[0] === '--help') console.log('Usage: notify-send, -u -t');`);
    const old = new CallLog();
    const without = opened(t, await createNotifySendBackend(file, IDENTITY, false, stand.env, realClock), old);
    await without.show(createBanner());
    assert.deepEqual(old.callLines, ['ready: notify-send, without clicks']);
    const [, args] = stand.calls('notify-send');
    assert.ok(!args?.some((arg) => arg.startsWith('--action')));
    assert.deepEqual(args?.slice(-3), ['--', 'ada: 1 new', 'bob: hi']);
  });
});

test('without a session bus: off, with the reason', async (t) => {
  const stand = standIns(t);
  const { backend, lines, heard } = await chosen(t, stand, { platform: 'linux', arch: 'x64' });
  assert.deepEqual(lines, []);
  assert.deepEqual(heard.callLines, ['off: no session bus']);
  await assert.rejects(backend.show(createBanner()), /no session bus/);
});

test('a program in the current folder is never found', (t) => {
  const stand = standIns(t);
  const formerFolder = process.cwd();
  process.chdir(stand.folder);
  t.after(() => process.chdir(formerFolder));
  stand.add('planted');
  for (const PATH of ['', '.', ':', './', `:${stand.folder}/missing`]) {
    assert.equal(programOnPath('planted', { PATH }, 'linux'), null);
  }
  assert.equal(programOnPath('planted', { PATH: stand.folder }, 'linux'), join(stand.folder, 'planted'));
});

function opened(t: TestContext, open: OpenBackend, heard: CallLog): DesktopBackend {
  const backend = open(heard);
  t.after(() => backend[Symbol.asyncDispose]());
  return backend;
}

async function chosen(
  t: TestContext,
  stand: StandIns,
  part: Pick<BackendOptions, 'platform' | 'arch'> & Partial<BackendOptions>,
): Promise<{ backend: DesktopBackend; lines: string[]; heard: CallLog }> {
  const lines: string[] = [];
  const log: Log = {
    info: (line) => void lines.push(`info ${line}`),
    warn: (line) => void lines.push(`warn ${line}`),
    error: (line) => void lines.push(`error ${line}`),
  };
  const open = await chooseBackend({
    env: { ...stand.env, PATH: `${stand.folder}:/usr/bin:/bin` },
    bus: { is: 'none', why: 'no session bus' },
    identity: IDENTITY,
    sound: false,
    clock: realClock,
    spawn: realSpawn,
    log,
    toPageUrl: toPageUrl,
    mac: { arch: join(stand.folder, 'arch'), osascript: join(stand.folder, 'osascript'), beside: [] },
    ...part,
  });
  const heard = new CallLog();
  return { backend: opened(t, open, heard), lines, heard };
}
