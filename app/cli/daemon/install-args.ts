import { isAbsolute, resolve } from 'node:path';
import { toUsageFault } from '../../../core/command/index.ts';
import { parseUpstreamUrls } from '../../../core/daemon/index.ts';
import { type DaemonConfig, isSlug, LOCAL, toSlug } from '../../../core/link/index.ts';
import { parseDaemonArgs } from './schema.ts';

/** The flags of an installation. Values that are left out stay as installed, or are the default. */
export interface InstallArgs {
  readonly tenant: string;
  readonly identity: string;
  /** The names as given. A name that is not a slug is converted into one. */
  readonly requestedName: { readonly tenant: string; readonly identity: string };
  readonly settings: Partial<Omit<DaemonConfig, 'tenant' | 'identity' | 'paused'>>;
  /** Files with tokens that a remote upstream accepts. */
  readonly observeFile: string | null;
  readonly actFile: string | null;
  readonly print: boolean;
  readonly json: boolean;
}

const SURFACES = ['claude-code', 'codex', 'fallback'];

/** @throws Fault `usage` */
export function parseInstallArgs(args: readonly string[]): InstallArgs {
  try {
    const values = parseDaemonArgs('install', args);
    const { rest: shim } = values;
    if (values.system !== undefined)
      throw new Error('--system is not supported: a persona daemon belongs to a user; leave it out');
    const requestedName = {
      tenant: requireValue('tenant', values.tenant),
      identity: requireValue('identity', values.identity),
    };
    return {
      tenant: parseSlug('tenant', requestedName.tenant),
      identity: parseSlug('identity', requestedName.identity),
      requestedName,
      settings: {
        ...(values.project === undefined ? {} : { project: resolve(requireText('project', values.project)) }),
        ...(values.persona === undefined ? {} : { address: requireText('persona', values.persona) }),
        ...(values.surface === undefined ? {} : { surface: parseChoice('surface', values.surface, SURFACES) }),
        ...(values.upstream === undefined ? {} : { upstream: parseUpstream(values.upstream) }),
        ...(values.autonomy === undefined ? {} : { autonomy: values.autonomy === '' ? null : values.autonomy }),
        ...(values['install-deps'] === undefined ? {} : { installDeps: values['install-deps'] }),
        ...(values['activate-venv'] === undefined ? {} : { activateVenv: values['activate-venv'] }),
        ...(values['wake-idle'] === undefined ? {} : { wakeIdle: values['wake-idle'] }),
        ...(values.by === undefined ? {} : { owner: parseOwner(values.by) }),
        ...(shim === null ? {} : { shim: parseShim(shim) }),
      },
      observeFile: resolveFile(values['token-file']),
      actFile: resolveFile(values['act-token-file']),
      print: values.print,
      json: values.json,
    };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function requireValue(flag: string, value: string | undefined): string {
  if (value === undefined) throw new Error(`daemon install: --${flag} is missing`);
  return value;
}

/** A UUID with or without hyphens, alone or within a longer name. */
const UUID = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/i;

/**
 * Parses a tenant or identity. It names the unit in the journal, in launchctl and in the Event Viewer, where nobody can read a
 * UUID (SPEC-070).
 */
function parseSlug(flag: string, text: string): string {
  if (UUID.test(text))
    throw new Error(
      `--${flag} ${text}: a UUID is hard to read in a log; use a short name, ` +
        (flag === 'identity'
          ? `for example --identity ada --persona '${text}', which watches the same persona`
          : 'for example --tenant acme'),
    );
  const candidate = isSlug(text) ? text : toSlug(text);
  if (isSlug(candidate)) return candidate;
  throw new Error(`--${flag} ${text || '(empty)'}: must contain a letter a-z or a digit`);
}

function requireText(flag: string, text: string): string {
  if (text.trim() !== '' && !/\p{Cc}/u.test(text)) return text;
  throw new Error(`--${flag} is empty or holds control characters`);
}

function parseChoice(flag: string, value: string, words: readonly string[]): string {
  if (words.includes(value)) return value;
  throw new Error(`--${flag} ${value}: must be ${words.join(', ')}`);
}

function parseOwner(value: string): DaemonConfig['owner'] {
  if (value === 'launcher' || value === 'tray') return value;
  throw new Error(`--by ${value}: must be launcher or tray`);
}

/** Parses an upstream. It must be encrypted or on this machine, because a token is sent to it. */
function parseUpstream(value: string): string {
  if (value === LOCAL || parseUpstreamUrls(value) !== null) return value;
  throw new Error(`--upstream ${value}: must be local, an https or wss URL, or a URL of this machine`);
}

/** Parses the shim command. It needs an absolute path, because a launcher starts it with a short PATH and in another folder. */
function parseShim(words: readonly string[]): DaemonConfig['shim'] {
  const [program] = words;
  if (program === undefined) return null;
  if (!isAbsolute(program)) throw new Error(`-- ${program}: the shim must be named by its absolute path`);
  return { command: words };
}

const resolveFile = (path: string | undefined): string | null => (path === undefined ? null : resolve(path));
