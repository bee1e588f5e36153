import { Fault } from '../../core/model/index.ts';
import { appended, memberOf, type Part, partsOf, without } from './json-edit.ts';
import { commandOn, type Group, groupFor, personaIn, type Recipe, runsScript } from './recipe.ts';

/** What is to stand in a settings file, and where it is, for messages. */
export interface Wish {
  readonly recipe: Recipe;
  readonly script: string;
  readonly os: NodeJS.Platform;
  /** Null: the variable HIVEBAR_PERSONA says it, else the session. */
  readonly persona: string | null;
  readonly path: string;
}

/** How hooks of ours stand in a settings file. */
export type Standing = 'installed' | 'old' | 'absent';

export interface Found {
  readonly standing: Standing;
  /** Handlers of others. */
  readonly foreign: number;
  /** Whom our hooks are for; null: the variable says it, or there are none of ours. */
  readonly persona: string | null;
  /** What the harness runs at the start of a session; null: nothing of ours. */
  readonly command: string | null;
}

const EMPTY = '{}\n';

/**
 * The settings with our hooks, and with none of an older form; all of others is left, byte by byte. The same text when
 * nothing is to be done.
 *
 * @param text null: there is no file
 * @throws Fault `settings` for what can not be read as settings
 */
export function withHooks(text: string | null, wish: Wish): string {
  let now = text === null || text.trim() === '' ? EMPTY : text;
  const { recipe } = wish;
  for (const event of Object.keys(recipe.events)) {
    const group = groupFor(recipe, event, wish);
    if (isRight(handlersIn(now, wish), event, group)) continue;
    now = withoutOurs(now, wish, event);
    now = withGroup(now, wish, event, group);
  }
  return withoutOurs(now, wish, null);
}

/**
 * The settings without our hooks, and without what only they had filled. What was there before them comes back: byte by byte
 * when nothing else was changed since, else with the empty `hooks` that somebody may have had.
 *
 * @param before the settings before our hooks came into them; null: not known, or there were none
 * @throws Fault `settings`
 */
export function withoutHooks(text: string, wish: Wish, before: string | null = null): string {
  const clean = withoutOursAnywhere(text, wish);
  if (before === null || clean === text) return clean;
  if (canonical(before, wish) === canonical(clean, wish)) return before;
  const top = clean.trim() === '' ? null : partsOf(clean);
  const had = hooksIn(before);
  if (top?.is !== 'object' || had === null || memberOf(top, 'hooks') !== undefined) return clean;
  return appended(clean, top, {}, 'hooks');
}

/** The same for two settings that differ in spelling, or in empty lists of hooks where ours would stand. Null: no settings. */
function canonical(text: string, { recipe }: Wish): string | null {
  if (text.trim() === '') return '{}';
  const hooks = hooksIn(text);
  if (hooks === null) return jsonOr(text);
  const filled = Object.entries(hooks).filter(
    ([event, groups]) => !(Object.hasOwn(recipe.events, event) && Array.isArray(groups) && groups.length === 0),
  );
  const { hooks: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(filled.length === 0 ? rest : { ...rest, hooks: Object.fromEntries(filled) });
}

/** Null: there are none, or nothing that could be read. */
function hooksIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const { hooks } = JSON.parse(text) as { readonly hooks?: unknown };
    return hooks !== null && typeof hooks === 'object' && !Array.isArray(hooks)
      ? (hooks as Record<string, unknown>)
      : null;
  } catch {
    return null; // what it was before may have been anything
  }
}

function jsonOr(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null; // as above
  }
}

function withoutOursAnywhere(text: string, wish: Wish): string {
  if (text.trim() === '') return text;
  let now = text;
  for (const event of new Set(oursIn(handlersIn(now, wish)).map((one) => one.event)))
    now = withoutOurs(now, wish, event);
  return now;
}

/** What stands there, for whomever it was installed. @throws Fault `settings` */
export function found(text: string | null, wish: Omit<Wish, 'persona'>): Found {
  const all = text === null || text.trim() === '' ? [] : handlersIn(text, wish);
  const ours = oursIn(all);
  const foreign = all.length - ours.length;
  if (text === null || ours.length === 0) return { standing: 'absent', foreign, persona: null, command: null };
  const persona = personaIn(ours[0]?.value);
  const standing = withHooks(text, { ...wish, persona }) === text ? 'installed' : 'old';
  const first = ours.find(({ event }) => event === 'SessionStart') ?? ours[0];
  return { standing, foreign, persona, command: commandOn(wish.os, first?.value) };
}

