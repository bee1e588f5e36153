import { join } from 'node:path';
import { defineCommand, type Io } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { loadInstalledDaemons, readOwnSurroundings, toDaemonsDir } from '../../core/link/index.ts';
import { toFault } from '../../core/model/index.ts';
import { realRandom, realSpawn } from '../../core/ports/index.ts';
import { createRealDisk, findOwnHome, readText } from '../../core/state/index.ts';
import { createHookInstaller, HARNESSES, RECIPES } from '../hook/index.ts';
import { createOwnHeadlessService, createOwnLoginStart } from '../service/index.ts';
import { askPerson } from './ask.node.ts';
import { createStderrLog, getHostOs } from './process.node.ts';
import { planPurge, purge } from './purge.node.ts';
import { findTray, stopTray } from './running-tray.node.ts';

export const command = defineCommand(
  {
    name: 'uninstall',
    about: [
      'Ends the program and takes back what it installed elsewhere: hooks of agent',
      'programs, start at login, services, persona daemons. It says each of them.',
    ],
    flags: {
      purge: { type: 'boolean', help: 'also remove all mail, decisions, settings and logs' },
      yes: { type: 'boolean', help: 'with --purge: do not ask' },
    },
    notes: ['The program itself is removed by what installed it, such as npm.'],
    examples: [
      { run: 'hivebar uninstall', does: 'mail and settings stay' },
      { run: 'hivebar uninstall --purge', does: 'nothing stays; it asks first' },
    ],
  },
  async ({ purge: purges, yes }, io) => {
    const plan = purges ? planPurge(io) : null;
    if (plan !== null && plan.goes.length > 0 && !yes) {
      for (const path of plan.goes) io.err(`${displayName(path)}\n`);
      if (!(await askPerson('Remove these for good, with all mail in them? [y/N] '))) {
        io.err('nothing was removed\n');
        return 1;
      }
    }
    let failed = false;
    for (const step of STEPS) {
      try {
        for (const line of await step(io)) io.out(`${displayName(line)}\n`);
      } catch (error) {
        failed = true;
        io.err(`hivebar uninstall: ${displayName(toFault(error, { is: 'machine', key: 'uninstall' }).explain())}\n`);
      }
    }
    if (failed) {
      const purged = purges ? ', and nothing was purged' : '';
      io.err(`hivebar uninstall: the rest is done${purged}: mend that and run it again\n`);
      return 1;
    }
    if (purges) {
      const now = planPurge(io); // ending the program removed some files
      purge(now);
      for (const path of now.goes) io.out(`${displayName(`removed ${path}`)}\n`);
      for (const path of now.stays) io.out(`${displayName(`kept, because it is not of Hivebar: ${path}`)}\n`);
    }
    io.out('remove the program itself with: npm uninstall --global hivebar\n');
    return 0;
  },
);

/** Each returns what it removed, a line each. The program ends first, because it would repair what is missing. */
const STEPS: readonly ((io: Io) => Promise<readonly string[]>)[] = [
  async ({ env }) => {
    const tray = await findTray(env);
    if (tray === null) return [];
    await stopTray(tray, env);
    return ['hivebar has stopped'];
  },
  removeDaemons,
  async (io) => removeHooks(io),
  removeServices,
  async (io) => removeCompletions(io),
];

async function removeDaemons(io: Io): Promise<readonly string[]> {
  const disk = createRealDisk(createStderrLog(io, 'hivebar uninstall'));
  const names = loadInstalledDaemons(disk, toDaemonsDir(readOwnSurroundings(io.env))).map(({ name }) => name);
  if (names.length === 0) return [];
  const { destroy } = await import('./daemon/retire.ts');
  const code = await destroy.run([...names], io); // it says what became of each
  if (code !== 0) throw new Error('a persona daemon could not be removed');
  return [];
}

/** The hooks of the user, and those of the current folder where a project has some. */
function removeHooks(io: Io): readonly string[] {
  const installer = createHookInstaller(io.env);
  const lines: string[] = [];
  for (const scope of ['user', 'project'] as const)
    for (const harness of HARNESSES) {
      if (!installer.isUsed(harness, scope) && !installer.isMentioned(harness, scope)) continue;
      const { label } = RECIPES[harness];
      const { path, changed } = installer.uninstall(harness, scope);
      if (changed) lines.push(`removed the hooks of ${label} from ${path}`);
      const plugin = scope === 'user' ? installer.readStatus(harness, scope).plugin : null;
      if (plugin !== null) lines.push(`the plugin ${plugin.id} stays: ${label} itself removes it`);
    }
  return lines;
}

async function removeServices(io: Io): Promise<readonly string[]> {
  const disk = createRealDisk(createStderrLog(io, 'hivebar uninstall'));
  const machine = { os: getHostOs(), env: io.env, disk, random: realRandom, spawn: realSpawn };
  const lines: string[] = [];
  const login = createOwnLoginStart(machine);
  const before = await login.check();
  if (before.is === 'on' || (before.is === 'off' && before.path !== null)) {
    await login.set(false);
    lines.push(`removed start at login: ${before.path}`);
  } else if (before.is === 'foreign') lines.push(`${before.path} ${before.why}, and stays`);
  const service = createOwnHeadlessService(machine);
  const headless = service.check();
  if (headless.is === 'ours') {
    await service.uninstall();
    lines.push(`removed the headless service: ${headless.path}`);
  }
  return lines;
}

const MOST_BYTES = 1024 * 1024;

/** The one script that a shell reads from a file of its own; bash and zsh evaluate the command instead. */
function removeCompletions(io: Io): readonly string[] {
  const { files } = createRealDisk(createStderrLog(io, 'hivebar uninstall'));
  const configHome = io.env.XDG_CONFIG_HOME?.startsWith('/') ? io.env.XDG_CONFIG_HOME : join(findOwnHome(), '.config');
  const path = join(configHome, 'fish', 'completions', 'hivebar.fish');
  const text = readText(files, path, MOST_BYTES);
  if (text === null || !text.startsWith('# fish completion for hivebar')) return [];
  files.unlink(path);
  return [`removed ${path}`];
}
