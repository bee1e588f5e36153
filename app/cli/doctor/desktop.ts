import type { SessionBus, Variant } from '../../desktop/index.ts';
import type { NotificationDaemonProbe, SessionBusProbe, TrayHostProbe } from './desktop-judges.ts';
import type { DoctorContext } from './doctor-context.ts';

const MESSAGE_BUS = {
  dest: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  iface: 'org.freedesktop.DBus',
} as const;
const WATCHER = 'org.kde.StatusNotifierWatcher';
const NOTIFICATIONS = 'org.freedesktop.Notifications';
const DUNST = 'org.dunstproject.cmd0';
const CALL_MS = 1500;

const hasDbus = ({ os }: DoctorContext): boolean => os !== 'darwin' && os !== 'win32';

export async function probeSessionBus(context: DoctorContext): Promise<SessionBusProbe> {
  const { hasDisplay, settings } = context;
  const isWanted = hasDbus(context) && (settings.notifications || settings.tray === 'auto' || settings.tray === 'sni');
  const bus = isWanted ? await context.bus() : ({ is: 'none', why: 'not asked for' } as const);
  return { isWanted, hasDisplay, bus };
}

export async function probeTrayHost(context: DoctorContext): Promise<TrayHostProbe> {
  const { env, settings, hasDisplay } = context;
  const isWay = settings.tray === 'sni' || (settings.tray === 'auto' && hasDbus(context));
  const busProbe = isWay ? await context.bus() : null;
  const tray = await context.tray();
  return {
    choice: settings.tray,
    isWay,
    hasDisplay,
    desktop: env.XDG_CURRENT_DESKTOP || null,
    host: busProbe?.is === 'connected' ? await findHost(busProbe.bus) : { is: 'no-bus' },
    running: tray.is === 'answered' ? tray.status.tray.state : null,
  };
}

async function findHost(bus: SessionBus): Promise<TrayHostProbe['host']> {
  if ((await findOwner(bus, WATCHER)) === null) return { is: 'no-watcher' };
  const isHosted = await readProperty(
    bus,
    WATCHER,
    '/StatusNotifierWatcher',
    WATCHER,
    'IsStatusNotifierHostRegistered',
  );
  return { is: 'watcher', isHosted: isHosted === true };
}

export async function probeNotificationDaemon(context: DoctorContext): Promise<NotificationDaemonProbe> {
  const { hasDisplay, settings } = context;
  const isWanted = settings.notifications;
  const busProbe = isWanted && hasDbus(context) ? await context.bus() : null;
  const tray = await context.tray();
  return {
    isWanted,
    hasDisplay,
    daemon: busProbe?.is === 'connected' ? await findDaemon(busProbe.bus) : { is: 'no-bus' },
    running: tray.is === 'answered' ? tray.status.notifications.state : null,
  };
}

/** Asks the owner of the name by its unique name: asking by the well-known name would start a daemon. */
async function findDaemon(bus: SessionBus): Promise<NotificationDaemonProbe['daemon']> {
  const owner = await findOwner(bus, NOTIFICATIONS);
  if (owner === null) {
    const [names] = await bus.call({ ...MESSAGE_BUS, member: 'ListActivatableNames', timeoutMs: CALL_MS });
    return { is: Array.isArray(names) && names.includes(NOTIFICATIONS) ? 'activatable' : 'none' };
  }
  const ask = { dest: owner, path: '/org/freedesktop/Notifications', iface: NOTIFICATIONS, timeoutMs: CALL_MS };
  const [info, capabilities, isPaused] = await Promise.all([
    bus.call({ ...ask, member: 'GetServerInformation' }),
    bus.call({ ...ask, member: 'GetCapabilities' }),
    readProperty(bus, owner, ask.path, DUNST, 'paused'),
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

async function findOwner(bus: SessionBus, name: string): Promise<string | null> {
  const ask = { ...MESSAGE_BUS, signature: 's', body: [name], timeoutMs: CALL_MS };
  const [isOwned] = await bus.call({ ...ask, member: 'NameHasOwner' });
  if (isOwned !== true) return null;
  const [owner] = await bus.call({ ...ask, member: 'GetNameOwner' });
  return typeof owner === 'string' ? owner : null;
}

/** Undefined: the property does not exist. */
async function readProperty(
  bus: SessionBus,
  dest: string,
  path: string,
  iface: string,
  name: string,
): Promise<unknown> {
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
    return undefined; // not every daemon has every property
  }
}
