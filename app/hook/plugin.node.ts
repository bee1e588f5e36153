import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findCodexTrust, type HookTrust } from './codex-trust.ts';
import { readSettingsText } from './harness-settings-file.node.ts';
import type { PlacedHandler } from './hook-entries.ts';
import { findCommand, type HarnessName, type HookGroup } from './recipe.ts';
import { findTomlValue, parseToml } from './toml.ts';

/** Our plugin where an agent program has it, and did not switch it off. Its hooks are silent beside those in settings: docs/decisions/0159. */
export interface HookPlugin {
  /** As the program names it: `hivebar@MARKETPLACE`. */
  readonly id: string;
  /** The folder of the copy that the program runs; null: it is gone. */
  readonly root: string | null;
  /** What the program runs at the start of a session; null when the copy is gone. */
  readonly command: string | null;
  /** Null: the program asks its user for no trust. */
  readonly trust: HookTrust | null;
}

interface PluginPlace {
  readonly os: NodeJS.Platform;
  /** The folder of the program's settings of the user. */
  readonly folder: string;
  /** The texts of the settings, those that decide last. */
  readonly texts: readonly string[];
}

/** How a program installs a plugin. */
interface PluginForm {
  /** The file with the hooks, relative to the folder of the plugin. */
  readonly hooks: string;
  /** What stands in their commands for that folder. */
  readonly variable: string;
  listSwitches(text: string): Readonly<Record<string, unknown>>;
  isOn(value: unknown): boolean;
  findRoot(folder: string, id: string): string | null;
}

const PLUGIN = 'hivebar';

const FORMS: Readonly<Partial<Record<HarnessName, PluginForm>>> = {
  claude: {
    hooks: 'hooks/claude.json',
    variable: 'CLAUDE_PLUGIN_ROOT',
    listSwitches: (text) => toRecord(parseObject(text).enabledPlugins),
    isOn: (value) => value !== false,
    findRoot(folder, id) {
      const { plugins } = parseObject(readTextOrEmpty(join(folder, 'plugins', 'installed_plugins.json')));
      const copies = [toRecord(plugins)[id] ?? []].flat() as readonly { readonly installPath?: unknown }[];
      const roots = copies.map((copy) => copy?.installPath).filter((path) => typeof path === 'string');
      return roots.findLast(existsSync) ?? null;
    },
  },
  codex: {
    hooks: 'hooks/codex.json',
    variable: 'PLUGIN_ROOT',
    listSwitches: (text) => toRecord(findTomlValue(parseToml(text) ?? {}, 'plugins')),
    isOn: (value) => toRecord(value).enabled !== false,
    findRoot(folder, id) {
      const cache = join(folder, 'plugins', 'cache', id.slice(PLUGIN.length + 1), PLUGIN);
      const versions = listNames(cache);
      const version = versions.find((name) => name === 'local') ?? versions.at(-1);
      return version === undefined ? null : join(cache, version);
    },
  },
};

/** Finds our plugin, whichever marketplace it came from. Null: none is installed, or its user switched it off. */
export function findPlugin(harness: HarnessName, { os, folder, texts }: PluginPlace): HookPlugin | null {
  const form = FORMS[harness];
  if (form === undefined || (harness === 'codex' && os === 'win32')) return null; // there its hooks do nothing
  const switches = Object.assign({}, ...texts.map(form.listSwitches)) as Readonly<Record<string, unknown>>;
  const id = Object.keys(switches).find((name) => name.startsWith(`${PLUGIN}@`) && form.isOn(switches[name]));
  if (id === undefined) return null;
  const root = form.findRoot(folder, id);
  const handlers = root === null ? [] : listHandlers(readTextOrEmpty(join(root, form.hooks)));
  const start = handlers.find(({ event }) => event === 'SessionStart')?.value;
  const command = findCommand(os, start)?.replaceAll(`\${${form.variable}}`, () => root ?? '') ?? null;
  return { id, root, command, trust: harness === 'codex' ? readTrust(id) : null };

  function readTrust(pluginId: string): HookTrust {
    const path = join(folder, 'config.toml');
    // Codex knows the hooks of a plugin by its id, so a new version keeps their trust.
    return findCodexTrust({ path, text: readTextOrEmpty(path) }, [`${pluginId}:${form?.hooks}`], handlers, os);
  }
}

function listHandlers(text: string): readonly PlacedHandler[] {
  const hooks = toRecord(parseObject(text).hooks) as Readonly<Record<string, readonly HookGroup[]>>;
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher, hooks: handlers }, group) =>
      handlers.map((value, handler) => ({ event, group, handler, value, matcher, isAlone: true, isOurs: true })),
    ),
  );
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // there is none, and then no copy
  }
}

/** A file that cannot be read says nothing here: the program reads it, too, and reports what is wrong. */
function readTextOrEmpty(path: string): string {
  try {
    return readSettingsText(path) ?? '';
  } catch {
    return ''; // see above
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return toRecord(JSON.parse(text));
  } catch {
    return {}; // as an absent file
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
