import { realRandom, realSpawn, silentLog } from '../../../core/ports/index.ts';
import { listAddresses, listSourceChecks } from '../../../core/sources/derived.ts';
import type { SourceCheck } from '../../../core/sources/module.ts';
import { createRealDisk } from '../../../core/state/index.ts';
import { createOwnLoginStart } from '../../service/index.ts';
import { type DoctorCheck, defineCheck, QUESTIONS } from './check.ts';
import { judgeDatabase, judgeLocalHive } from './database.ts';
import { probeNotificationDaemon, probeSessionBus, probeTrayHost } from './desktop.ts';
import {
  judgeHelper,
  judgeHost,
  judgeLogin,
  judgeNotificationDaemon,
  judgeNotifier,
  judgeOutages,
  judgeSessionBus,
  judgeSilence,
} from './desktop-judges.ts';
import type { DoctorContext } from './doctor-context.ts';
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
import {
  getStatePath,
  probeDirectory,
  probeFile,
  probeLock,
  probeNode,
  probeNotifier,
  probeSocket,
  probeTrayHelper,
} from './machine-probes.node.ts';
import { judgeEventFiles, judgeHooks, judgeInstance, judgePort } from './mail-judges.ts';
import { hooksSeen, probeEventFiles, probeInstance, probeProducers, probeSharedFiles } from './mail-probes.node.ts';
import { probePort } from './port.node.ts';
import { judgeProducers, judgeSharedFiles } from './producers.ts';

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
