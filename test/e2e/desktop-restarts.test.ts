import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openSessionBus, type SessionBus } from '../../app/desktop/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { desktopMissing, poll, skipUnless } from '../kit/desktop/index.ts';
import { busConfig } from '../kit/desktop/settings.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';
import { type TrayProcess, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** Notifications of the tray process while the programs under them go away: a private bus, and a daemon that notes calls. */
const skip = skipUnless(desktopMissing());
const SERVER = fileURLToPath(import.meta.resolve('../kit/notification-server.mjs'));

/** A session bus that can be killed, and come back at the same address. */
class Bus implements AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  readonly #socket: string;
  readonly #config: string;
  #daemon: ChildProcess | null = null;

  constructor(files: Scratch) {
    this.#socket = join(files.dir, 'bus');
    // It knows no program to start: what is installed on this machine stays out of it.
    mkdirSync(files.at('services'));
    this.#config = files.write('bus.conf', busConfig(this.#socket, files.at('services')));
    this.env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${this.#socket}` };
  }

  async start(): Promise<void> {
    const args = [`--config-file=${this.#config}`, '--nofork', '--nopidfile'];
    this.#daemon = spawn('dbus-daemon', args, { stdio: 'ignore' });
    await until('the bus', () => existsSync(this.#socket));
  }

  async kill(): Promise<void> {
    await end(this.#daemon);
    rmSync(this.#socket, { force: true });
  }

  async join(): Promise<SessionBus> {
    const bus = await openSessionBus({ env: this.env, log: silentLog, clock: realClock });
    assert.ok(bus.is === 'bus');
    return bus;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

interface NotificationTitle {
  readonly replaces: number;
  readonly title: string;
}

/** A notification daemon as a process of its own. */
class Daemon implements AsyncDisposable {
  readonly calls: { readonly member: string; readonly args: readonly unknown[] }[] = [];
  readonly #child: ChildProcess;

  private constructor(bus: Bus) {
    this.#child = spawn(process.execPath, [SERVER], {
      env: { ...process.env, ...bus.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = this.#child;
    assert.ok(stdout !== null);
    createInterface(stdout).on('line', (line) => void this.calls.push(JSON.parse(line)));
  }

  static async start(bus: Bus): Promise<Daemon> {
    const daemon = new Daemon(bus);
    await until('the notification daemon', () => daemon.calls.length > 0);
    return daemon;
  }

  get notified(): readonly NotificationTitle[] {
    return this.calls.flatMap(({ member, args }) =>
      member === 'Notify' ? [{ replaces: Number(args[1]), title: String(args[3]) }] : [],
    );
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#child);
  }
}

async function end(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const start = (home: ReturnType<typeof trayHome>, bus: Bus): Promise<TrayProcess> => home.start(['--no-tray'], bus.env);
const send = (tray: TrayProcess, n: number, to = 'ada'): Promise<unknown> =>
  tray.post('/api/send', { to, from: 'ci', content: `mail ${n}` });

describe('notifications while what shows them goes away', { skip, concurrency: 3 }, () => {
  test('F regression a server that restarts while a foreign banner takes our number: ours never touches it', async () => {
    using files = scratch();
    using home = trayHome();
    await using bus = new Bus(files);
    await bus.start();
    let first: Daemon | null = await Daemon.start(bus);
    await using tray = await start(home, bus);
    await send(tray, 1);
    await until('a banner', () => first?.notified.length === 1);
    await first[Symbol.asyncDispose]();
    first = null;
    await tray.until('no daemon', ({ notifications }) => /unavailable/.test(notifications.state));
    await using second = await Daemon.start(bus);
    await using stranger = await bus.join();
    await poll(
      () => 'the stranger on the bus',
      () => stranger.state.is === 'connected' || null,
    );
    const object = { dest: 'org.freedesktop.Notifications', path: '/org/freedesktop/Notifications' };
    const body = ['Other', 0, '', 'not ours', '', [], {}, -1];
    const notify = { ...object, iface: object.dest, member: 'Notify', signature: 'susssasa{sv}i', body };
    assert.deepEqual(await stranger.call(notify), [1], 'it has the number that ours had');
    await tray.until('the next daemon', ({ notifications }) => /^D-Bus/.test(notifications.state));
    await send(tray, 2, 'bo'); // the banner of ada is not replaced for half a minute
    await until('a banner of ours', () => second.notified.length === 2);
    assert.equal(second.notified[1]?.replaces, 0, 'it takes the place of nobody');
    await tray.post('/api/v1/actions/read', { persona: 'bo' });
    await until('it is withdrawn', () => second.calls.some(({ member }) => member === 'CloseNotification'));
    const closed = second.calls.flatMap(({ member, args }) => (member === 'CloseNotification' ? args : []));
    assert.deepEqual(closed, [2]);
  });

  test('F regression a server that is frozen while 60 mails come delays none of them, and shows a banner when it goes on', async () => {
    using files = scratch();
    using home = trayHome();
    await using bus = new Bus(files);
    await bus.start();
    await using daemon = await Daemon.start(bus);
    await using tray = await start(home, bus);
    await send(tray, 0);
    await until('a banner', () => daemon.notified.length === 1);
    daemon.signal('SIGSTOP');
    for (let n = 1; n <= 60; n += 1) await send(tray, n, 'bo');
    await until('all are told', () => home.mail('bo').length === 60);
    await tray.persona('bo', ({ unread }) => unread === 60);
    daemon.signal('SIGCONT');
    await until('a banner of it', () => daemon.notified.some(({ title }) => title.startsWith('bo: ')));
    assert.ok(daemon.notified.length < 10, `${daemon.notified.length} banners`);
  });

  test('F regression a session bus that is killed and comes back: the next mail is a banner, and nothing else suffers', async () => {
    using files = scratch();
    using home = trayHome();
    await using bus = new Bus(files);
    await bus.start();
    {
      await using daemon = await Daemon.start(bus);
      const tray = await start(home, bus);
      try {
        await send(tray, 1);
        await until('a banner', () => daemon.notified.length === 1);
        await bus.kill();
        await tray.until('no bus', ({ notifications }) => /unavailable/.test(notifications.state));
        await send(tray, 2);
        await until('it is told all the same', () => home.mail('ada').length === 2);
        await bus.start();
        await using next = await Daemon.start(bus);
        await tray.until('notifications are back', ({ notifications }) => /^D-Bus/.test(notifications.state));
        await send(tray, 3, 'bo');
        await until('a banner', () => next.notified.some(({ title }) => title === 'bo: 1 new'));
        assert.ok(next.notified.every(({ replaces }) => replaces <= 1));
      } finally {
        await tray[Symbol.asyncDispose]();
      }
    }
  });
});
