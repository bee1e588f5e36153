import { join } from 'node:path';
import {
  type DaemonConfig,
  type DaemonInstallation,
  type DaemonName,
  type DaemonPlaces,
  loadInstalledDaemons,
} from '../../core/link/index.ts';
import { every, type Service, waitUntil } from '../../core/services/index.ts';
import type { Machine } from '../host/machine.node.ts';
import { createDaemonHandle, endDaemon, findHolderPid, isHeld } from '../service/index.ts';
import { type RunningDaemon, startDaemon } from './daemon-child.node.ts';
import { type DaemonExit, decideRestart } from './daemon-restart.ts';

export interface DaemonsServiceOptions {
  /** The directory of everything installed, with one subdirectory per daemon. */
  readonly directory: string;
  readonly findPlaces: (daemon: DaemonName) => DaemonPlaces;
}

type DaemonsMachine = Pick<Machine, 'disk' | 'clock' | 'env' | 'log' | 'random'>;

/** How often the installed daemons are checked. */
const EVERY_MS = 1000;
/** How often a daemon that is not our child is checked for being alive. */
const WATCH_EVERY_MS = 500;

const FILES = ['daemon.json', 'observe.token', 'act.token'] as const;

/** A daemon under supervision. Its loop ends once the daemon is not wanted any more. */
interface SupervisedDaemon {
  readonly name: string;
  readonly places: DaemonPlaces;
  config: DaemonConfig;
  stamp: string;
  isResting: boolean;
  /** Aborted when the installed configuration changed, or when we stop. */
  changed: AbortController;
  isWanted: boolean;
  ended: Promise<void>;
}

/**
 * Runs the daemons that were installed for the tray. Each is a child process that is started again when it ends, and each runs
 * only once (persona daemon, contract 5). A daemon that outlived an earlier tray process is adopted: its lock shows that it runs,
 * so there are never two. All of them end with the service.
 */
export function createDaemonsService(
  { directory, findPlaces }: DaemonsServiceOptions,
  machine: DaemonsMachine,
): Service {
  const { clock } = machine;
  const name = 'persona daemons';
  return {
    name,
    async run(signal) {
      const daemons = superviseDaemons({ directory, findPlaces }, machine, signal);
      try {
        await every({ name, ms: EVERY_MS, clock, round: daemons.check }).run(signal);
      } finally {
        await daemons.end();
      }
    },
  };
}

