import { existsSync } from 'node:fs';
import { type Clock, type Log, realSpawn } from '../../core/ports/index.ts';
import { BusError, type NoBus, type SessionBus } from '../desktop/index.ts';
import { prepareHelperProgram } from '../helper-programs.node.ts';
import { chooseHelperBinary } from './helper-binary.ts';
import type { TrayIcons } from './icons.node.ts';
import { ITEM, ITEM_PATH, ItemObject, MENU_PATH } from './item-object.ts';
import { MENU, MenuObject } from './menu-object.ts';
import type { MenuAction, TrayDriver, TrayEvents } from './model.ts';
import { openHelperTray } from './systray2.node.ts';

/** The loader that the helper binary for Linux needs. */
const GLIBC_LOADER = '/lib64/ld-linux-x86-64.so.2';
const ROSETTA_MS = 5000;

export interface TrayNeeds {
  /** `auto` is StatusNotifierItem on Linux, and the helper elsewhere. */
  readonly choice: 'auto' | 'sni' | 'systray2' | 'none';
  readonly bus: SessionBus | NoBus;
  readonly icons: TrayIcons;
  /** The absolute path of a folder for the helper only, below the state folder. */
  readonly helperFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly events: TrayEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Chooses and starts the tray driver for this machine. Returns null where no icon can be shown, and has reported why through
 * `onState`. Every state is logged once, here.
 */
export async function openTray(needs: TrayNeeds): Promise<TrayDriver | null> {
  const { choice, bus, icons, helperFolder, env, clock, log } = needs;
  const events: TrayEvents = {
    onAction: (action) => needs.events.onAction(action),
    onState: (text) => {
      log.info(`tray: ${text}`);
      needs.events.onState(text);
    },
  };
  const hide = (why: string): null => {
    events.onState(`off (${why})`);
    return null;
  };
  if (choice === 'none') return hide('switched off');
  const { platform, arch } = process;
  const hasBus = platform !== 'darwin' && platform !== 'win32';
  if (choice === 'sni' || (choice === 'auto' && hasBus)) {
    return bus.is === 'bus' ? openSniTray(bus, icons, events, clock, log) : hide(`no session bus: ${bus.why}`);
  }
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return hide('no display');
  const hasRosetta = platform === 'darwin' && arch === 'arm64' && (await canRunIntelPrograms());
  const binary = chooseHelperBinary({ platform, arch, hasGlibcLoader: existsSync(GLIBC_LOADER), hasRosetta });
  if (binary.is === 'none') return hide(binary.why);
  const prepareBinary = (): string => prepareHelperProgram(binary.name, log);
  return openHelperTray({ prepareBinary, folder: helperFolder, platform, env, icons, events, clock, log });
}

async function canRunIntelPrograms(): Promise<boolean> {
  const command = { file: '/usr/bin/arch', args: ['-x86_64', '/usr/bin/true'], env: {}, timeoutMs: ROSETTA_MS };
  const ended = await realSpawn.run(command, new AbortController().signal);
  return ended.is === 'exited' && ended.code === 0;
}

const WATCHER = 'org.kde.StatusNotifierWatcher';
const AT_WATCHER = { dest: WATCHER, path: '/StatusNotifierWatcher' };
const DRIVER = 'org.freedesktop.DBus';
const DO_NOT_QUEUE = 4;

/**
 * Opens the tray of Linux desktops: an icon and a menu as D-Bus objects, which a tray host reads and draws. They appear as soon
 * as there is a host, and again after each restart of the host or the bus.
 */
export function openSniTray(bus: SessionBus, icons: TrayIcons, events: TrayEvents, clock: Clock, log: Log): TrayDriver {
  return new SniTray(bus, icons, events, clock, log);
}

class SniTray implements TrayDriver {
  readonly #bus: SessionBus;
  readonly #events: TrayEvents;
  readonly #log: Log;
  readonly #stack = new AsyncDisposableStack();
  readonly #item: ItemObject;
  readonly #menu: MenuObject;
  /** The bus name that the specification requires. There is one icon per process. */
  readonly #name = `org.kde.StatusNotifierItem-${process.pid}-1`;
  #state = '';
  #watcher: string | null = null;

