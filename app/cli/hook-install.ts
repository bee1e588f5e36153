import { type Io, joinWithOr, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName } from '../../core/format/index.ts';
import {
  BACKUP,
  checkHooks,
  createHookInstaller,
  findDistrust,
  findHookTrouble,
  HARNESSES,
  type HarnessName,
  type HookCheck,
  type HookInstaller,
  type HookScope,
  isInstalled,
  isReadable,
  RECIPES,
} from '../hook/index.ts';
import type { HookInstallValues } from './hook-schema.ts';

/** Exit code: our hooks are not installed, not as this program would install them, or the agent program does not run them. */
const EXIT_NOT_RUNNING = 1;

/**
 * Runs `hivebar hook install|uninstall|status`.
 * @returns the exit code
 * @throws Fault `usage`, or `settings`, `unreadable`, `unwritable` for settings that are left unchanged
 */
export async function runHookInstall(values: HookInstallValues, io: Io): Promise<number> {
  const scope: HookScope = values.project ? 'project' : 'user';
  const installer = createHookInstaller(io.env);
  if (values.verb === 'print') {
    const [harness, persona] = [parseHarness(values.name), parsePersona(values.persona)];
    if (harness !== null) print(installer, harness, scope, persona, io);
    return 0;
  }
  const harness = parseHarness(values.harness);
  switch (values.verb) {
    case 'install': {
      const persona = parsePersona(values.persona);
      return install(installer, selectHarnesses(installer, harness, scope), scope, persona, io);
    }
    case 'uninstall':
      return uninstall(installer, harness === null ? HARNESSES : [harness], scope, io);
    case 'status':
      return await showHookStatus(installer, harness === null ? HARNESSES : [harness], scope, values.json, io);
  }
}

function parseHarness(text: string | undefined): HarnessName | null {
  if (text === undefined) return null;
  const harness = HARNESSES.find((name) => name === text);
  if (harness === undefined) throw toUsageFault(new Error(`--harness ${text}: must be ${joinWithOr(HARNESSES)}`));
  return harness;
}

function parsePersona(text: string | undefined): string | null {
  if (text !== undefined && (text.trim() === '' || /\p{Cc}/u.test(text)))
    throw toUsageFault(new Error('--persona is empty or holds control characters'));
  return text ?? null;
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
    new Error(`no agent program that Hivebar knows is used ${where}: use --harness ${joinWithOr(HARNESSES)}`),
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
  let code = 0;
  for (const harness of harnesses) {
    // Without a new persona, the one of an earlier install stays.
    const whose = persona ?? installer.readStatus(harness, scope).persona;
    const { path, changed } = installer.install(harness, scope, whose);
    const { label } = RECIPES[harness];
    const owner = whose === null ? 'whoever HIVEBAR_PERSONA names' : displayName(whose);
    io.out(`${label}: ${changed ? 'installed' : 'installed already'} for ${owner} in ${displayName(path)}\n`);
    const previous = RECIPES[harness].form.is === 'plugin' ? '' : `; the previous settings are in *${BACKUP}`;
    if (changed) io.out(`  restart running sessions if they do not use the hooks${previous}\n`);
    for (const event of installer.listLeftOut(harness, scope))
      io.out(`  without ${event}: there is no ${label} on PATH that is known to know it\n`);
    const { obstacles, trust } = installer.readStatus(harness, scope);
    for (const obstacle of obstacles) io.err(`hivebar hook: ${label} will not run them: ${displayName(obstacle)}\n`);
    const distrust = trust === null ? null : findDistrust(harness, trust);
    if (distrust !== null) io.out(`  ${displayName(distrust)}\n`);
    if (obstacles.length > 0 || distrust !== null) code = EXIT_NOT_RUNNING;
  }
  return code;
}

/** The path goes to stderr, so that the text can go into a file. */
function print(installer: HookInstaller, harness: HarnessName, scope: HookScope, persona: string | null, io: Io): void {
  const { path, text } = installer.print(harness, scope, persona);
  io.err(`hivebar hook: add this to ${displayName(path)}, and restart running sessions of ${RECIPES[harness].label}\n`);
  io.out(text);
}

function uninstall(installer: HookInstaller, harnesses: readonly HarnessName[], scope: HookScope, io: Io): number {
  for (const harness of harnesses) {
    const isNone =
      harnesses.length > 1 && !isReadable(installer, harness, scope) && !installer.isMentioned(harness, scope);
    if (isNone) continue;
    const { path, changed } = installer.uninstall(harness, scope);
    if (!changed && harnesses.length > 1 && !installer.isUsed(harness, scope)) continue;
    io.out(
      `${RECIPES[harness].label}: ${changed ? 'removed from' : 'found no hooks of Hivebar in'} ${displayName(path)}\n`,
    );
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
  const listed = results.filter((result) => isInstalled(result) || installer.isUsed(result.harness, scope));
  if (json) io.out(`${displayJson(JSON.stringify(results))}\n`);
  else if (listed.length === 0)
    io.out('no hooks are installed, and no agent program that Hivebar knows is used here\n');
  else for (const result of listed) io.out(`${formatResult(result)}\n`);
  const ours = results.filter(isInstalled);
  return ours.length > 0 && ours.every((result) => findHookTrouble(result) === null) ? 0 : EXIT_NOT_RUNNING;
}

function formatResult(result: HookCheck): string {
  const { harness, standing, persona, foreign, path, plugin } = result;
  const { label } = RECIPES[harness];
  const words = [`${label.padEnd(12)} ${(standing === 'absent' && plugin !== null ? 'plugin' : standing).padEnd(10)}`];
  if (standing !== 'absent') words.push(persona === null ? 'HIVEBAR_PERSONA' : displayName(persona));
  else if (plugin !== null) words.push(`installed as a plugin of ${label}`, displayName(plugin.id));
  if (foreign > 0) words.push(`${foreign} other ${foreign === 1 ? 'hook' : 'hooks'}`);
  words.push(displayName(standing === 'absent' && plugin !== null ? (plugin.root ?? path) : path));
  if (standing !== 'absent' && plugin !== null) words.push(`(its plugin ${displayName(plugin.id)} is silent)`);
  const trouble = findHookTrouble(result);
  if (trouble !== null) words.push(`(${displayName(trouble)})`);
  return words.join('  ');
}
