import { join } from 'node:path';
import Conf from 'conf';
import { Fault, faultOf } from '../../../core/model/index.ts';
import { type Primary, SETTINGS, type Settings } from './settings.ts';

/** The settings file, read once at start. Only the first run writes to it. */
export interface SettingsFile {
  readonly path: string;
  readonly settings: Settings;
  decide(primary: Primary): void;
}

/**
 * Opens `config.json` in a directory; a missing file means the defaults.
 * @throws Fault `unreadable` naming the file and what is wrong in it; nothing is overwritten then.
 */
export function openSettings(directory: string): SettingsFile {
  const path = join(directory, 'config.json');
  const scope = { is: 'machine', key: 'config' } as const;
  try {
    const conf = new Conf<Settings>({
      cwd: directory,
      configName: 'config',
      configFileMode: 0o600,
      clearInvalidConfig: false,
      // conf takes the properties by themselves, and fills in the defaults before it checks
      schema: SETTINGS.properties as never,
      rootSchema: { additionalProperties: false },
    });
    return {
      path,
      settings: { ...conf.store },
      decide: (primary) => conf.set('primary', primary),
    };
  } catch (error) {
    throw new Fault('unreadable', `${path}: ${faultOf(error, scope).message}`, scope, { cause: error });
  }
}
