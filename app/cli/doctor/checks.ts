import { realRandom, realSpawn, silentLog } from '../../../core/ports/index.ts';
import { listAddresses, listSourceChecks } from '../../../core/sources/derived.ts';
import type { SourceCheck } from '../../../core/sources/module.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import type { SessionBus, Variant } from '../../desktop/index.ts';
import { createOwnLoginStart } from '../../service/index.ts';
import { type DoctorCheck, defineCheck, QUESTIONS } from './check.ts';
import {
  judgeHelper,
  judgeHost,
  judgeLogin,
  judgeNotificationDaemon,
  judgeNotifier,
  judgeOutages,
  judgeSessionBus,
  judgeSilence,
  type NotificationDaemonProbe,
  type SessionBusProbe,
  type TrayHostProbe,
} from './desktop-judges.ts';
import { type DoctorContext, judgeDatabase, judgeLocalHive } from './doctor-context.ts';
import {
  judgeClock,
  judgeDirectory,
  judgeFiles,
  judgeLock,
  judgeNode,
  judgeProxy,
  judgeSettings,
  judgeSocket,
  listProxyNames,
} from './machine-judges.ts';
import { judgeEventFiles, judgeHooks, judgeInstance, judgePort } from './mail-judges.ts';
import { probePort } from './port.node.ts';
import {
  getStatePath,
  hooksSeen,
  judgeProducers,
  judgeSharedFiles,
  probeDirectory,
  probeEventFiles,
  probeFile,
  probeInstance,
  probeLock,
  probeNode,
  probeNotifier,
  probeProducers,
  probeSharedFiles,
  probeSocket,
  probeTrayHelper,
} from './probes.node.ts';

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

async function probeSessionBus(context: DoctorContext): Promise<SessionBusProbe> {
  const { hasDisplay, settings } = context;
  const isWanted = hasDbus(context) && (settings.notifications || settings.tray === 'auto' || settings.tray === 'sni');
  const bus = isWanted ? await context.bus() : ({ is: 'none', why: 'not asked for' } as const);
  return { isWanted, hasDisplay, bus };
}

