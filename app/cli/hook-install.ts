import { parseArgs } from 'node:util';
import type { Io } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import {
  BACKUP,
  checkHooks,
  createHookInstaller,
  findHookTrouble,
  HARNESSES,
  type HarnessName,
  type HookCheck,
  type HookInstaller,
  type HookScope,
  RECIPES,
} from '../hook/index.ts';

/** Exit code: our hooks are not installed, or not as this program would install them. */
const EXIT_NOT_INSTALLED = 1;

/** The words of `hivebar hook` that manage the settings of harnesses. */
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
 * Runs `hivebar hook install|uninstall|status`.
 * @param args the word and its arguments
 * @returns the exit code
 * @throws Fault `usage`, or `settings`, `unreadable`, `unwritable` for settings that are left unchanged
 */
export async function runHookInstall(args: readonly string[], io: Io): Promise<number> {
  const { verb, harness, persona, scope, json } = parseArguments(args);
  const installer = createHookInstaller(io.env);
  switch (verb) {
    case 'install':
      return install(installer, selectHarnesses(installer, harness, scope), scope, persona, io);
    case 'uninstall':
      return uninstall(installer, harness === null ? HARNESSES : [harness], scope, io);
    case 'status':
      return await showHookStatus(installer, harness === null ? HARNESSES : [harness], scope, json, io);
  }
}

/** Selects the named harness, else each harness that is used here. */
function selectHarnesses(
  installer: HookInstaller,
  named: HarnessName | null,
  scope: HookScope,
): readonly HarnessName[] {
  if (named !== null) return [named];
  const used = HARNESSES.filter((name) => installer.isUsed(name, scope));
  if (used.length > 0) return used;
  const where = scope === 'user' ? 'by this user' : 'in this folder';
  throw toUsageFault(
    new Error(`no agent program is used ${where} that Hivebar knows: name it with --harness claude|codex`),
  );
}

function install(
  installer: HookInstaller,
  harnesses: readonly HarnessName[],
  scope: HookScope,
  persona: string | null,
  io: Io,
): number {
  // Check all harnesses first, so that either all are installed or none.
  for (const harness of harnesses) installer.check(harness, scope);
  for (const harness of harnesses) {
    // Without a new persona, the one of an earlier install stays.
    const whose = persona ?? installer.readStatus(harness, scope).persona;
    const { path, changed } = installer.install(harness, scope, whose);
    const { label } = RECIPES[harness];
    const owner = whose === null ? 'whoever HIVEBAR_PERSONA names' : displayName(whose);
    io.out(`${label}: ${changed ? 'installed' : 'installed already'} for ${owner} in ${displayName(path)}\n`);
    if (changed) io.out(`  sessions that run now may have to be started again; the settings of before: *${BACKUP}\n`);
    for (const obstacle of installer.readStatus(harness, scope).obstacles)
      io.err(`hivebar hook: ${label} will not run them: ${displayName(obstacle)}\n`);
    if (changed && harness === 'codex') io.out('  Codex asks whether it may trust new hooks: see /hooks there\n');
  }
  return 0;
}

function uninstall(installer: HookInstaller, harnesses: readonly HarnessName[], scope: HookScope, io: Io): number {
  for (const harness of harnesses) {
    const { path, changed } = installer.uninstall(harness, scope);
    io.out(`${RECIPES[harness].label}: ${changed ? 'removed from' : 'nothing of ours in'} ${displayName(path)}\n`);
  }
  return 0;
}

async function showHookStatus(
  installer: HookInstaller,
  harnesses: readonly HarnessName[],
  scope: HookScope,
  json: boolean,
  io: Io,
): Promise<number> {
  const results = await checkHooks(installer, scope, harnesses);
  const listed = results.filter(({ harness, standing }) => standing !== 'absent' || installer.isUsed(harness, scope));
  if (json) io.out(`${displayJson(JSON.stringify(results))}\n`);
  else if (listed.length === 0)
    io.out('no hooks are installed, and no agent program is used here that Hivebar knows\n');
  else for (const result of listed) io.out(`${formatResult(result)}\n`);
  const ours = results.filter(({ standing }) => standing !== 'absent');
  return ours.length > 0 && ours.every((result) => findHookTrouble(result) === null) ? 0 : EXIT_NOT_INSTALLED;
}

function formatResult(result: HookCheck): string {
  const { harness, standing, persona, foreign, path } = result;
  const words = [`${RECIPES[harness].label.padEnd(12)} ${standing.padEnd(10)}`];
  if (standing !== 'absent') words.push(persona === null ? 'HIVEBAR_PERSONA' : displayName(persona));
  if (foreign > 0) words.push(`${foreign} of others`);
  words.push(displayName(path));
  const trouble = findHookTrouble(result);
  if (trouble !== null) words.push(`(${displayName(trouble)})`);
  return words.join('  ');
}

function parseArguments(args: readonly string[]) {
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
    const verb = HOOK_INSTALL_VERBS.find((name) => name === word);
    if (verb === undefined) throw new Error(`say ${HOOK_INSTALL_VERBS.join(', ')}`);
    if (rest.length > 0) throw new Error(`hook ${verb}: ${rest.join(' ')} is too much`);
    const harness = HARNESSES.find((name) => name === values.harness) ?? null;
    if (values.harness !== undefined && harness === null)
      throw new Error(`--harness ${values.harness} is none of ${HARNESSES.join(', ')}`);
    if (values.persona !== undefined && verb !== 'install') throw new Error(`hook ${verb} takes no --persona`);
    if (values.persona !== undefined && (values.persona.trim() === '' || /\p{Cc}/u.test(values.persona)))
      throw new Error('--persona is empty or holds control characters');
    if (values.json && verb !== 'status') throw new Error(`hook ${verb} takes no --json`);
    const scope: HookScope = values.project ? 'project' : 'user';
    return { verb, harness, persona: values.persona ?? null, scope, json: values.json } as const;
  } catch (error) {
    throw toUsageFault(error);
  }
}
