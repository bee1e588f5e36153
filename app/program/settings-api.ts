import { Fault } from '../../core/model/index.ts';
import {
  addHive,
  appliesAtNextStart,
  isSettingName,
  type LiveSettings,
  openSettings,
  removeHive,
  SETTINGS,
  type SettingName,
} from '../config/tray/index.ts';
import type { SettingsApi } from '../status/index.ts';

/**
 * The settings that the page may change. None of them names a program or a file: whoever has the key of a browser could run the one and
 * have the other sent away.
 */
const ON_PAGE: ReadonlySet<SettingName> = new Set(['quietHours', 'notifications', 'sound', 'notify', 'remindMinutes']);

const SCOPE = { is: 'machine', key: 'config' } as const;

/** Shows and changes the settings file for the status server, with the checks of the command line. */
export function createSettingsApi(directory: string, service: Pick<LiveSettings, 'reload'>): SettingsApi {
  return {
    list() {
      const { settings, explicitSettings } = openSettings(directory);
      return (Object.keys(SETTINGS.properties) as SettingName[]).map((key) => ({
        key,
        value: hideSecrets(settings[key] ?? null),
        isDefault: explicitSettings[key] === undefined,
        atNextStart: appliesAtNextStart(key),
        canChange: ON_PAGE.has(key),
        description: SETTINGS.properties[key].description,
      }));
    },
    async set(key, value) {
      if (!isSettingName(key)) throw new Fault('usage', `there is no setting ${key}`, SCOPE);
      if (!ON_PAGE.has(key)) throw new Fault('usage', `${key} is changed with hivebar config set ${key} VALUE`, SCOPE);
      const file = openSettings(directory);
      if (value === null) file.unset(key);
      else file.set(key, value);
      return await service.reload();
    },
    async addHive(url, name) {
      try {
        addHive(openSettings(directory), { url, name, tokenFile: null, proxy: null });
      } catch (error) {
        // whatever is wrong with the address is a mistake in the request
        if (error instanceof Fault && (error.code === 'bad-url' || error.code === 'blocked'))
          throw new Fault('usage', error.explain(), SCOPE, { cause: error });
        throw error;
      }
      return await service.reload();
    },
    async removeHive(name) {
      if (removeHive(openSettings(directory), name) === null)
        throw new Fault('usage', `there is no hive ${name}`, SCOPE);
      return await service.reload();
    },
  };
}

const SECRET_KEY = /token|secret|password|credential|header|^env$/i;
const HIDDEN = '(hidden)';

/** Shows where a secret is, and not the secret: in a field that is called so, in an address, and behind the name of a program. */
export function hideSecrets(value: unknown, key = ''): unknown {
  if (SECRET_KEY.test(key) && !/file$/i.test(key)) return HIDDEN;
  if (Array.isArray(value)) {
    if (key === 'argv' && value.length > 1) return [value[0], HIDDEN];
    return value.map((entry) => hideSecrets(entry, key));
  }
  if (typeof value === 'string') return value.replace(/(:\/\/)[^/@\s]*@/, `$1${HIDDEN}@`);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, hideSecrets(entry, name)]));
}
