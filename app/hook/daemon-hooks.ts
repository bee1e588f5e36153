import { join } from 'node:path';
import { formatList } from '../../core/format/index.ts';
import {
  type DaemonConfig,
  type DaemonInstallation,
  findOwnDaemonPlaces,
  LOCAL,
  loadInstalledDaemons,
} from '../../core/link/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { SOURCES } from '../../core/sources/registry.ts';
import { type Disk, isLocked } from '../../core/state/index.ts';
import type { HookTrust } from './codex-trust.ts';
import type { HookInstaller, HookScope, HookStatus } from './hook-installer.ts';
import { createHookInstaller } from './own-installer.node.ts';
import { HARNESSES, type HarnessName, RECIPES } from './recipe.ts';

const HARNESS_OF_SURFACE: Readonly<Record<string, HarnessName>> = { 'claude-code': 'claude', codex: 'codex' };

/**
 * Returns why a daemon of that surface is told of no turn boundary, and so never rings: neither the hooks of its user nor those
 * of its project run. Null when hooks run or the surface has none.
 * @throws Fault `settings`, `unreadable`
 */
export async function findDeafness(
  { surface, project }: { readonly surface: string; readonly project: string },
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const harness = HARNESS_OF_SURFACE[surface];
  if (harness === undefined) return null;
  const { label } = RECIPES[harness];
  const installer = createHookInstaller(env, project);
  const troubles: string[] = [];
  for (const scope of ['user', 'project'] satisfies readonly HookScope[]) {
    const [tried] = await checkHooks(installer, scope, [harness]);
    if (tried === undefined || !isInstalled(tried)) continue;
    const trouble = findHookTrouble(tried);
    if (trouble === null) return null;
    troubles.push(trouble);
  }
  const [first] = troubles;
  return first === undefined
    ? `${label} has no hooks: run hivebar hook install --harness ${harness}`
    : `the hooks of ${label} do not work: ${first}`;
}

/** What is installed for one harness, and how its command failed when it was run. Null when it answered, or was not run. */
export interface HookCheck extends HookStatus {
  readonly harness: HarnessName;
  readonly failure: string | null;
}

/**
 * Reads the hooks of each harness and runs them once. Where several harnesses are read, one whose settings cannot be read and do not
 * name our script has none. @throws Fault `settings`, `unreadable`
 */
export function checkHooks(
  installer: HookInstaller,
  scope: HookScope,
  harnesses: readonly HarnessName[] = HARNESSES,
): Promise<readonly HookCheck[]> {
  const isMeant = (harness: HarnessName): boolean =>
    harnesses.length === 1 || isReadable(installer, harness, scope) || installer.isMentioned(harness, scope);
  return Promise.all(
    harnesses.filter(isMeant).map(async (harness) => {
      const status = installer.readStatus(harness, scope);
      // Hooks that the harness does not run are not tried.
      const failure = status.obstacles.length > 0 ? null : await installer.probe(status);
      return { harness, ...status, failure };
    }),
  );
}

/** Whether the settings of a harness can be read. What cannot be read and is none of ours is the business of the harness. */
export function isReadable(installer: HookInstaller, harness: HarnessName, scope: HookScope): boolean {
  try {
    installer.readStatus(harness, scope);
    return true;
  } catch {
    return false; // the harness reports it itself
  }
}

/** Whether a harness has our hooks, in its settings or as a plugin. */
export function isInstalled({ standing, plugin }: HookCheck): boolean {
  return standing !== 'absent' || plugin !== null;
}

/** Returns why installed hooks do not work, and the next step. Null when they work or none are installed. */
export function findHookTrouble(check: HookCheck): string | null {
  const { harness, standing, missing, script, obstacles, failure, trust } = check;
  if (standing === 'absent') return findPluginTrouble(check);
  if (missing !== null) return `${missing}: run hivebar hook install`;
  if (standing === 'old') return 'the entries are out of date: run hivebar hook install';
  if (script !== 'right') return `its script is ${script}: run hivebar hook install`;
  if (obstacles.length > 0) return `they do not run: ${obstacles.join('; ')}`;
  if (failure !== null) return `they do not work: ${failure}: run hivebar hook install`;
  return trust === null ? null : findDistrust(harness, trust);
}

function findPluginTrouble({ harness, plugin, obstacles, failure }: HookCheck): string | null {
  if (plugin === null) return null;
  if (plugin.root === null) return `the plugin ${plugin.id} is gone: install it again in ${RECIPES[harness].label}`;
  if (obstacles.length > 0) return `they do not run: ${obstacles.join('; ')}`;
  if (failure !== null) return `they do not work: ${failure}: start Hivebar, which mends their script`;
  return plugin.trust === null ? null : findDistrust(harness, plugin.trust);
}

const DISTRUST = {
  untrusted: 'not trusted',
  modified: 'not trusted in this form',
  'switched-off': 'switched off',
} as const satisfies Readonly<Record<Exclude<HookTrust['is'], 'trusted'>, string>>;

/** Returns why a harness that asks for trust does not run hooks, and the next step. Null: it runs them. */
export function findDistrust(harness: HarnessName, { is, file, keys }: HookTrust): string | null {
  if (is === 'trusted') return null;
  const { label } = RECIPES[harness];
  const named = formatList(
    keys.map((key) => JSON.stringify(key)),
    1,
  );
  return `installed, ${DISTRUST[is]}: run /hooks in ${label} (${file}: hooks.state.${named})`;
}

/** The prefix of personas on the board that are daemons; see ARCHITECTURE, decision 2. */
const BOARD_PREFIX = SOURCES.daemon.prefix;

/**
 * Finds the daemons that were installed for a persona, given by its id, its name in the local hive or its id on the board. A
 * daemon whose configuration cannot be read is left out here; the daemon itself, the doctor and the list report it.
 *
 * @param name of the persona in the local hive
 */
export function findPersonaDaemons(
  disk: Disk,
  state: string,
  persona: PersonaId,
  name: string,
): readonly DaemonConfig[] {
  return filterByPersona(readInstalled(disk, state), persona, name);
}

/** Returns whether a daemon of the persona runs, which then is the only one to wake its agent. */
export function hasRunningDaemon(
  { disk, state, env }: { readonly disk: Disk; readonly state: string; readonly env: HookEnvironment },
  persona: PersonaId,
  name: string,
): boolean {
  return findPersonaDaemons(disk, state, persona, name).some((config) =>
    isLocked(disk, `${findOwnDaemonPlaces(config, env).locked}.lock`),
  );
}

type HookEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Creates the check whether a persona has a daemon whose upstream is not the local hive. What waits for the persona there is
 * known to that daemon only. The installed configuration is read at the first call, and not again.
 */
export function createElsewhereCheck(disk: Disk, state: string): (persona: PersonaId, name: string) => boolean {
  let installed: readonly DaemonInstallation[] | null = null;
  return (persona, name) => {
    installed ??= readInstalled(disk, state);
    return filterByPersona(installed, persona, name).some(({ upstream }) => upstream !== LOCAL);
  };
}

const readInstalled = (disk: Disk, state: string): readonly DaemonInstallation[] =>
  loadInstalledDaemons(disk, join(state, 'daemons'));

function filterByPersona(
  installed: readonly DaemonInstallation[],
  persona: PersonaId,
  name: string,
): readonly DaemonConfig[] {
  return installed.flatMap((entry) => {
    if (entry.is === 'bad') return [];
    const { address } = entry.config;
    const isOurs = address === persona || address === name || persona === `${BOARD_PREFIX}${entry.name}`;
    return isOurs ? [entry.config] : [];
  });
}
