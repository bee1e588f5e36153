import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Conf from 'conf';
import { Fault, faultOf } from '../../../core/model/index.ts';
import { type Checked, checkSettings } from './check-settings.ts';
import { type Primary, SETTINGS, type Settings } from './settings.ts';

export type SettingName = keyof Settings;

/** The settings file, read once when it is opened. Only what a person or the first run decides is written to it. */
export interface SettingsFile {
  readonly path: string;
  /** As read, with the defaults for what the file does not say. */
  readonly settings: Settings;
  /** As read: only what the file says. */
  readonly given: Partial<Settings>;
  decide(primary: Primary): void;
  /**
   * Writes one setting and leaves the others as they are in the file now.
   * @throws Fault `usage` when the value does not fit, and nothing is written; `settings`, `unwritable`
   */
  set(name: SettingName, value: unknown): void;
  /** Takes one setting out of the file, so that its default holds. @throws as `set` does */
  unset(name: SettingName): void;
}

const SCOPE = { is: 'machine', key: 'config' } as const;

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS.properties).flatMap(([name, schema]: [string, object]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
);

/** Where the settings of a directory stand. */
export function settingsPath(directory: string): string {
  return join(directory, 'config.json');
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS.properties, name);
}

/**
 * Opens `config.json` in a directory; a missing file means the defaults.
 * @throws Fault `settings` naming file, line, column and what is wrong there, or `unreadable`; nothing is overwritten then
 */
export function openSettings(directory: string): SettingsFile {
  const path = settingsPath(directory);
  const read = (): Partial<Settings> => explained(path, 'unreadable', () => goodOf(path, checkSettings(textOf(path))));
  const write = (change: (conf: Conf<Settings>) => void): void =>
    explained(path, 'unwritable', () => change(writer(path, directory)));
  const given = read();
  return {
    path,
    settings: { ...DEFAULTS, ...given } as Settings,
    given,
    decide: (primary) => write((conf) => conf.set('primary', primary)),
    set(name, value) {
      const checked = checkSettings(JSON.stringify({ ...read(), [name]: value }));
      if (checked.is === 'bad') throw new Fault('usage', checked.problems[0].message, SCOPE);
      write((conf) => conf.set(name, value as never));
    },
    unset: (name) => write((conf) => conf.delete(name)),
  };
}

/** A file that is not there says what an empty object does; an empty file says nothing, and is wrong. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}';
    throw error;
  }
}

/**
 * Made for a write only: by itself conf creates the directory as soon as it is there. No schema: conf would say that
 * something is wrong, and not where. Nor its defaults, which it would write into the person's file, where they would
 * outlive better ones.
 */
function writer(path: string, directory: string): Conf<Settings> {
  return new Conf<Settings>({
    cwd: directory,
    configName: 'config',
    configFileMode: 0o600,
    clearInvalidConfig: false,
    serialize: (settings) => `${JSON.stringify(settings, null, 2)}\n`,
    deserialize: (text) => goodOf(path, checkSettings(text)) as Settings,
  });
}

/** @throws Fault `settings` */
function goodOf(path: string, checked: Checked): Partial<Settings> {
  if (checked.is === 'good') return checked.given;
  const [{ line, column, message }, ...rest] = checked.problems;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  throw new Fault('settings', `${path}:${line}:${column}: ${message}${more}`, SCOPE);
}

/** Whatever conf throws, as a Fault that names the file. */
function explained<T>(path: string, io: 'unreadable' | 'unwritable', run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (error instanceof Error && error.cause instanceof Fault) throw error.cause;
    const code = error instanceof Error && 'syscall' in error ? io : 'settings';
    throw new Fault(code, `${path}: ${faultOf(error, SCOPE).message}`, SCOPE, { cause: error });
  }
}
