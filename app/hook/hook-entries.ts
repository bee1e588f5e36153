import { posix, win32 } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isAtLeast, type Version } from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import {
  appendValue,
  blankComments,
  findMember,
  type JsonPart,
  parseParts,
  removeAt,
  replacePart,
} from './json-edit.ts';
import { findPluginOwner, formatPlugin, formatPluginCommand, requireOwnPlugin } from './opencode-plugin.ts';
import {
  createEntries,
  findCommand,
  isOwnHandler,
  parseHandlerPersona,
  type Recipe,
  type SettingsEntry,
} from './recipe.ts';

/** The entries that a settings file must have, and its path for messages. */
export interface HookWish {
  readonly recipe: Recipe;
  /** The program that the entries run. */
  readonly script: string;
  /** What entries of ours ran in an earlier form. */
  readonly olderScripts?: readonly string[];
  /** The entries are the same for every persona, which the script knows by itself. */
  readonly isConstant?: boolean;
  readonly os: NodeJS.Platform;
  /** Null when the variable HIVEBAR_PERSONA names it, or else the session. */
  readonly persona: string | null;
  readonly path: string;
  /** What the key `version` of the file must say; none where the harness has no such key. */
  readonly version?: number | null;
}

/** The state of our hooks in a settings file. */
type HookEntryState = 'installed' | 'old' | 'absent';

export interface HookEntries {
  readonly standing: HookEntryState;
  /** The number of handlers of other programs. */
  readonly foreign: number;
  /** The persona of our hooks. Null when the variable names it, or when there are none of ours. */
  readonly persona: string | null;
  /** The command that the harness runs at the start of a session; null when it is not ours. */
  readonly command: string | null;
}

const EMPTY = '{}\n';

/**
 * Adds our hooks to the settings and removes those of an older form. Everything else stays the same, byte by byte. If nothing
 * must change, the text stays the same.
 *
 * @param text null when there is no file
 * @throws Fault `settings` for what cannot be read as settings
 */
export function addHooks(text: string | null, wish: HookWish): string {
  const { recipe, version = null } = wish;
  if (recipe.form.is === 'plugin') return replacePlugin(text, wish);
  let now = text === null || text.trim() === '' ? EMPTY : text;
  const isFirst = filterOwn(listHandlers(now, wish)).length === 0;
  for (const event of Object.keys(recipe.events)) {
    const entries = createEntries(recipe, event, wish);
    const ours = filterOwn(listHandlers(now, wish)).filter((own) => own.event === event);
    if (areCurrent(ours, entries)) continue;
    const replaced = replaceItems(now, ours, entries);
    now = replaced ?? removeOwn(now, wish, event);
    if (replaced === null) for (const { item } of entries) now = addItem(now, wish, event, item);
  }
  const top = parseParts(now);
  if (isFirst && version !== null && top.is === 'object' && findMember(top, 'version') === undefined)
    now = appendValue(now, top, version, 'version');
  return removeOwn(now, wish, null);
}

/**
 * Removes our hooks, and the lists that only they were in. The earlier text is restored: byte by byte if nothing else was changed
 * since, otherwise with an empty `hooks` that may have been there.
 *
 * @param before the settings before our hooks were added; null when not known, or when there were none
 * @throws Fault `settings`
 */
export function removeHooks(text: string, wish: HookWish, before: string | null = null): string {
  if (wish.recipe.form.is === 'plugin') return removePlugin(text, wish);
  const clean = removeAllOwn(text, wish);
  if (before === null || clean === text) return clean;
  if (canonicalize(before, wish) === canonicalize(clean, wish)) return before;
  const top = clean.trim() === '' ? null : parseParts(clean);
  const had = parseHooks(before);
  if (top?.is !== 'object' || had === null || findMember(top, 'hooks') !== undefined) return clean;
  return appendValue(clean, top, {}, 'hooks');
}

/** Whether nothing stands in the settings but what every file of this harness says. */
export function isEmptySettings(text: string, { version = null }: Pick<HookWish, 'version'>): boolean {
  const value = canonicalizeJson(text);
  return text.trim() === '' || value === '{}' || (version !== null && value === JSON.stringify({ version }));
}

/**
 * Returns the same text for two settings that differ only in spelling, or in empty lists of hooks where ours would be. Null when
 * they are not settings.
 */
