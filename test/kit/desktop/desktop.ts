import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openSessionBus, type SessionBus } from '../../../app/desktop/index.ts';
import { realClock, silentLog } from '../../../core/ports/index.ts';
import { desktopMissing } from './missing.ts';
import { Notifications } from './notifications.ts';
import { poll } from './poll.ts';
import { Processes } from './processes.ts';
import { busConfig, DUNSTRC, panelConfig } from './settings.ts';
import { Tray } from './tray.ts';

const run = promisify(execFile);

export interface DesktopOptions {
  /** Who shows tray icons: xfce4-panel, or nobody. Default xfce. */
  readonly host?: 'xfce' | 'none';
  /** Who shows notifications. Default dunst. */
  readonly notify?: 'dunst' | 'none';
  /** Colour of the panel. Default dark. */
  readonly theme?: 'dark' | 'light';
}

/** A private, throw-away Linux desktop: X server, session bus, tray host, notification daemon, recorder. */
export interface Desktop extends AsyncDisposable {
  /** The whole environment for a program that shall run on it, with an empty HOME of its own. */
  readonly env: Readonly<Record<string, string>>;
  readonly tray: Tray;
  readonly notifications: Notifications;
  /** A connection of the test's own. */
  readonly bus: SessionBus;
  readonly panel: { start(): Promise<void>; stop(): Promise<void> };
  /** Moves the pointer and presses a button, in pixels of the 1280 x 800 screen. */
  press(x: number, y: number, button?: 1 | 3): Promise<void>;
  /** Writes the whole screen as a PNG. */
  screenshot(path: string): Promise<void>;
}

const PANEL_MS = 8000;
const PANEL_TRIES = 4;