  constructor(bus: SessionBus, icons: TrayIcons, events: TrayEvents, clock: Clock, log: Log) {
    this.#bus = bus;
    this.#events = events;
    this.#log = log;
    const onAction = (action: MenuAction): void => events.onAction(this.#item.addToken(action));
    this.#item = new ItemObject(icons, {
      onAction,
      emit: (member, body) => item.emit(ITEM, member, body),
    });
    const emit = (member: string, body: readonly unknown[]): void => menu.emit(MENU, member, body);
    this.#menu = this.#stack.use(new MenuObject(bus.variant, { onAction, emit }, clock));
    const item = this.#stack.use(bus.serve(ITEM_PATH, [this.#item.interface]));
    const menu = this.#stack.use(bus.serve(MENU_PATH, [this.#menu.interface]));
    if (bus.state.is === 'gone') this.#become('off (bus gone)');
    this.#stack.use(
      bus.states((state) => {
        if (state.is === 'gone') this.#become('off (bus gone)');
        if (state.is === 'connected') this.#become('off (no tray host)'); // until there is one
      }),
    );
    this.#stack.use(bus.owner(WATCHER, (owner) => this.#meet(owner)));
    const hosts = { sender: WATCHER, iface: WATCHER, member: 'StatusNotifierHostRegistered' };
    this.#stack.use(bus.signals(hosts, () => this.#meet(this.#watcher)));
  }

  show: TrayDriver['show'] = (model) => {
    this.#item.show(model);
    this.#menu.show(model.menu);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    await this.#driver('ReleaseName', 's', [this.#name]).catch((error: unknown) => {
      if (!(error instanceof BusError)) throw error; // a lost connection holds no name
    });
  }

  #become(state: string): void {
    if (state === this.#state || this.#stack.disposed) return;
    this.#state = state;
    this.#events.onState(state);
  }

  /** Called when the watcher on the bus came or went, or when it has a host. */
  #meet(owner: string | null): void {
    this.#watcher = owner;
    if (this.#bus.state.is !== 'connected') return; // reported by `states`
    if (owner === null) {
      this.#become('off (no tray host)');
      return;
    }
    this.#register(owner).catch((error: unknown) => {
      if (owner !== this.#watcher || this.#stack.disposed) return; // it has gone; the next watcher is asked again
      const why = error instanceof Error ? error.message : String(error);
      this.#log.warn('tray: the desktop refused the icon', { why });
      this.#become(`off (${why})`);
    });
  }

  async #register(owner: string): Promise<void> {
    const [owned] = await this.#driver('RequestName', 'su', [this.#name, DO_NOT_QUEUE]);
    const named = owned === 1 || owned === 4; // 1 ours now, 4 ours before; a sandbox may refuse the name
    try {
      await this.#introduce(named ? this.#name : ITEM_PATH);
    } catch (error) {
      if (!(error instanceof BusError) || error.is !== 'answered' || !named) throw error;
      await this.#introduce(ITEM_PATH); // the other form of the specification; only one of both is registered
    }
    const hostReply = await this.#bus.call({
      ...AT_WATCHER,
      iface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: [WATCHER, 'IsStatusNotifierHostRegistered'],
    });
    if (owner !== this.#watcher) return;
    const hosted = (hostReply[0] as { readonly value?: unknown }).value === true;
    this.#become(hosted ? 'on (StatusNotifierItem)' : 'off (no tray host)');
  }

  async #introduce(service: string): Promise<void> {
    await this.#bus.call({
      ...AT_WATCHER,
      iface: WATCHER,
      member: 'RegisterStatusNotifierItem',
      signature: 's',
      body: [service],
    });
  }

  #driver(member: string, signature: string, body: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#bus.call({ dest: DRIVER, path: '/org/freedesktop/DBus', iface: DRIVER, member, signature, body });
  }
}
