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

const PROPERTIES: readonly [string, object][] = Object.entries(SETTINGS.properties);
const WITHOUT_DEFAULTS = Object.fromEntries(
  PROPERTIES.map(([name, schema]) => [name, { ...schema, default: undefined }]),
);
const DEFAULTS = Object.fromEntries(
  PROPERTIES.flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])),
);

/**
 * Opens `config.json` in a directory; a missing file means the defaults.
 * @throws Fault `settings` or `unreadable` naming the file and what is wrong in it; nothing is overwritten then.
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
      // Without the defaults: conf would write them into the person's file, where they would outlive a better default.
      schema: WITHOUT_DEFAULTS as never,
      rootSchema: { additionalProperties: false },
      deserialize,
    });
    return {
      path,
      settings: { ...DEFAULTS, ...conf.store },
      decide: (primary) => conf.set('primary', primary),
    };
  } catch (error) {
    const code = error instanceof Error && 'syscall' in error ? 'unreadable' : 'settings';
    throw new Fault(code, `${path}: ${faultOf(error, scope).message}`, scope, { cause: error });
  }
}

/** By itself conf takes a list or a lone value for no settings at all, and the first run would write over them. */
function deserialize(text: string): Settings {
  const value: unknown = JSON.parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new TypeError(`it must hold an object, as {"port": 7475}, not ${JSON.stringify(value).slice(0, 80)}`);
  return value as Settings; // checked by its schema next
}
