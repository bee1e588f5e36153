import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Conf from 'conf';
import { Fault } from '../../../core/model/index.ts';
import { realFiles, repeatPatiently, silentLog } from '../../../core/ports/index.ts';
import { createRealDisk, getErrno, readRegular, syncDirectory, toIoFault } from '../../../core/state/index.ts';
import { checkSettings, checkSettingsBytes, type SettingsCheck } from './check-settings.ts';
import { type Primary, SETTINGS, type Settings } from './settings.ts';

export type SettingName = keyof Settings;

/** The settings file, read once when it is opened. Only what a person or the first run decides is written to it. */
export interface SettingsFile {
  readonly path: string;
  /** As read, with the defaults for what the file does not say. */
  readonly settings: Settings;
  /** As read: only what the file says. */
  readonly explicitSettings: Partial<Settings>;
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

/** More than any settings; whoever has put something else there is told so. */
const MOST_BYTES = 1024 * 1024;

const PRIVATE_DIRECTORY = 0o700;

/** Where the settings of a directory stand. */
export function getSettingsPath(directory: string): string {
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
 * What is wrong or right with the settings of a directory; null when there is no file.
 * @throws Fault `unreadable`: no regular file, too long, or not to be read
 */
export function readSettingsFile(directory: string): SettingsCheck | null {
  const bytes = readRegular(realFiles, getSettingsPath(directory), MOST_BYTES);
  return bytes === null ? null : checkSettingsBytes(bytes);
}

/**
 * The text of a settings file that is good; null when there is no file. It is looked at before conf is: conf waits for ever for a
 * pipe, reads whatever length, takes what is not UTF-8 for U+FFFD and would write that back, and does not say where a fault stands.
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
 * Made when a file is there, or its directory is: conf makes directories by Node's recursive call, which never ends below `/proc`.
 * No schema, since `readCheckedText` says more; no defaults, which conf would write into the person's file, where they would outlive
 * better ones.
 *
 * @param checked the text that `readCheckedText` gave; one that somebody put in its place since is checked again
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

/** Where a write ends: a person may keep the file elsewhere and link it here, and the link stays. */
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

/** In a Snap conf writes in place, where a kill leaves half a file; every terminal of an editor in a Snap hands its SNAP on. */
function runWithoutSnap(run: () => void): void {
  const { SNAP: snap } = process.env;
  delete process.env.SNAP;
  try {
    run();
  } finally {
    if (snap !== undefined) process.env.SNAP = snap;
  }
}

/** Whatever conf throws, as a Fault that names the file. */
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
