import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Fault, faultOf } from '../../../core/model/index.ts';
import { realFiles, realRandom, silentLog } from '../../../core/ports/index.ts';
import { errnoOf, readRegular, realDisk, writeAtomically } from '../../../core/state/index.ts';
import { type Checked, checkSettings, checkSettingsBytes } from './check-settings.ts';
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

/** More than any settings; whoever has put something else there is told so. */
const MOST_BYTES = 1024 * 1024;

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
  const read = (): Partial<Settings> => {
    const checked = readSettingsFile(directory);
    return checked === null ? {} : goodOf(path, checked);
  };
  const write = (change: (given: Partial<Settings>) => Partial<Settings>): void => {
    const text = `${JSON.stringify(change(read()), null, 2)}\n`;
    writeAtomically(realDisk(silentLog), realRandom, linkedPath(path), text);
  };
  const given = read();
  return {
    path,
    settings: { ...DEFAULTS, ...given } as Settings,
    given,
    decide: (primary) => write((now) => ({ ...now, primary })),
    set(name, value) {
      const checked = checkSettings(JSON.stringify({ ...read(), [name]: value }));
      if (checked.is === 'bad') throw new Fault('usage', checked.problems[0].message, SCOPE);
      write((now) => ({ ...now, [name]: value }));
    },
    unset: (name) => write(({ [name]: _, ...others }) => others),
  };
}

/**
 * What is wrong or right with the settings of a directory; null when there is no file.
 * @throws Fault `unreadable`: no regular file, too long, or not to be read
 */
export function readSettingsFile(directory: string): Checked | null {
  const bytes = readRegular(realFiles, settingsPath(directory), MOST_BYTES);
  return bytes === null ? null : checkSettingsBytes(bytes);
}

/** A person may keep the file elsewhere and link it here: the link stays. */
function linkedPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return path;
    throw new Fault('unwritable', `${path}: ${faultOf(error, SCOPE).message}`, SCOPE, { cause: error });
  }
}

/** @throws Fault `settings` */
function goodOf(path: string, checked: Checked): Partial<Settings> {
  if (checked.is === 'good') return checked.given;
  const [{ line, column, message }, ...rest] = checked.problems;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  throw new Fault('settings', `${path}:${line}:${column}: ${message}${more}`, SCOPE);
}
