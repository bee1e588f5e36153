import { dirname, resolve } from 'node:path';
import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realRandom, realSpawn } from '../../core/ports/index.ts';
import { createRealDisk, type Disk, findOwnDirs, takeOthersLock } from '../../core/state/index.ts';
import { openSettings } from '../config/tray/index.ts';
import { createOwnHeadlessService } from '../service/index.ts';
import { type Deployment, listDeployedDirectories, readDeployment } from './deployed/index.ts';
import { quoteShellWord } from './doctor/index.ts';
import { type MigrationDecision, migrateToHeadless, migrateToTray } from './migrate-positions.ts';
import { createStderrLog, getHostOs } from './process.node.ts';
import { parseServiceFlags } from './service-flags.ts';

export const command = defineCommand(
  {
    name: 'migrate',
    about: [
      'Imports the positions of the Kijito inbox monitor, so that no mail is delivered twice and none is lost. It looks in',
      '~/.cache/kijito-inbox-monitor, ~/.local/state/kijito-inbox-monitor and, on a Mac, Application Support. The monitor and',
      'Hivebar must be stopped. The old files are never changed or deleted, and a newer position here is kept.',
    ],
    flags: {
      headless: {
        type: 'boolean',
        help: 'import into the files of `hivebar service install --headless`, with the same flags after `--`',
      },
      'dry-run': { type: 'boolean', help: 'print what would be done and change nothing' },
      from: { type: 'string', value: 'DIR', completes: 'file', multiple: true, help: 'look in this directory instead' },
    },
    rest: { value: 'WATCH-FLAGS', help: 'with --headless: flags of `hivebar watch`' },
    notes: [
      'Exit code 0: everything is imported, now or before; 1: refused or failed, and nothing is imported; 2: a bad command line;',
      '3: some files were left out, and each is named with the reason.',
    ],
    examples: [
      { run: 'hivebar migrate --dry-run', does: 'show what would be imported' },
      { run: 'hivebar migrate', does: 'import for the tray program, which must be closed' },
      { run: 'hivebar migrate --headless -- --hive http://127.0.0.1:7474', does: 'import for the headless service' },
    ],
  },
  async ({ headless, 'dry-run': dryRun, from, rest }, io) => {
    if (rest !== null && !headless) throw toUsageFault(new Error('flags after -- are used only with --headless'));
    const options: MigrateArgs = { headless, dryRun, from, flags: rest ?? [] };
    const disk = createRealDisk(createStderrLog(io, 'hivebar migrate'));
    const places =
      options.from.length > 0 ? options.from.map((dir) => resolve(dir)) : listDefaultDirectories(options, disk, io);
    const deployments = places.flatMap((directory) => readDeployment(directory) ?? []);
    if (deployments.every(({ states }) => states.length === 0)) {
      io.out(`${displayName(`found no position of another monitor in ${places.join(', ')}`)}\n`);
      return 0;
    }
    using held = new DisposableStack();
    const running = lockAll(deployments, disk, held);
    if (running !== null) {
      io.err(
        `hivebar migrate: ${displayName(`${running} is locked: ${formatStopStep(running, disk, io)}, then migrate again`)}\n`,
      );
      return 1;
    }
    const files = deployments.flatMap(({ states }) => states);
    try {
      const decisions = options.headless
        ? migrateToHeadless(files, createHeadlessPlan(options, deployments, disk, io), disk, options.dryRun)
        : await migrateToTray(
            files,
            openSettings(findOwnDirs({ ...io.env }).config).explicitSettings,
            findOwnDirs({ ...io.env }),
            disk,
            options.dryRun,
          );
      return reportDecisions(decisions, options.dryRun, io);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'lock-held') throw error;
      io.err(`hivebar migrate: ${displayName(`${error.message}, then migrate again`)}\n`);
      return 1;
    }
  },
);

/** Says what to stop so that a lock becomes free. */
function formatStopStep(lock: string, disk: Disk, io: Io): string {
  if (dirname(lock) === createService(disk, io).directory)
    return 'the headless watch still runs; run `hivebar service uninstall --headless`, or end its process';
  return STOP[getHostOs()] ?? STOP_ANY;
}

const STOP_ANY = 'the monitor still runs; end its process';
const STOP: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'the monitor still runs; run `launchctl bootout gui/$(id -u)/com.kijito.inbox-monitor`, or end its process',
  linux: "the monitor still runs; run `systemctl --user disable --now 'kijito-inbox-monitor@*'`, or end its process",
};

interface MigrateArgs {
  readonly headless: boolean;
  readonly dryRun: boolean;
  readonly from: readonly string[];
  readonly flags: readonly string[];
}

/** A migration into the tray program also includes the positions of its own headless service. */
function listDefaultDirectories({ headless }: MigrateArgs, disk: Disk, io: Io): readonly string[] {
  const old = listDeployedDirectories(io.env);
  return headless ? old : [...old, createService(disk, io).directory];
}

function createService(disk: Disk, io: Io) {
  return createOwnHeadlessService({ os: getHostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn });
}

/** Takes every lock, so that no monitor starts meanwhile. @returns the first lock that another process holds */
function lockAll(deployments: readonly Deployment[], disk: Disk, held: DisposableStack): string | null {
  for (const path of deployments.flatMap(({ locks }) => locks)) {
    const lock = takeOthersLock(disk, path);
    if (lock === null) return path;
    held.use(lock);
  }
  return null;
}

function createHeadlessPlan({ flags }: MigrateArgs, deployments: readonly Deployment[], disk: Disk, io: Io) {
  const { plan } = parseServiceFlags(createService(disk, io).directory, flags);
  const { stateFile } = plan;
  if (stateFile === null || plan.targets.is === 'url')
    throw toUsageFault(new Error('--url cannot be used here: positions are imported per persona; leave it out'));
  if (deployments.some(({ directory }) => stateFile.startsWith(`${directory}/`)))
    throw toUsageFault(new Error(`--state-file ${stateFile}: is one of the files to import; use another path`));
  return { ...plan, stateFile };
}

function reportDecisions(decisions: readonly MigrationDecision[], dryRun: boolean, io: Io): number {
  const say = (text: string): void => io.out(`${displayName(text)}\n`);
  for (const decision of decisions) say(formatMigration(decision, dryRun));
  const tails = decisions.flatMap((decision) =>
    'target' in decision && decision.target.events !== null ? [decision.target.events] : [],
  );
  if (tails.length > 0) say('agents can follow these files from now on:');
  for (const path of [...new Set(tails)].toSorted()) say(`  tail -F ${quoteShellWord(path)}`);
  return decisions.some(({ is }) => is === 'left') ? 3 : 0;
}

function formatMigration(decision: MigrationDecision, dryRun: boolean): string {
  const { path } = decision;
  switch (decision.is) {
    case 'adopted': {
      const { target, from, saved } = decision;
      return `${target.persona}: ${dryRun ? 'would go' : 'went'} from ${from ?? 'no position'} to ${saved.cursor} (${path})`;
    }
    case 'here':
      return `${decision.target.persona}: stays at ${decision.at}, ${decision.at === decision.old ? 'as' : `newer than ${decision.old}`} in ${path}`;
    case 'empty':
      return `${decision.target.persona}: has no position yet in ${path}`;
    case 'left':
      return `left out: ${path} ${decision.why}`;
  }
}