/** Starts one in about a second. Disposing ends its own processes only. @throws when a package is missing */
export async function startDesktop(options: DesktopOptions = {}): Promise<Desktop> {
  const missing = desktopMissing();
  if (missing !== null) throw new Error(missing);
  const { host = 'xfce', notify = 'dunst', theme = 'dark' } = options;
  const dir = mkdtempSync(join(tmpdir(), 'hivebar-desktop-'));
  const at = (name: string): string => join(dir, name);
  for (const name of ['log', 'home', 'config', 'cache', 'data', 'services']) mkdirSync(at(name));
  mkdirSync(at('run'), { mode: 0o700 });
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: at('home'),
    XDG_CONFIG_HOME: at('config'), // before the bus starts: the bus starts xfconfd, which reads it
    XDG_CACHE_HOME: at('cache'),
    XDG_DATA_HOME: at('data'),
    XDG_RUNTIME_DIR: at('run'),
    XDG_CURRENT_DESKTOP: 'XFCE',
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${at('run/bus')}`,
    NO_AT_BRIDGE: '1',
    GTK_A11Y: 'none',
    GSETTINGS_BACKEND: 'memory',
    LC_ALL: 'C.UTF-8',
  };
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  const processes = stack.use(new Processes(at('log'), env));

  env.DISPLAY = `:${await startX(processes)}`;
  writeFileSync(at('bus.conf'), busConfig(at('run/bus'), at('services')));
  const xfconf = '/usr/share/dbus-1/services/org.xfce.Xfconf.service';
  if (existsSync(xfconf)) copyFileSync(xfconf, at('services/org.xfce.Xfconf.service'));
  processes.start('dbus-daemon', [`--config-file=${at('bus.conf')}`, '--nofork', '--nopidfile']);
  await poll(
    () => 'session bus',
    () => existsSync(at('run/bus')) || null,
  );
  const opened = await openSessionBus({ env, log: silentLog, clock: realClock });
  if (opened.is === 'none') throw new Error(opened.why);
  const bus = stack.use(opened);
  // The socket is there a moment before the daemon takes connections; what was refused then is tried again by the bus.
  await poll(
    () => 'connection to the session bus',
    () => bus.state.is === 'connected' || null,
  );

  const busPeer = { dest: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', iface: 'org.freedesktop.DBus' };
  const owned = async (name: string): Promise<true | null> =>
    (await bus.call({ ...busPeer, member: 'NameHasOwner', signature: 's', body: [name] }))[0] === true || null;
  const gone = async (name: string): Promise<true | null> => ((await owned(name)) ? null : true);
  /** What the bus and the panel started in their turn. */
  const adoptAll = async (): Promise<void> => {
    const [names] = await bus.call({ ...busPeer, member: 'ListNames' });
    for (const name of (names as string[]).filter((n) => n.startsWith(':'))) {
      const ask = { ...busPeer, member: 'GetConnectionUnixProcessID', signature: 's', body: [name] };
      const [pid] = await bus.call(ask).catch(() => [null]); // left meanwhile
      if (typeof pid === 'number') processes.adopt(`${name} on the bus`, pid);
    }
  };

  const config = join(at('config'), 'xfce4/xfconf/xfce-perchannel-xml');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'xfce4-panel.xml'), panelConfig(theme));
  const watcher = 'org.kde.StatusNotifierWatcher';
  const panel: Desktop['panel'] = {
    start: async () => {
      // Now and then a panel comes up without its tray, most often right after another one ended: it is started anew.
      for (let tries = 1; ; tries += 1) {
        processes.start('xfce4-panel', ['--disable-wm-check']);
        try {
          await poll(
            () => 'tray host (xfce4-panel)',
            () => owned(watcher),
            PANEL_MS,
          );
          return;
        } catch (error) {
          if (tries === PANEL_TRIES) throw error;
          await processes.stop('xfce4-panel');
        }
      }
    },
    stop: async () => {
      await processes.stop('xfce4-panel');
      await poll(
        () => 'end of the tray host',
        () => gone(watcher),
      );
    },
  };
  if (host === 'xfce') await panel.start();

  const record = at('notifications.jsonl');
  writeFileSync(record, '');
  await startRecorder(processes, env.DBUS_SESSION_BUS_ADDRESS ?? '', record);
  if (notify === 'dunst') {
    writeFileSync(at('dunstrc'), DUNSTRC);
    processes.start('dunst', ['-conf', at('dunstrc')]);
    await poll(
      () => 'notification daemon (dunst)',
      () => owned('org.freedesktop.Notifications'),
    );
  }
  await adoptAll();

  const owner = stack.move();
  return {
    env,
    bus,
    panel,
    tray: new Tray(bus),
    notifications: new Notifications(bus, record, env),
    press: async (x, y, button = 1) => {
      await run('xdotool', ['mousemove', String(x), String(y), 'click', String(button)], { env });
      await sleep(50);
    },
    screenshot: async (path) => {
      await run('import', ['-window', 'root', path], { env });
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** The server picks a free display number itself and writes it to descriptor 3 once it is ready. */
async function startX(processes: Processes): Promise<string> {
  const args = ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp', '-noreset'];
  const child = processes.start('Xvfb', args, { pipe3: true });
  let number = '';
  child.stdio[3]?.on('data', (bytes: Buffer) => {
    number += bytes.toString('latin1');
  });
  return poll(
    () => 'X server',
    () => (/^\d+\n/.test(number) ? number.trim() : null),
    15_000,
  );
}

/** Every Notify call, its answer and every signal about it, one JSON object a line. */
async function startRecorder(processes: Processes, address: string, record: string): Promise<void> {
  const matches = [
    `interface='org.freedesktop.Notifications'`,
    `type='method_return',sender='org.freedesktop.Notifications'`,
  ];
  const args = matches.flatMap((match) => ['--match', match]);
  processes.start('busctl', [`--address=${address}`, '--json=short', 'monitor', ...args], { stdout: record });
  const log = processes.findLog('busctl');
  await poll(
    () => 'recorder',
    () => readFileSync(log, 'utf8').includes('Monitoring') || null,
  );
}