async function probeTrayHost(context: DoctorContext): Promise<TrayHostProbe> {
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

async function probeNotificationDaemon(context: DoctorContext): Promise<NotificationDaemonProbe> {
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

/** Lists every check of this machine, in the order of the report. To add a check, add one entry. */
export function listChecks(context: DoctorContext): readonly DoctorCheck[] {
  return [...COMMON_CHECKS, ...listSourceChecks(context.settings).map(toDoctorCheck), ...DESKTOP_CHECKS];
}

const CLOCK_SPAN_MS = 100;

/** Checks that everything else depends on. */
const COMMON_CHECKS: readonly DoctorCheck[] = [
  defineCheck({ name: 'node', about: QUESTIONS, probe: async () => probeNode(), judge: judgeNode }),
  defineCheck({
    name: 'settings',
    about: QUESTIONS,
    probe: async ({ settingsFile }) => settingsFile,
    judge: judgeSettings,
  }),
  createDirectoryCheck('state directory', ({ dirs }) => dirs.state),
  createDirectoryCheck('run directory', ({ dirs }) => dirs.run),
  createDirectoryCheck('settings directory', ({ dirs }) => dirs.config),
  createDirectoryCheck('event directory', (context) => getStatePath(context, 'events')),
  defineCheck({
    name: 'private files',
    about: ['mail'],
    hints: [],
    probe: async (context) => {
      const names = ['hivebar.sqlite', 'hivebar.sqlite-wal', 'outbox.journal'].map((name) =>
        getStatePath(context, name),
      );
      return [...names, context.settingsFile.path].map((path) => probeFile(path, context.uid));
    },
    judge: judgeFiles,
  }),
  defineCheck({
    name: 'token file',
    about: ['mail'],
    hints: [],
    probe: async ({ dirs, uid }) => [probeFile(`${dirs.run}/token`, uid)],
    judge: judgeFiles,
  }),
  defineCheck({
    name: 'database',
    about: QUESTIONS,
    probe: async ({ database }) => {
      const result = await database();
      return result.is === 'read' ? { ...result, found: await result.flaws } : result;
    },
    judge: judgeDatabase,
  }),
  defineCheck({
    name: 'lock',
    about: QUESTIONS,
    hints: [],
    probe: async (context) => probeLock(context),
    judge: judgeLock,
  }),
  defineCheck({ name: 'hivebar', about: QUESTIONS, probe: probeInstance, judge: judgeInstance }),
  defineCheck({ name: 'port', about: QUESTIONS, probe: probePort, judge: judgePort }),
  defineCheck({ name: 'owner socket', about: ['mail'], probe: probeSocket, judge: judgeSocket }),
  defineCheck({
    name: 'clock',
    about: ['mail'],
    probe: async ({ clock }, signal) => {
      const [wall, monotonic] = [clock.now(), clock.monotonic()];
      await clock.sleep(CLOCK_SPAN_MS, signal);
      return { now: wall, wallMs: clock.now() - wall, monotonicMs: clock.monotonic() - monotonic };
    },
    judge: judgeClock,
  }),
  defineCheck({
    name: 'proxy',
    about: ['mail'],
    probe: async (context) => ({
      names: listProxyNames(context.env),
      hasFarHive: listAddresses(context.settings).some((base) => !/^https?:\/\/(localhost|127\.|\[::1\])/i.test(base)),
    }),
    judge: judgeProxy,
  }),
  defineCheck({ name: 'local hive', about: ['mail'], probe: ({ database }) => database(), judge: judgeLocalHive }),
  defineCheck({ name: 'hooks', about: ['mail'], probe: hooksSeen, judge: judgeHooks }),
];

/** Checks of what a person sees and what an agent follows. */
const DESKTOP_CHECKS: readonly DoctorCheck[] = [
  defineCheck({ name: 'inboxes', about: ['mail'], probe: loadStatus, judge: judgeOutages }),
  defineCheck({ name: 'event files', about: ['mail'], probe: probeEventFiles, judge: judgeEventFiles }),
  defineCheck({ name: 'second producer', about: ['mail'], probe: probeProducers, judge: judgeProducers }),
  defineCheck({ name: 'shared events file', about: ['mail'], probe: probeSharedFiles, judge: judgeSharedFiles }),
  defineCheck({ name: 'session bus', about: ['icon', 'banner'], probe: probeSessionBus, judge: judgeSessionBus }),
  defineCheck({ name: 'tray host', about: ['icon'], probe: probeTrayHost, judge: judgeHost }),
  defineCheck({ name: 'tray helper', about: ['icon'], probe: probeTrayHelper, judge: judgeHelper }),
  defineCheck({
    name: 'notification daemon',
    about: ['banner'],
    probe: probeNotificationDaemon,
    judge: judgeNotificationDaemon,
  }),
  defineCheck({ name: 'notifier', about: ['banner'], probe: probeNotifier, judge: judgeNotifier }),
  defineCheck({ name: 'silence', about: ['banner'], probe: loadStatus, judge: judgeSilence }),
  defineCheck({
    name: 'start at login',
    about: [],
    probe: async ({ os, env }) => {
      const login = createOwnLoginStart({
        os,
        env,
        disk: createRealDisk(silentLog),
        random: realRandom,
        spawn: realSpawn,
      });
      return { status: await login.check(), missing: await login.missing() };
    },
    judge: judgeLogin,
  }),
];

function createDirectoryCheck(name: string, path: (scene: DoctorContext) => string): DoctorCheck {
  return defineCheck({
    name,
    about: QUESTIONS,
    hints: [],
    probe: async (context) => probeDirectory(path(context), context.uid),
    judge: judgeDirectory,
  });
}

function toDoctorCheck({ name, about, hints = about, run }: SourceCheck): DoctorCheck {
  return {
    ...{ name, about, hints },
    run: ({ env, clock, dirs, version }, signal) => run({ env, clock, version, state: dirs.state }, signal),
  };
}

async function loadStatus({ tray }: DoctorContext) {
  const seen = await tray();
  return seen.is === 'answered' ? seen.status : null;
}