function canonicalize(text: string, { recipe, version = null }: HookWish): string | null {
  if (text.trim() === '') return '{}';
  if (canonicalizeJson(text) === null) return null;
  const settings = JSON.parse(text) as Record<string, unknown>;
  if (version !== null && settings?.version === version) delete settings.version; // as if ours, which it may be
  const hooks = parseHooks(text);
  if (hooks === null) return JSON.stringify(settings);
  const filled = Object.entries(hooks).filter(
    ([event, groups]) => !(Object.hasOwn(recipe.events, event) && Array.isArray(groups) && groups.length === 0),
  );
  const { hooks: _, ...rest } = settings;
  return JSON.stringify(filled.length === 0 ? rest : { ...rest, hooks: Object.fromEntries(filled) });
}

/** Returns null when there are none, or they cannot be read. */
function parseHooks(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const { hooks } = JSON.parse(text) as { readonly hooks?: unknown };
    return hooks !== null && typeof hooks === 'object' && !Array.isArray(hooks)
      ? (hooks as Record<string, unknown>)
      : null;
  } catch {
    return null; // the earlier text may have been anything
  }
}

function canonicalizeJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null; // the same as above
  }
}

function removeAllOwn(text: string, wish: HookWish): string {
  if (text.trim() === '') return text;
  let now = text;
  for (const event of new Set(filterOwn(listHandlers(now, wish)).map((placed) => placed.event)))
    now = removeOwn(now, wish, event);
  return now;
}

/**
 * Finds our entries, for whichever persona they were installed. Comments are read over, though nothing is written to such a text.
 * @throws Fault `settings`
 */
export function findHookEntries(original: string | null, wish: Omit<HookWish, 'persona'>): HookEntries {
  if (wish.recipe.form.is === 'plugin') return findPlugin(original, wish);
  const text = original === null ? null : toReadable(original);
  const handlers = text === null || text.trim() === '' ? [] : listHandlers(text, wish);
  const ours = filterOwn(handlers);
  const foreign = handlers.length - ours.length;
  if (text === null || ours.length === 0) return { standing: 'absent', foreign, persona: null, command: null };
  const persona = parseHandlerPersona(ours[0]?.value);
  const standing =
    addHooks(text, { ...wish, persona: wish.isConstant === true ? null : persona }) === text ? 'installed' : 'old';
  const first = ours.find(({ event }) => event === 'SessionStart') ?? ours[0];
  return { standing, foreign, persona, command: findCommand(wish.os, first?.value) };
}

/** A handler and its position: its index in its group, and the index of the group in the event. */
export interface PlacedHandler {
  readonly event: string;
  readonly group: number;
  readonly handler: number;
  readonly value: unknown;
  /** That of its group, or its own. */
  readonly matcher: unknown;
  /** No other handler is in its group. */
  readonly isAlone: boolean;
  readonly isOurs: boolean;
}

const filterOwn = (handlers: readonly PlacedHandler[]): readonly PlacedHandler[] =>
  handlers.filter((placed) => placed.isOurs);

function areCurrent(ours: readonly PlacedHandler[], expected: readonly SettingsEntry[]): boolean {
  return (
    ours.length === expected.length &&
    ours.every(({ matcher, value }, at) => {
      const entry = expected[at];
      // A harness that saves its settings orders the keys anew.
      return (matcher ?? null) === entry?.matcher && isDeepStrictEqual(value, entry?.handler);
    })
  );
}

/** Lists every handler of every event. @throws Fault `settings` when the text does not have the form of hooks */
function listHandlers(
  text: string,
  { path, script, olderScripts = [], recipe }: Pick<HookWish, 'path' | 'script' | 'olderScripts' | 'recipe'>,
): readonly PlacedHandler[] {
  const scripts = [script, ...olderScripts];
  const { hooks = {} } = requireObject(parseSettings(text, path), path, 'it');
  return Object.entries(requireObject(hooks, path, 'hooks')).flatMap(([event, items]) =>
    requireList(items, path, `hooks.${event}`).flatMap((item, at) => {
      if (recipe.form.is === 'entries') {
        const { matcher } = requireObject(item, path, `hooks.${event}[${at}]`);
        return [
          { event, group: at, handler: 0, value: item, matcher, isAlone: true, isOurs: isOwnHandler(item, scripts) },
        ];
      }
      const around = requireObject(item, path, `hooks.${event}[${at}]`);
      const handlers = requireList(around.hooks ?? [], path, `hooks.${event}[${at}].hooks`);
      return handlers.map((value, handler) => ({
        event,
        group: at,
        handler,
        value,
        matcher: around.matcher,
        isAlone: handlers.length === 1,
        isOurs: isOwnHandler(value, scripts),
      }));
    }),
  );
}

