import { realRandom, realSpawn, silentLog } from '../../../core/ports/index.ts';
import { realDisk } from '../../../core/state/index.ts';
import { loginStart } from '../../service/index.ts';
import { brainclawSeen } from './brainclaw.node.ts';
import { judgeBrainclaw } from './brainclaw.ts';
import { type Check, check, QUESTIONS } from './check.ts';
import { judgeClock } from './clock.ts';
import { daemonsSeen } from './daemons.node.ts';
import { judgeDaemons } from './daemons.ts';
import { judgeDatabase, judgeLocalHive } from './database.ts';
import { daemonSeen, hostSeen, sessionBusSeen } from './desktop.ts';
import { judgeDirectory } from './directory.ts';
import { eventFilesSeen } from './event-files.node.ts';
import { judgeEventFiles } from './event-files.ts';
import { gardenSeen } from './garden.node.ts';
import { judgeGarden } from './garden.ts';
import { hiveSeen, hivesIn } from './hive.node.ts';
import { judgeHive } from './hive.ts';
import { hooksSeen } from './hooks.node.ts';
import { judgeHooks } from './hooks.ts';
import { instanceSeen } from './instance.node.ts';
import { judgeInstance } from './instance.ts';
import { judgeLock } from './lock.ts';
import { judgeLogin } from './login.ts';
import { judgeNode } from './node-version.ts';
import { judgeDaemon } from './notification-daemon.ts';
import { judgeNotifier } from './notifier.ts';
import { judgeSocket } from './owner-socket.ts';
import { directorySeen, fileSeen, inState, socketSeen } from './paths.node.ts';
import { portSeen } from './port.node.ts';
import { judgePort } from './port.ts';
import { judgeFiles } from './private-file.ts';
import { producersSeen, sharedFilesSeen } from './producers.node.ts';
import { judgeProducers, judgeSharedFiles } from './producers.ts';
import { helperSeen, lockSeen, nodeSeen, notifierSeen } from './programs.node.ts';
import { judgeProxy, proxyNames } from './proxy.ts';
import type { Scene } from './scene.ts';
import { judgeSessionBus } from './session-bus.ts';
import { judgeSettings } from './settings.ts';
import { judgeOutages, judgeSilence } from './silence.ts';
import { judgeHelper } from './tray-helper.ts';
import { judgeHost } from './tray-host.ts';

/** Every check of this machine, in the order of the report. A new one is one entry. */
export function checksOf(scene: Scene): readonly Check[] {
  return [...ALL, ...hivesIn(scene).map(hiveCheck), ...DESKTOP];
}

const CLOCK_SPAN_MS = 100;

