import { Fault } from '../../../core/model/index.ts';
import { RESERVED_NAMES } from '../../../core/sources/derived.ts';
import { checkHive, type FurtherHive } from '../../../core/sources/index.ts';
import { checkAddress } from './check-settings.ts';
import type { SettingsFile } from './settings.node.ts';

const SCOPE = { is: 'machine', key: 'hive' } as const;

export interface HiveToAdd {
  readonly url: string;
  /** Null: the first part of the host name. */
  readonly name: string | null;
  readonly tokenFile: string | null;
  readonly proxy: string | null;
}

/**
 * Adds a hive to the settings file, as `hivebar hive add` and the page do.
 * @param check looks at what is not in the settings, such as the token file, before anything is written
 * @throws Fault that names what does not fit
 */
export function addHive(
  { settings, set }: Pick<SettingsFile, 'settings' | 'set'>,
  wanted: HiveToAdd,
  check: () => void = () => {},
): FurtherHive {
  const { tokenFile, proxy } = wanted;
  const hive: FurtherHive = {
    name: chooseName(wanted),
    base: wanted.url,
    ...(tokenFile === null ? {} : { tokenFile }),
    ...(proxy === null ? {} : { proxy }),
  };
  checkHive(hive, { checkAddress });
  check();
  const { hives, primary } = settings;
  const existing = hives.find(({ name, base }) => name === hive.name || isSameUrl(base, hive.base));
  if (existing !== undefined) throw new Fault('usage', `${existing.name} is already ${existing.base}`, SCOPE);
  if (primary !== undefined && 'base' in primary && isSameUrl(primary.base, hive.base))
    throw new Fault('usage', `${hive.base} is already the primary hive`, SCOPE);
  set('hives', [...hives, hive]);
  return hive;
}

/** Removes the hive with this name or address from the settings file. Null: there is none. @throws Fault */
export function removeHive(
  { settings: { hives }, set, unset }: Pick<SettingsFile, 'settings' | 'set' | 'unset'>,
  target: string,
): FurtherHive | null {
  const removed = hives.find(({ name, base }) => name === target || isSameUrl(base, target));
  if (removed === undefined) return null;
  const rest = hives.filter((hive) => hive !== removed);
  if (rest.length === 0) unset('hives');
  else set('hives', rest);
  return removed;
}

/** Takes the given name, else the first part of the host's name. An IP address has no such part. */
function chooseName({ name, url }: HiveToAdd): string {
  if (name !== null) {
    if (RESERVED_NAMES.some((reserved) => reserved === name))
      throw new Fault('usage', `--name ${name}: reserved for another source (${RESERVED_NAMES.join(', ')})`, SCOPE);
    if (!/^[a-z0-9]{1,32}$/.test(name))
      throw new Fault('usage', `--name ${name}: must be 1 to 32 characters a-z and 0-9`, SCOPE);
    return name;
  }
  const part = /^([a-z][a-z0-9]{0,31})(\.|$)/.exec(URL.parse(url)?.hostname ?? '')?.[1];
  if (part === undefined || part === 'localhost' || RESERVED_NAMES.some((reserved) => reserved === part))
    throw new Fault('usage', `cannot derive a name from ${url}: use --name NAME`, SCOPE);
  return part;
}

function isSameUrl(a: string, b: string): boolean {
  const [first, other] = [a, b].map((text) => URL.parse(text)?.href.replace(/\/+$/, ''));
  return first !== undefined && first === other;
}
