import type { SessionBus, Variant } from '../../desktop/index.ts';
import type { DaemonSeen } from './notification-daemon.ts';
import type { Scene } from './scene.ts';
import type { SessionBusSeen } from './session-bus.ts';
import type { HostSeen } from './tray-host.ts';

const DRIVER = { dest: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', iface: 'org.freedesktop.DBus' } as const;
const WATCHER = 'org.kde.StatusNotifierWatcher';
const NOTIFICATIONS = 'org.freedesktop.Notifications';
const DUNST = 'org.dunstproject.cmd0';
const CALL_MS = 1500;

const hasDbus = ({ os }: Scene): boolean => os !== 'darwin' && os !== 'win32';

export async function sessionBusSeen(scene: Scene): Promise<SessionBusSeen> {
  const { hasDisplay, settings } = scene;
  const isWanted = hasDbus(scene) && (settings.notifications || settings.tray === 'auto' || settings.tray === 'sni');
  const bus = isWanted ? await scene.bus() : ({ is: 'none', why: 'not asked for' } as const);
  return { isWanted, hasDisplay, bus };
}

export async function hostSeen(scene: Scene): Promise<HostSeen> {
  const { env, settings, hasDisplay } = scene;
  const isWay = settings.tray === 'sni' || (settings.tray === 'auto' && hasDbus(scene));
  const found = isWay ? await scene.bus() : null;
  const tray = await scene.tray();
  return {
    choice: settings.tray,
    isWay,
    hasDisplay,
    desktop: env.XDG_CURRENT_DESKTOP || null,
    host: found?.is === 'connected' ? await hostOn(found.bus) : { is: 'no-bus' },
    running: tray.is === 'answered' ? tray.status.tray.state : null,
  };
}

async function hostOn(bus: SessionBus): Promise<HostSeen['host']> {
  if ((await ownerOf(bus, WATCHER)) === null) return { is: 'no-watcher' };
  const isHosted = await property(bus, WATCHER, '/StatusNotifierWatcher', WATCHER, 'IsStatusNotifierHostRegistered');
  return { is: 'watcher', isHosted: isHosted === true };
}

export async function daemonSeen(scene: Scene): Promise<DaemonSeen> {
  const { hasDisplay, settings } = scene;
  const isWanted = settings.notifications;
  const found = isWanted && hasDbus(scene) ? await scene.bus() : null;
  const tray = await scene.tray();
  return {
    isWanted,
    hasDisplay,
    daemon: found?.is === 'connected' ? await daemonOn(found.bus) : { is: 'no-bus' },
    running: tray.is === 'answered' ? tray.status.notifications.state : null,
  };
}

/** Asks the owner by its own name: to ask by the well-known one would start a daemon. */
async function daemonOn(bus: SessionBus): Promise<DaemonSeen['daemon']> {
  const owner = await ownerOf(bus, NOTIFICATIONS);
  if (owner === null) {
    const [names] = await bus.call({ ...DRIVER, member: 'ListActivatableNames', timeoutMs: CALL_MS });
    return { is: Array.isArray(names) && names.includes(NOTIFICATIONS) ? 'activatable' : 'none' };
  }
  const ask = { dest: owner, path: '/org/freedesktop/Notifications', iface: NOTIFICATIONS, timeoutMs: CALL_MS };
  const [info, capabilities, isPaused] = await Promise.all([
    bus.call({ ...ask, member: 'GetServerInformation' }),
    bus.call({ ...ask, member: 'GetCapabilities' }),
    property(bus, owner, ask.path, DUNST, 'paused'),
  ]);
  const [name, , version] = info;
  const [can] = capabilities;
  return {
    is: 'there',
    who: typeof name === 'string' ? `${name} ${String(version)}` : null,
    can: Array.isArray(can) ? can.map(String) : [],
    isPaused: typeof isPaused === 'boolean' ? isPaused : null,
  };
}

async function ownerOf(bus: SessionBus, name: string): Promise<string | null> {
  const ask = { ...DRIVER, signature: 's', body: [name], timeoutMs: CALL_MS };
  const [isOwned] = await bus.call({ ...ask, member: 'NameHasOwner' });
  if (isOwned !== true) return null;
  const [owner] = await bus.call({ ...ask, member: 'GetNameOwner' });
  return typeof owner === 'string' ? owner : null;
}

/** Undefined: it has no such property. */
async function property(bus: SessionBus, dest: string, path: string, iface: string, name: string): Promise<unknown> {
  try {
    const [value] = await bus.call({
      dest,
      path,
      iface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: [iface, name],
      timeoutMs: CALL_MS,
    });
    return (value as Variant | undefined)?.value;
  } catch {
    return undefined; // not every daemon has every word
  }
}