function superviseDaemons(
  { directory, findPlaces }: DaemonsServiceOptions,
  machine: DaemonsMachine,
  stop: AbortSignal,
) {
  const { disk, clock, env, log, random } = machine;
  const daemons = new Map<string, SupervisedDaemon>();
  const bad = new Map<string, string>();
  let lastStamps = '';
  let cause = '';

  const draw = (): number => Number.parseInt(random.hex(4), 16) / 2 ** 32;

  /** Starts, changes and ends daemons as the installed configuration requires. What cannot be read ends no running daemon. */
  function check(): void {
    try {
      const stamps = readStamps(machine, directory);
      const now = JSON.stringify([...stamps]);
      if (now !== lastStamps) follow(loadInstalledDaemons(disk, directory), stamps);
      lastStamps = now;
      cause = '';
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== cause) log.warn(`the installed daemons cannot be listed: ${why}`);
      cause = why;
    }
  }

  function follow(installed: readonly DaemonInstallation[], stamps: ReadonlyMap<string, string>): void {
    const enabledConfigs = new Map<string, DaemonConfig>();
    for (const daemon of installed) {
      if (daemon.is === 'bad') warnOfBad(daemon.name, daemon.why);
      else bad.delete(daemon.name);
      if (daemon.is === 'good' && daemon.config.owner === 'tray' && !daemon.config.paused)
        enabledConfigs.set(daemon.name, daemon.config);
    }
    for (const daemon of daemons.values()) {
      const config = enabledConfigs.get(daemon.name);
      const stamp = stamps.get(daemon.name) ?? '';
      if (config === undefined) {
        daemon.isWanted = false;
        daemon.changed.abort();
        continue;
      }
      const isOther = JSON.stringify(config) !== JSON.stringify(daemon.config);
      const wakes = isOther || !daemon.isWanted || (daemon.isResting && stamp !== daemon.stamp);
      Object.assign(daemon, { config, stamp, isWanted: true });
      if (wakes) daemon.changed.abort();
    }
    for (const [name, config] of enabledConfigs)
      if (!daemons.has(name)) addDaemon(name, config, stamps.get(name) ?? '');
  }

  function warnOfBad(name: string, why: string): void {
    if (bad.get(name) === why) return;
    bad.set(name, why);
    log.warn(`the daemon ${name} is not started: ${why}`);
  }

  function addDaemon(name: string, config: DaemonConfig, stamp: string): void {
    const daemon: SupervisedDaemon = {
      ...{ name, config, stamp, places: findPlaces(config), isResting: false, isWanted: true },
      changed: new AbortController(),
      ended: Promise.resolve(),
    };
    daemons.set(name, daemon);
    daemon.ended = superviseDaemon(daemon)
      .catch((error: unknown) => log.error(`the daemon ${name} is no longer supervised: ${String(error)}`))
      .then(() => void daemons.delete(name));
  }

  async function superviseDaemon(daemon: SupervisedDaemon): Promise<void> {
    let failures = 0;
    while (daemon.isWanted && !stop.aborted) {
      daemon.changed = new AbortController();
      const changed = AbortSignal.any([daemon.changed.signal, stop]);
      const from = clock.monotonic();
      const exit = await runOnce(daemon, changed).catch(toNotStarted);
      failures =
        exit === 'looked after'
          ? 0
          : await waitAfterExit(daemon, decideRestart(exit, clock.monotonic() - from, failures, draw()), exit, changed);
    }
  }

  /** Runs a daemon until it ends, or ends it when its configuration changed. `looked after` means that no wait is needed. */
  async function runOnce(
    { name, config, places }: SupervisedDaemon,
    changed: AbortSignal,
  ): Promise<DaemonExit | 'looked after'> {
    const isOurs = !isHeld(disk, places);
    const daemon = isOurs ? startDaemon(config, env) : adoptDaemon(places, changed);
    log.info(
      `the daemon ${name} ${isOurs ? 'was started' : 'was running already and is supervised now'} (pid ${daemon.pid})`,
    );
    const exit = await Promise.race([daemon.ended, waitForAbort(changed)]);
    if (exit !== null && daemon.isGone()) {
      const isSecond = exit.is === 'code' && exit.code === 0 && isHeld(disk, places); // that daemon is adopted then
      return isSecond ? 'looked after' : exit;
    }
    const end = await endDaemon(places, stop.aborted ? 'tray quits' : 'changed', daemon, clock);
    if (end === 'stayed')
      log.error(`the daemon ${name} could not be stopped: it still runs after a request to end, SIGTERM and SIGKILL`);
    else log.info(`the daemon ${name} was ended: ${end}`);
    return 'looked after';
  }

  function adoptDaemon(places: DaemonPlaces, changed: AbortSignal): RunningDaemon {
    const target = createDaemonHandle(disk, places);
    const ended = (async (): Promise<DaemonExit> => {
      await waitUntil(target.isGone, WATCH_EVERY_MS, clock, changed);
      return { is: 'unknown' };
    })();
    return { ...target, pid: findHolderPid(disk, places), ended };
  }

  /** @returns the number of failures in a row */
  async function waitAfterExit(
    daemon: SupervisedDaemon,
    decision: ReturnType<typeof decideRestart>,
    exit: DaemonExit,
    changed: AbortSignal,
  ): Promise<number> {
    const how = `the daemon ${daemon.name} ${formatExit(exit)}`;
    if (decision.is === 'again') {
      log.warn(`${how}; it restarts in ${(decision.ms / 1000).toFixed(1)} s`);
      await clock.sleep(decision.ms, changed);
      return changed.aborted ? 0 : decision.failures;
    }
    log.info(`${how}: it is not restarted until it is installed again or Hivebar restarts`);
    daemon.isResting = true;
    await waitForAbort(changed);
    daemon.isResting = false;
    return 0;
  }

  return {
    check,
    async end() {
      for (const daemon of daemons.values()) {
        daemon.isWanted = false;
        daemon.changed.abort();
      }
      await Promise.all([...daemons.values()].map(({ ended }) => ended));
    },
  };
}

function toNotStarted(error: unknown): DaemonExit {
  return { is: 'not-started', why: error instanceof Error ? error.message : String(error) };
}

function formatExit(exit: DaemonExit): string {
  switch (exit.is) {
    case 'code':
      return `ended with ${exit.code}`;
    case 'signal':
      return `was killed by ${exit.signal}`;
    case 'not-started':
      return `could not be started (${exit.why})`;
    case 'unknown':
      return 'is gone';
  }
}

/** Returns for each name a text that changes when one of its files changes. */
function readStamps({ disk: { files } }: Pick<Machine, 'disk'>, directory: string): ReadonlyMap<string, string> {
  const names = files.lstat(directory) === null ? [] : files.readdir(directory).toSorted();
  return new Map(
    names.map((name) => {
      const stats = FILES.map((file) => files.lstat(join(directory, name, file)));
      return [name, stats.map((stat) => `${stat?.ino}:${stat?.size}:${stat?.ctimeMs}`).join(' ')];
    }),
  );
}

function waitForAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