/** What everything else stands on. */
const ALL: readonly Check[] = [
  check({ name: 'node', about: QUESTIONS, probe: async () => nodeSeen(), judge: judgeNode }),
  check({ name: 'settings', about: QUESTIONS, probe: async ({ settingsFile }) => settingsFile, judge: judgeSettings }),
  directory('state directory', ({ dirs }) => dirs.state),
  directory('run directory', ({ dirs }) => dirs.run),
  directory('settings directory', ({ dirs }) => dirs.config),
  directory('event directory', (scene) => inState(scene, 'events')),
  check({
    name: 'private files',
    about: ['mail'],
    hints: [],
    probe: async (scene) => {
      const names = ['hivebar.sqlite', 'hivebar.sqlite-wal', 'outbox.journal'].map((name) => inState(scene, name));
      return [...names, scene.settingsFile.path].map((path) => fileSeen(path, scene.uid));
    },
    judge: judgeFiles,
  }),
  check({
    name: 'token file',
    about: ['mail'],
    hints: [],
    probe: async ({ dirs, uid }) => [fileSeen(`${dirs.run}/token`, uid)],
    judge: judgeFiles,
  }),
  check({
    name: 'database',
    about: QUESTIONS,
    probe: async ({ database }) => {
      const seen = await database();
      return seen.is === 'read' ? { ...seen, found: await seen.flaws } : seen;
    },
    judge: judgeDatabase,
  }),
  check({ name: 'lock', about: QUESTIONS, hints: [], probe: async (scene) => lockSeen(scene), judge: judgeLock }),
  check({ name: 'hivebar', about: QUESTIONS, probe: instanceSeen, judge: judgeInstance }),
  check({ name: 'port', about: QUESTIONS, probe: portSeen, judge: judgePort }),
  check({ name: 'owner socket', about: ['mail'], probe: socketSeen, judge: judgeSocket }),
  check({
    name: 'clock',
    about: ['mail'],
    probe: async ({ clock }, signal) => {
      const [wall, monotonic] = [clock.now(), clock.monotonic()];
      await clock.sleep(CLOCK_SPAN_MS, signal);
      return { now: wall, wallMs: clock.now() - wall, monotonicMs: clock.monotonic() - monotonic };
    },
    judge: judgeClock,
  }),
  check({
    name: 'proxy',
    about: ['mail'],
    probe: async (scene) => ({
      names: proxyNames(scene.env),
      hasFarHive: hivesIn(scene).some(({ base }) => !/^https?:\/\/(localhost|127\.|\[::1\])/i.test(base)),
    }),
    judge: judgeProxy,
  }),
  check({ name: 'local hive', about: ['mail'], probe: ({ database }) => database(), judge: judgeLocalHive }),
  check({ name: 'brainclaw', about: ['mail'], hints: [], probe: brainclawSeen, judge: judgeBrainclaw }),
  check({ name: 'garden', about: ['mail'], hints: [], probe: gardenSeen, judge: judgeGarden }),
  check({ name: 'hooks', about: ['mail'], probe: hooksSeen, judge: judgeHooks }),
  check({ name: 'persona daemons', about: ['mail'], hints: [], probe: daemonsSeen, judge: judgeDaemons }),
];

/** What a person sees, and what an agent follows. */
const DESKTOP: readonly Check[] = [
  check({ name: 'inboxes', about: ['mail'], probe: statusOf, judge: judgeOutages }),
  check({ name: 'event files', about: ['mail'], probe: eventFilesSeen, judge: judgeEventFiles }),
  check({ name: 'second producer', about: ['mail'], probe: producersSeen, judge: judgeProducers }),
  check({ name: 'shared events file', about: ['mail'], probe: sharedFilesSeen, judge: judgeSharedFiles }),
  check({ name: 'session bus', about: ['icon', 'banner'], probe: sessionBusSeen, judge: judgeSessionBus }),
  check({ name: 'tray host', about: ['icon'], probe: hostSeen, judge: judgeHost }),
  check({ name: 'tray helper', about: ['icon'], probe: helperSeen, judge: judgeHelper }),
  check({ name: 'notification daemon', about: ['banner'], probe: daemonSeen, judge: judgeDaemon }),
  check({ name: 'notifier', about: ['banner'], probe: notifierSeen, judge: judgeNotifier }),
  check({ name: 'silence', about: ['banner'], probe: statusOf, judge: judgeSilence }),
  check({
    name: 'start at login',
    about: [],
    probe: async ({ os, env }) => {
      const login = loginStart({ os, env, disk: realDisk(silentLog), random: realRandom, spawn: realSpawn });
      return { look: await login.look(), missing: await login.missing() };
    },
    judge: judgeLogin,
  }),
];

function directory(name: string, path: (scene: Scene) => string): Check {
  return check({
    name,
    about: QUESTIONS,
    hints: [],
    probe: async (scene) => directorySeen(path(scene), scene.uid),
    judge: judgeDirectory,
  });
}

function hiveCheck(hive: ReturnType<typeof hivesIn>[number]): Check {
  const probe = (scene: Scene, signal: AbortSignal) => hiveSeen(hive, scene, signal);
  return check({ name: `hive ${hive.name}`, about: ['mail', 'banner'], probe, judge: judgeHive });
}

async function statusOf({ tray }: Scene) {
  const seen = await tray();
  return seen.is === 'answered' ? seen.status : null;
}