/** Formats where a handler stands in its file. */
export function formatHandlerKey({ form }: Recipe, { event, group, handler }: PlacedHandler): string {
  if (form.is === 'plugin') return 'SCRIPT';
  return `hooks.${event}[${group}]${form.is === 'groups' ? `.hooks[${handler}]` : ''}`;
}

/** Lists our handlers, with their positions. Comments are read over. @throws Fault `settings` */
export function listOwnHandlers(text: string | null, wish: Omit<HookWish, 'persona'>): readonly PlacedHandler[] {
  if (wish.recipe.form.is === 'plugin') return listPluginHandlers(text);
  return text === null || text.trim() === '' ? [] : filterOwn(listHandlers(toReadable(text), wish));
}

/**
 * Leaves out the events that a program of this version does not know, because it would ignore the whole file. While the version is not
 * known, what is in the settings stays, and nothing is added. @throws Fault `settings`
 */
export function selectKnownEvents(wish: HookWish, text: string | null, findVersion: () => Version | null): HookWish {
  const slots = Object.entries(wish.recipe.events);
  if (slots.every(([, { from }]) => from === undefined)) return wish;
  const version = findVersion();
  const present = new Set(version === null ? listOwnHandlers(text, wish).map(({ event }) => event) : []);
  const known = slots.filter(
    ([name, { from }]) => from === undefined || (version === null ? present.has(name) : isAtLeast(version, from)),
  );
  return { ...wish, recipe: { ...wish.recipe, events: Object.fromEntries(known) } };
}

const toReadable = (text: string): string => (canonicalizeJson(text) === null ? blankComments(text) : text);

/** A plugin file is ours as a whole, or it is left as it is. */
function replacePlugin(text: string | null, { recipe, script, persona, path }: HookWish): string {
  if (text !== null) requireOwnPlugin(text, path);
  return formatPlugin({ script, persona }, recipe.timeout);
}

function removePlugin(text: string, { path }: HookWish): string {
  const owner = findPluginOwner(text);
  if (owner.is === 'changed') requireOwnPlugin(text, path);
  return owner.is === 'ours' ? '' : text;
}

function findPlugin(text: string | null, { recipe, script }: Omit<HookWish, 'persona'>): HookEntries {
  const owner = text === null ? null : findPluginOwner(text);
  if (owner === null || owner.is === 'foreign')
    return { standing: 'absent', foreign: owner === null ? 0 : 1, persona: null, command: null };
  if (owner.is === 'changed') return { standing: 'old', foreign: 0, persona: null, command: null };
  const { persona } = owner.facts;
  const isCurrent = text === formatPlugin({ script, persona }, recipe.timeout);
  return { standing: isCurrent ? 'installed' : 'old', foreign: 0, persona, command: formatPluginCommand(owner.facts) };
}

/** The plugin as one handler, whose command is that of its script. */
function listPluginHandlers(text: string | null): readonly PlacedHandler[] {
  const owner = text === null ? null : findPluginOwner(text);
  if (owner?.is !== 'ours') return [];
  const value = { command: formatPluginCommand(owner.facts) };
  return [{ event: 'SessionStart', group: 0, handler: 0, value, matcher: null, isAlone: true, isOurs: true }];
}

/** Removes ours from this event, or with null from every event that the recipe does not have. */
function removeOwn(text: string, wish: HookWish, event: string | null): string {
  for (let now = text; ; ) {
    const isMeant = (name: string): boolean =>
      event === null ? !Object.hasOwn(wish.recipe.events, name) : name === event;
    const own = filterOwn(listHandlers(now, wish)).find((placed) => isMeant(placed.event));
    if (own === undefined) return now;
    now = removeHandler(now, wish, own);
  }
}

