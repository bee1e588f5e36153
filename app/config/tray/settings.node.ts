import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Conf from 'conf';
import { Fault } from '../../../core/model/index.ts';
import { realFiles, repeatPatiently, silentLog } from '../../../core/ports/index.ts';
import { createRealDisk, getErrno, readRegular, syncDirectory, toIoFault } from '../../../core/state/index.ts';
import { checkSettings, checkSettingsBytes, type SettingsCheck } from './check-settings.ts';
import { type Primary, SETTINGS, type Settings } from './settings.ts';

export type SettingName = keyof Settings;

/** The settings file, read once when it is opened. Only decisions of a person or of the first run are written to it. */
export interface SettingsFile {
  readonly path: string;
  /** The settings as read, with defaults for everything that the file does not contain. */
  readonly settings: Settings;
  /** The settings as read, without defaults. */
  readonly explicitSettings: Partial<Settings>;
  decide(primary: Primary): void;
  /**
   * Writes one setting. The other settings stay as they are in the file now.
   * @throws Fault `usage` when the value does not fit, and nothing is written; `settings`, `unwritable`
   */
  set(name: SettingName, value: unknown): void;
  /** Removes one setting from the file, so that its default applies. @throws as `set` does */
  unset(name: SettingName): void;
}

const SCOPE = { is: 'machine', key: 'config' } as const;

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS.properties).flatMap(([name, schema]: [string, object]) =>
    'default' in schema ? [[name, schema.default]] : [],
  ),
);

/** More than any settings file needs. A larger file is reported to the person who put it there. */
const MOST_BYTES = 1024 * 1024;

const PRIVATE_DIRECTORY = 0o700;

/** Returns the path of the settings file in a directory. */
export function getSettingsPath(directory: string): string {
  return join(directory, 'config.json');
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS.properties, name);
}

/**
 * Opens `config.json` in a directory; a missing file means the defaults.
 * @throws Fault `settings` naming file, line, column and the mistake, or `unreadable`; in both cases nothing is overwritten
 */
export function openSettings(directory: string): SettingsFile {
  const path = getSettingsPath(directory);
  const read = (): Partial<Settings> => {
    const text = readCheckedText(path);
    return text === null ? {} : runConf(path, 'unreadable', () => ({ ...openConf(directory, text).store }));
  };
  const write = (change: (conf: Conf<Settings>) => void): void => {
    const text = readCheckedText(path);
    runConf(path, 'unwritable', () => {
      const folder = dirname(findTarget(path));
      for (const each of [directory, folder]) realFiles.mkdirAll(each, PRIVATE_DIRECTORY);
      runWithoutSnap(() => repeatPatiently(() => change(openConf(directory, text))));
      syncDirectory(createRealDisk(silentLog), folder);
    });
  };
  const explicitSettings = read();
  return {
    path,
    settings: { ...DEFAULTS, ...explicitSettings } as Settings,
    explicitSettings,
    decide: (primary) => write((conf) => conf.set('primary', primary)),
    set(name, value) {
      const checked = checkSettings(JSON.stringify({ ...read(), [name]: value }));
      if (checked.is === 'bad') throw new Fault('usage', checked.problems[0].message, SCOPE);
      write((conf) => conf.set(name, value as never));
    },
    unset: (name) => write((conf) => conf.delete(name)),
  };
}

/**
 * Checks the settings file of a directory; null when there is no file.
 * @throws Fault `unreadable` when it is not a regular file, is too long, or cannot be read
 */
export function readSettingsFile(directory: string): SettingsCheck | null {
  const bytes = readRegular(realFiles, getSettingsPath(directory), MOST_BYTES);
  return bytes === null ? null : checkSettingsBytes(bytes);
}

/**
 * Returns the text of a valid settings file; null when there is no file. It checks the file before conf opens it, because conf
 * blocks forever on a pipe, reads files of any length, and does not say where a mistake is. conf would also read bytes that are
 * not UTF-8 as U+FFFD and write those back.
 *
 * @throws Fault `settings`, `unreadable`
 */
function readCheckedText(path: string): string | null {
  const bytes = readRegular(realFiles, path, MOST_BYTES);
  if (bytes === null) return null;
  requireGoodSettings(path, checkSettingsBytes(bytes));
  return Buffer.from(bytes).toString('utf8');
}

/**
 * Opens conf on the settings file. Call it only when the file or its directory exists: conf creates directories with Node's
 * recursive call, which never ends below `/proc`.
 * conf gets no schema, because `readCheckedText` gives better messages. It gets no defaults either: conf would write them into
 * the person's file, where they would outlive better ones.
 *
 * @param checked the text that `readCheckedText` returned; a text that replaced it in the meantime is checked again
 */
function openConf(directory: string, checked: string | null): Conf<Settings> {
  const path = getSettingsPath(directory);
  return new Conf<Settings>({
    cwd: directory,
    configName: 'config',
    configFileMode: 0o600,
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
    serialize: (settings) => `${JSON.stringify(settings, null, 2)}\n`,
    deserialize: (text) =>
      requireGoodSettings(path, checkSettings(text === checked ? text : (readCheckedText(path) ?? '{}'))) as Settings,
  });
}

const MOST_LINKS = 40;

/** Resolves the path that a write goes to. A person may link `config.json` to a file elsewhere, and the link must survive. */
function findTarget(path: string): string {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links += 1) {
    const next = readLink(target);
    if (next === null) break;
    target = resolve(realpathSync(dirname(target)), next);
  }
  return target;
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes(getErrno(error))) return null; // a file, nothing, a file on Windows
    throw error;
  }
}

/**
 * Runs `run` with `SNAP` unset. In a Snap, conf writes in place, so a kill leaves half a file. Terminals of an editor that is a
 * Snap pass its `SNAP` on.
 */
function runWithoutSnap(run: () => void): void {
  const { SNAP: snap } = process.env;
  delete process.env.SNAP;
  try {
    run();
  } finally {
    if (snap !== undefined) process.env.SNAP = snap;
  }
}

/** Converts whatever conf throws into a Fault that names the file. */
function runConf<T>(path: string, is: 'unreadable' | 'unwritable', run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw toIoFault(error, path, is);
  }
}

/** @throws Fault `settings` */
function requireGoodSettings(path: string, checked: SettingsCheck): Partial<Settings> {
  if (checked.is === 'good') return checked.settings;
  const [{ line, column, message }, ...rest] = checked.problems;
  const suffix = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  throw new Fault('settings', `${path}:${line}:${column}: ${message}${suffix}`, SCOPE);
}
