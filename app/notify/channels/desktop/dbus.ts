import { BusError, type BusSignal, type SessionBus } from '../../../desktop/index.ts';
import type { ChannelListener, ChannelState, NotificationPart } from '../channel.ts';
import { ANSWERS, type Notification, type NotificationButton, type NotificationKey } from '../channel.ts';
import {
  CATEGORY,
  type DesktopBackend,
  type DesktopIdentity,
  escapeMarkup,
  type OpenBackend,
  SOUND,
} from '../desktop.ts';

const NAME = 'org.freedesktop.Notifications';
const OBJECT = { path: '/org/freedesktop/Notifications', iface: NAME } as const;
const BUS = { dest: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', iface: 'org.freedesktop.DBus' } as const;

/** Desktop Notifications 1.2, "Urgency Levels". The desktop has no level for `high`, so the title expresses it. */
const URGENCY = { normal: 1, high: 1, critical: 2 } as const;
/** The name that the specification gives to a click on the banner itself. */
const CLICK = 'default';
const BUTTONS: ReadonlySet<string> = new Set<NotificationButton['id']>(['open', 'read', 'mute', ...ANSWERS]);
/**
 * The reasons of NotificationClosed: 1 expired, 2 dismissed by the user, 3 closed by CloseNotification (we do not wait for it), 4
 * undefined.
 */
const DISMISSED = 2;
const CLOSE_MS = 5000;
/** The time that the notification daemon has at the end. One that hangs is not waited for. */
const LAST_MS = 100;
/** Lets the desktop decide how long a banner stays. */
const ITS_OWN_TIME = -1;
const NO_DAEMON = 'no notification daemon';
/** The answer of the bus where nothing has the name and nothing can be started for it. */
const UNKNOWN_SERVICE = 'org.freedesktop.DBus.Error.ServiceUnknown';

/** The notification daemon that shows our banners now: its capabilities, and the ids that it gave to them. */
interface NotificationDaemon {
  /** Its unique bus name. Signals from any other name are not from it. */
  readonly owner: string;
  can: ReadonlySet<string> | null;
  readonly ids: Map<NotificationKey, number>;
  readonly keys: Map<number, NotificationKey>;
  readonly tokens: Map<number, string>;
  /** How many banners have no id yet, and which unknown ids were closed in the meantime: one of those may be ours. */
  unnumbered: number;
  readonly closedEarly: Map<number, unknown>;
}

/**
 * Shows notifications over D-Bus (Desktop Notifications Specification 1.2). Each key has one id, so a newer banner replaces the
 * older one. If the notification daemon restarts, appears late or is missing, that is a state and not an error.
 */
export function createDbusBackend(bus: SessionBus, identity: DesktopIdentity, sound: boolean): OpenBackend {
  return (listener) => new DbusBackend(bus, identity, sound, listener);
}

class DbusBackend implements DesktopBackend {
  readonly #bus: SessionBus;
  readonly #identity: DesktopIdentity;
  readonly #sound: boolean;
  readonly #listener: ChannelListener;
  readonly #subscriptions = new DisposableStack();
  #daemon: NotificationDaemon | null = null;
  #announcedState: string | null = null;

  constructor(bus: SessionBus, identity: DesktopIdentity, sound: boolean, listener: ChannelListener) {
    this.#bus = bus;
    this.#identity = identity;
    this.#sound = sound;
    this.#listener = listener;
    this.#subscriptions.use(bus.signals({ ...OBJECT, sender: NAME }, (signal) => this.#heard(signal)));
    this.#subscriptions.use(bus.owner(NAME, (owner) => this.#owned(owner)));
  }

  async show(banner: Notification): Promise<void> {
    const daemon = this.#daemon ?? (await this.#activate());
    try {
      await this.#showOn(daemon, banner);
    } catch (error) {
      // A daemon that left took its banners with it. The bus reports the new owner before it reports that the call got no answer.
      const next = this.#daemon;
      if (next === null || next === daemon) throw error;
      await this.#showOn(next, banner);
    }
  }

  async #showOn(daemon: NotificationDaemon, banner: Notification): Promise<void> {
    daemon.can ??= await this.#capabilities(daemon.owner);
    const replaces = daemon.ids.get(banner.key) ?? 0;
    daemon.unnumbered += 1;
    try {
      const id = await this.#notify(daemon.owner, daemon.can, replaces, banner);
      if (replaces !== id) daemon.keys.delete(replaces);
      daemon.ids.set(banner.key, id);
      daemon.keys.set(id, banner.key);
      if (daemon.closedEarly.has(id)) this.#closed(daemon, id, banner.key, daemon.closedEarly.get(id));
    } finally {
      daemon.unnumbered -= 1;
      if (daemon.unnumbered === 0) daemon.closedEarly.clear();
    }
  }

  async #notify(owner: string, can: ReadonlySet<string>, replaces: number, banner: Notification): Promise<number> {
    const [id] = await this.#bus.call({
      ...OBJECT,
      dest: owner,
      member: 'Notify',
      signature: 'susssasa{sv}i',
      body: [
        'Hivebar',
        replaces,
        this.#identity.icon,
        can.has('body') || banner.body === '' ? banner.title : `${banner.title}: ${banner.body}`,
        !can.has('body') ? '' : can.has('body-markup') ? escapeMarkup(banner.body) : banner.body,
        can.has('actions') ? [CLICK, 'Open', ...banner.buttons.flatMap(({ id, label }) => [id, label])] : [],
        {
          'desktop-entry': this.#bus.variant('s', this.#identity.desktopEntry),
          category: this.#bus.variant('s', CATEGORY[banner.is]),
          urgency: this.#bus.variant('y', URGENCY[banner.urgency]),
          ...((banner.sound ?? this.#sound)
            ? { 'sound-name': this.#bus.variant('s', SOUND[banner.is]) }
            : { 'suppress-sound': this.#bus.variant('b', true) }),
        },
        ITS_OWN_TIME,
      ],
    });
    if (typeof id !== 'number') throw new Error(`${NAME}: Notify answered ${String(id)} instead of a number`);
    return id;
  }

  withdraw(key: NotificationKey): Promise<void> {
    return this.#close(key, CLOSE_MS);
  }

  async #close(key: NotificationKey, timeoutMs: number): Promise<void> {
    const daemon = this.#daemon;
    const id = daemon?.ids.get(key);
    if (daemon === null || id === undefined) return;
    forget(daemon, id);
    const close = { ...OBJECT, dest: daemon.owner, member: 'CloseNotification', signature: 'u', body: [id] };
    try {
      await this.#bus.call({ ...close, timeoutMs });
    } catch (error) {
      // This is the specified answer for a banner that is already gone, which is what we want.
      if (!(error instanceof BusError && error.is === 'answered')) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    const open = [...(this.#daemon?.ids.keys() ?? [])];
    // After this nobody would answer a click. The bus keeps the order, so closing it afterwards loses no call.
    await Promise.allSettled(open.map((key) => this.#close(key, LAST_MS)));
  }

  #owned(owner: string | null): void {
    const before = this.#daemon;
    if (before?.owner === owner) return;
    this.#daemon = owner === null ? null : createNotificationDaemon(owner);
    for (const key of before?.ids.keys() ?? []) this.#listener.closed(key, 'channel');
    if (this.#daemon === null) this.#findActivatable();
    else this.#describe(this.#daemon);
  }

  async #capabilities(owner: string): Promise<ReadonlySet<string>> {
    const [list] = await this.#bus.call({ ...OBJECT, dest: owner, member: 'GetCapabilities' });
    return new Set(Array.isArray(list) ? list.map(String) : []);
  }

  /** Nobody owns the name, but the bus may know a program that it can start for it. */
  #findActivatable(): void {
    if (this.#bus.state.is !== 'connected') {
      this.#tell({ is: 'unavailable', why: 'no session bus' });
      return;
    }
    this.#bus.call({ ...BUS, member: 'ListActivatableNames' }).then(
      ([names]) => {
        if (this.#daemon !== null) return;
        if (Array.isArray(names) && names.includes(NAME)) this.#tell({ is: 'ready', by: 'D-Bus, started when needed' });
        else this.#tell({ is: 'unavailable', why: NO_DAEMON });
      },
      (error: unknown) => {
        if (this.#daemon === null) this.#tell({ is: 'unavailable', why: formatError(error) });
      },
    );
  }

  /**
   * Finds the daemon, or starts it. The bus refuses to start a program that it has no entry for, although it may run, so it is asked for
   * the owner first: right after our start its answer may not be here yet. @throws Error `no notification daemon`
   */
  async #activate(): Promise<NotificationDaemon> {
    try {
      this.#owned((await this.#findOwner()) ?? (await this.#start()));
    } catch (error) {
      const isMissing = error instanceof BusError && error.errorName === UNKNOWN_SERVICE;
      this.#tell({ is: 'unavailable', why: isMissing ? NO_DAEMON : formatError(error) });
    }
    if (this.#daemon === null) throw new Error(this.#announcedState ?? NO_DAEMON);
    return this.#daemon;
  }

  async #findOwner(): Promise<string | null> {
    try {
      const [owner] = await this.#bus.call({ ...BUS, member: 'GetNameOwner', signature: 's', body: [NAME] });
      return String(owner);
    } catch (error) {
      if (error instanceof BusError && error.is === 'answered') return null; // nobody has the name
      throw error;
    }
  }

  async #start(): Promise<string | null> {
    await this.#bus.call({ ...BUS, member: 'StartServiceByName', signature: 'su', body: [NAME, 0], timeoutMs: 3000 });
    return this.#findOwner();
  }

  #describe(daemon: NotificationDaemon): void {
    this.#bus.call({ ...OBJECT, dest: daemon.owner, member: 'GetServerInformation' }).then(
      ([name, , version]) => this.#daemon === daemon && this.#tell({ is: 'ready', by: `D-Bus, ${name} ${version}` }),
      () => this.#daemon === daemon && this.#tell({ is: 'ready', by: 'D-Bus' }), // it need not say who it is
    );
  }

  #tell(state: ChannelState): void {
    const text = state.is === 'ready' ? state.by : state.why;
    if (this.#announcedState === text || this.#subscriptions.disposed) return;
    this.#announcedState = text;
    this.#listener.state(state);
  }

  #heard({ sender, member, body: [id, detail] }: BusSignal): void {
    const daemon = this.#daemon;
    if (daemon === null || sender !== daemon.owner || typeof id !== 'number') return;
    const key = daemon.keys.get(id);
    if (key === undefined) {
      if (member === 'NotificationClosed' && daemon.unnumbered > 0) daemon.closedEarly.set(id, detail);
      return; // otherwise the banner belongs to another program
    }
    switch (member) {
      case 'ActivationToken':
        if (typeof detail === 'string') daemon.tokens.set(id, detail);
        return;
      case 'ActionInvoked': {
        const token = daemon.tokens.get(id) ?? null;
        daemon.tokens.delete(id);
        const part = parseNotificationPart(detail);
        if (part !== null) this.#listener.clicked(key, part, token);
        return;
      }
      case 'NotificationClosed':
        this.#closed(daemon, id, key, detail);
    }
  }

  #closed(daemon: NotificationDaemon, id: number, key: NotificationKey, reason: unknown): void {
    forget(daemon, id);
    this.#listener.closed(key, reason === DISMISSED ? 'person' : 'channel');
  }
}

function createNotificationDaemon(owner: string): NotificationDaemon {
  return {
    owner,
    can: null,
    ids: new Map(),
    keys: new Map(),
    tokens: new Map(),
    unnumbered: 0,
    closedEarly: new Map(),
  };
}

function forget(daemon: NotificationDaemon, id: number): void {
  const key = daemon.keys.get(id);
  daemon.keys.delete(id);
  daemon.tokens.delete(id);
  if (key !== undefined && daemon.ids.get(key) === id) daemon.ids.delete(key);
}

/** Returns null for an action that no banner of ours has. */
function parseNotificationPart(action: unknown): NotificationPart | null {
  if (action === CLICK) return 'banner';
  return typeof action === 'string' && BUTTONS.has(action) ? (action as NotificationPart) : null;
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
