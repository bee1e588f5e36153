import { Fault } from '../model/index.ts';
import { type DaemonName, isSlug } from './places.ts';

/** The hive of the same machine, whose port the tray process writes down; else a URL. */
export const LOCAL = 'local';

/** What was installed, in `daemon.json`: the truth of daemon, tray, hook and board. */
export interface DaemonConfig extends DaemonName {
  /** What the persona is called upstream. */
  readonly address: string;
  readonly project: string;
  readonly surface: string;
  /** A hint for tools of the agent; Hivebar only hands it on. */
  readonly autonomy: string | null;
  /** `local`, or an http(s) or ws(s) URL. */
  readonly upstream: string;
  /** One ring through the plugin's wake path while nobody works. */
  readonly wakeIdle: boolean;
  /** Who starts it: the system's own launcher, or the tray process as its child. Never both. */
  readonly owner: 'launcher' | 'tray';
  readonly shim: { readonly command: readonly string[] } | null;
  /** Done once, when the daemon is bound to its project. */
  readonly installDeps: boolean;
  readonly activateVenv: boolean;
  /** Nobody starts it until it is installed again. */
  readonly paused: boolean;
}

/** A project or address longer than this is a mistake. */
const LONGEST = 1024;

/** @param path for the message @throws Fault `daemon-config`, naming the file, the key and the value */
export function parseDaemonConfig(text: string, path: string): DaemonConfig {
  const wrong = (what: string): Fault => daemonConfigFault(path, what);
  const read = objectOf(text);
  if (read === null) throw wrong('is no JSON object');
  const at = (key: string): unknown => (Object.hasOwn(read, key) ? read[key] : undefined);
  const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'missing';
  const string = (key: string, isGood: (text: string) => boolean, must: string): string => {
    const value = at(key);
    if (typeof value === 'string' && value.length <= LONGEST && isGood(value)) return value;
    throw wrong(`${key} is ${shown(value)}, must be ${must}`);
  };
  const flag = (key: string): boolean => {
    const value = at(key) ?? false;
    if (typeof value === 'boolean') return value;
    throw wrong(`${key} is ${shown(value)}, must be true or false`);
  };
  const isSome = (text: string): boolean => text !== '' && !text.includes('\0');
  const slug = 'of 1 to 32 letters a-z, digits and dashes';
  const autonomy = at('autonomy') ?? null;
  if (autonomy !== null && typeof autonomy !== 'string') throw wrong(`autonomy is ${shown(autonomy)}, must be a text`);
  const shim = at('shim') ?? null;
  const command = shim === null ? null : commandOf(shim);
  if (shim !== null && command === null) throw wrong(`shim is ${shown(shim)}, must be {"command": ["PROGRAM", ...]}`);
  const owner = at('owner');
  if (owner !== 'launcher' && owner !== 'tray') throw wrong(`owner is ${shown(owner)}, must be launcher or tray`);
  return {
    tenant: string('tenant', isSlug, slug),
    identity: string('identity', isSlug, slug),
    address: string('address', isSome, 'a name'),
    project: string('project', isSome, 'a text'),
    surface: string('surface', isSome, 'a text'),
    autonomy,
    upstream: string('upstream', isUpstream, `${LOCAL}, or an http, https, ws or wss URL without a user name`),
    wakeIdle: flag('wakeIdle'),
    owner,
    shim: command === null ? null : { command },
    installDeps: flag('installDeps'),
    activateVenv: flag('activateVenv'),
    paused: flag('paused'),
  };
}

export function daemonConfigText(config: DaemonConfig): string {
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Whether a text can be the upstream of a daemon; whether it is a safe one is judged where it is connected to. */
export function isUpstream(text: string): boolean {
  if (text === LOCAL) return true;
  const url = URL.parse(text);
  return url !== null && /^(https?|wss?):$/.test(url.protocol) && url.username === '' && url.password === '';
}

export function daemonConfigFault(path: string, what: string): Fault {
  return new Fault('daemon-config', `${path}: ${what}`, { is: 'machine', key: `file:${path}` });
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null; // what it says instead is of no use to anybody
  }
}

function commandOf(shim: unknown): readonly string[] | null {
  const command: unknown = typeof shim === 'object' && shim !== null && 'command' in shim ? shim.command : null;
  if (!Array.isArray(command) || command.length === 0) return null;
  const words = command.filter((word) => typeof word === 'string' && !word.includes('\0'));
  return words.length === command.length && words[0] !== '' ? words : null;
}