/** A handler and where it is: which of its group's, in which group of the event. */
interface Placed {
  readonly event: string;
  readonly group: number;
  readonly handler: number;
  readonly value: unknown;
  readonly around: Group;
  readonly isOurs: boolean;
}

const oursIn = (all: readonly Placed[]): readonly Placed[] => all.filter((one) => one.isOurs);

function isRight(all: readonly Placed[], event: string, wanted: Group): boolean {
  const ours = oursIn(all).filter((one) => one.event === event);
  const [one] = ours;
  if (one === undefined || ours.length > 1) return false;
  const { matcher } = one.around;
  return matcher === wanted.matcher && JSON.stringify(one.value) === JSON.stringify(wanted.hooks[0]);
}

/** Every handler of every event. @throws Fault `settings` when it has another form than that of hooks */
function handlersIn(text: string, { path, script }: Pick<Wish, 'path' | 'script'>): readonly Placed[] {
  const { hooks = {} } = record(jsonOf(text, path), path, 'it');
  return Object.entries(record(hooks, path, 'hooks')).flatMap(([event, groups]) =>
    list(groups, path, `hooks.${event}`).flatMap((group, at) => {
      const around = record(group, path, `hooks.${event}[${at}]`);
      const handlers = list(around.hooks ?? [], path, `hooks.${event}[${at}].hooks`);
      return handlers.map((value, handler) => ({
        event,
        group: at,
        handler,
        value,
        around: around as unknown as Group,
        isOurs: runsScript(value, script),
      }));
    }),
  );
}

/** Without ours of this event; null: of every event that the recipe does not have. */
function withoutOurs(text: string, wish: Wish, event: string | null): string {
  for (let now = text; ; ) {
    const isMeant = (name: string): boolean =>
      event === null ? !Object.hasOwn(wish.recipe.events, name) : name === event;
    const one = oursIn(handlersIn(now, wish)).find((placed) => isMeant(placed.event));
    if (one === undefined) return now;
    now = withoutHandler(now, one);
  }
}

/** Without the handler, and without its group, event and `hooks` when nothing else is in them. */
function withoutHandler(text: string, { event, group, handler }: Placed): string {
  const top = partsOf(text);
  const hooks = memberOf(top, 'hooks')?.value;
  const groups = hooks === undefined ? undefined : memberOf(hooks, event)?.value;
  if (top.is !== 'object' || hooks?.is !== 'object' || groups?.is !== 'array') return text;
  const around = groups.items[group];
  const handlers = around === undefined ? undefined : memberOf(around, 'hooks')?.value;
  if (handlers?.is !== 'array') return text;
  if (handlers.items.length > 1) return without(text, handlers, handler);
  if (groups.items.length > 1) return without(text, groups, group);
  if (hooks.members.length > 1) return without(text, hooks, indexOf(hooks, event));
  return without(text, top, indexOf(top, 'hooks'));
}

function withGroup(text: string, { path }: Wish, event: string, group: Group): string {
  const top = partsOf(text);
  const hooks = memberOf(top, 'hooks')?.value;
  if (top.is === 'object' && hooks === undefined) return appended(text, top, { [event]: [group] }, 'hooks');
  if (hooks?.is !== 'object') throw refusal(path, 'hooks is not an object');
  const groups = memberOf(hooks, event)?.value;
  if (groups === undefined) return appended(text, hooks, [group], event);
  if (groups.is !== 'array') throw refusal(path, `hooks.${event} is not a list`);
  return appended(text, groups, group);
}

function indexOf(part: Extract<Part, { is: 'object' }>, key: string): number {
  return part.members.findLastIndex((one) => one.key === key);
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw refusal(path, `it is not JSON (${error instanceof Error ? error.message : String(error)})`, error);
  }
}

function record(value: unknown, path: string, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refusal(path, `${what} is not an object`);
}

function list(value: unknown, path: string, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw refusal(path, `${what} is not a list`);
}

function refusal(path: string, why: string, cause?: unknown): Fault {
  return new Fault('settings', `${path} is left as it is: ${why}`, { is: 'machine', key: 'hook' }, { cause });
}
