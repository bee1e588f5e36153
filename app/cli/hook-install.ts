import { parseArgs } from 'node:util';
import {
  BACKUP,
  findHookTrouble,
  HARNESSES,
  type HarnessName,
  type HookReach,
  hookInstaller,
  type Installer,
  RECIPES,
  type Tried,
  tryHooks,
} from '../hook/index.ts';
import { printable, printableJson } from '../printable.ts';
import type { Io } from './command.ts';
import { usage } from './outcome.ts';

/** Nothing of ours is installed, or not as this program would. */
const EXIT_NOT_INSTALLED = 1;

/** The words of `hivebar hook` that concern the settings of harnesses. */
export const HOOK_INSTALL_VERBS = ['install', 'uninstall', 'status'] as const;

export const HOOK_INSTALL_ABOUT: readonly string[] = [
  'install    puts the hooks into the settings of the agent programs that are used here, beside those of others',
  'uninstall  takes them out again, and nothing else',
  'status     says whether they are there, right, and run: exit 0, else 1; --json for a script',
  '  --harness claude|codex   only this one (default: each that has a settings folder)',
  '  --persona PERSONA        whom the sessions are (default: the variable HIVEBAR_PERSONA of each session)',
  "  --project                this folder's own settings (.claude/settings.local.json, .codex/hooks.json)",
];

/**
 * `hivebar hook install|uninstall|status`.
 * @param args the word and what follows it
 * @returns the exit code
 * @throws Fault `usage`, or `settings`, `unreadable`, `unwritable` for settings that are left as they are
 */
export async function hookInstall(args: readonly string[], io: Io): Promise<number> {
  const { verb, harness, persona, reach, json } = parsed(args);
  const installer = hookInstaller(io.env);
  switch (verb) {
    case 'install':
      return install(installer, harnessesFor(installer, harness, reach), reach, persona, io);
    case 'uninstall':
      return uninstall(installer, harness === null ? HARNESSES : [harness], reach, io);
    case 'status':
      return await status(installer, harness === null ? HARNESSES : [harness], reach, json, io);
  }
}

/** Those that are meant: the named one, else each that is used here. */
function harnessesFor(installer: Installer, named: HarnessName | null, reach: HookReach): readonly HarnessName[] {
  if (named !== null) return [named];
  const used = HARNESSES.filter((one) => installer.isUsed(one, reach));
  if (used.length > 0) return used;
  const where = reach === 'user' ? 'by this user' : 'in this folder';
  throw usage(new Error(`no agent program is used ${where} that Hivebar knows: name it with --harness claude|codex`));
}

function install(
  installer: Installer,
  harnesses: readonly HarnessName[],
  reach: HookReach,
  persona: string | null,
  io: Io,
): number {
  // All of it can be done, or none is.
  for (const harness of harnesses) installer.check(harness, reach);
  for (const harness of harnesses) {
    // What an earlier install was told stands until another is told something else.
    const whose = persona ?? installer.look(harness, reach).persona;
    const { path, changed } = installer.install(harness, reach, whose);
    const { label } = RECIPES[harness];
    const who = whose === null ? 'whoever HIVEBAR_PERSONA names' : printable(whose);
    io.out(`${label}: ${changed ? 'installed' : 'installed already'} for ${who} in ${printable(path)}\n`);
    if (changed) io.out(`  sessions that run now may have to be started again; the settings of before: *${BACKUP}\n`);
    for (const obstacle of installer.look(harness, reach).obstacles)
      io.err(`hivebar hook: ${label} will not run them: ${printable(obstacle)}\n`);
    if (changed && harness === 'codex') io.out('  Codex asks whether it may trust new hooks: see /hooks there\n');
  }
  return 0;
}

function uninstall(installer: Installer, harnesses: readonly HarnessName[], reach: HookReach, io: Io): number {
  for (const harness of harnesses) {
    const { path, changed } = installer.uninstall(harness, reach);
    io.out(`${RECIPES[harness].label}: ${changed ? 'removed from' : 'nothing of ours in'} ${printable(path)}\n`);
  }
  return 0;
}

async function status(
  installer: Installer,
  harnesses: readonly HarnessName[],
  reach: HookReach,
  json: boolean,
  io: Io,
): Promise<number> {
  const looks = await tryHooks(installer, reach, harnesses);
  const shown = looks.filter(({ harness, standing }) => standing !== 'absent' || installer.isUsed(harness, reach));
  if (json) io.out(`${printableJson(JSON.stringify(looks))}\n`);
  else if (shown.length === 0) io.out('no hooks are installed, and no agent program is used here that Hivebar knows\n');
  else for (const look of shown) io.out(`${lineOf(look)}\n`);
  const ours = looks.filter(({ standing }) => standing !== 'absent');
  return ours.length > 0 && ours.every((look) => findHookTrouble(look) === null) ? 0 : EXIT_NOT_INSTALLED;
}

function lineOf(look: Tried): string {
  const { harness, standing, persona, foreign, path } = look;
  const words = [`${RECIPES[harness].label.padEnd(12)} ${standing.padEnd(10)}`];
  if (standing !== 'absent') words.push(persona === null ? 'HIVEBAR_PERSONA' : printable(persona));
  if (foreign > 0) words.push(`${foreign} of others`);
  words.push(printable(path));
  const trouble = findHookTrouble(look);
  if (trouble !== null) words.push(`(${printable(trouble)})`);
  return words.join('  ');
}

function parsed(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        harness: { type: 'string' },
        persona: { type: 'string' },
        project: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [word, ...rest] = positionals;
    const verb = HOOK_INSTALL_VERBS.find((one) => one === word);
    if (verb === undefined) throw new Error(`say ${HOOK_INSTALL_VERBS.join(', ')}`);
    if (rest.length > 0) throw new Error(`hook ${verb}: ${rest.join(' ')} is too much`);
    const harness = HARNESSES.find((one) => one === values.harness) ?? null;
    if (values.harness !== undefined && harness === null)
      throw new Error(`--harness ${values.harness} is none of ${HARNESSES.join(', ')}`);
    if (values.persona !== undefined && verb !== 'install') throw new Error(`hook ${verb} takes no --persona`);
    if (values.persona !== undefined && (values.persona.trim() === '' || /\p{Cc}/u.test(values.persona)))
      throw new Error('--persona is empty or holds control characters');
    if (values.json && verb !== 'status') throw new Error(`hook ${verb} takes no --json`);
    const reach: HookReach = values.project ? 'project' : 'user';
    return { verb, harness, persona: values.persona ?? null, reach, json: values.json } as const;
  } catch (error) {
    throw usage(error);
  }
}