/** Removes the handler, and also its group, event and `hooks` if they are empty then. */
function removeHandler(text: string, { recipe }: HookWish, { event, group, handler }: PlacedHandler): string {
  const top = parseParts(text);
  const hooks = findMember(top, 'hooks')?.value;
  const groups = hooks === undefined ? undefined : findMember(hooks, event)?.value;
  if (top.is !== 'object' || hooks?.is !== 'object' || groups?.is !== 'array') return text;
  if (recipe.form.is === 'groups') {
    const around = groups.items[group];
    const handlers = around === undefined ? undefined : findMember(around, 'hooks')?.value;
    if (handlers?.is !== 'array') return text;
    if (handlers.items.length > 1) return removeAt(text, handlers, handler);
  }
  if (groups.items.length > 1) return removeAt(text, groups, group);
  if (hooks.members.length > 1) return removeAt(text, hooks, findMemberIndex(hooks, event));
  return removeAt(text, top, findMemberIndex(top, 'hooks'));
}

/**
 * Replaces the items of our handlers, so that no other one moves: Codex trusts a hook at its position. Null when there are more or
 * fewer, or a handler is not alone in its group.
 */
function replaceItems(text: string, own: readonly PlacedHandler[], entries: readonly SettingsEntry[]): string | null {
  if (own.length !== entries.length || own.some(({ isAlone }) => !isAlone)) return null;
  let now = text;
  for (const [at, { event, group }] of own.entries()) {
    const hooks = findMember(parseParts(now), 'hooks')?.value;
    const list = hooks === undefined ? undefined : findMember(hooks, event)?.value;
    const part = list?.is === 'array' ? list.items[group] : undefined;
    if (part === undefined) return null;
    now = replacePart(now, part, entries[at]?.item);
  }
  return now;
}

function addItem(text: string, { path }: HookWish, event: string, item: object): string {
  const top = parseParts(text);
  const hooks = findMember(top, 'hooks')?.value;
  if (top.is === 'object' && hooks === undefined) return appendValue(text, top, { [event]: [item] }, 'hooks');
  if (hooks?.is !== 'object') throw createSettingsFault(path, 'hooks is not an object');
  const groups = findMember(hooks, event)?.value;
  if (groups === undefined) return appendValue(text, hooks, [item], event);
  if (groups.is !== 'array') throw createSettingsFault(path, `hooks.${event} is not a list`);
  return appendValue(text, groups, item);
}

function findMemberIndex(part: Extract<JsonPart, { is: 'object' }>, key: string): number {
  return part.members.findLastIndex((member) => member.key === key);
}

function parseSettings(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw createSettingsFault(
      path,
      `it is not JSON (${error instanceof Error ? error.message : String(error)}). hivebar hook print shows what to add by hand`,
      error,
    );
  }
}

function requireObject(value: unknown, path: string, subject: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw createSettingsFault(path, `${subject} is not an object`);
}

function requireList(value: unknown, path: string, subject: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw createSettingsFault(path, `${subject} is not a list`);
}

function createSettingsFault(path: string, why: string, cause?: unknown): Fault {
  return new Fault('settings', `${path} is left as it is: ${why}`, { is: 'machine', key: 'hook' }, { cause });
}

/**
 * Lists where a Node may be that belongs to the package, besides the one that runs it: the package `node` in its own modules or
 * beside it, and the Node into whose prefix the package was installed (`PREFIX/lib/node_modules/hivebar`, on Windows
 * `PREFIX\\node_modules\\hivebar`). The last one survives an upgrade in which the real path of Node contains its version.
 *
 * @param root the folder of the package, absolute
 */
export function findNodeCandidates(root: string, os: NodeJS.Platform): readonly string[] {
  const { join, dirname, basename } = os === 'win32' ? win32 : posix;
  const modules = dirname(root);
  const own = ['node', 'bin', os === 'win32' ? 'node.exe' : 'node'];
  const isInModules = basename(modules) === 'node_modules';
  const prefix = dirname(modules);
  return [
    join(root, 'node_modules', ...own),
    ...(isInModules ? [join(modules, ...own)] : []),
    ...(isInModules && os === 'win32' ? [join(prefix, 'node.exe')] : []),
    ...(isInModules && os !== 'win32' && basename(prefix) === 'lib' ? [join(dirname(prefix), 'bin', 'node')] : []),
  ];
}
