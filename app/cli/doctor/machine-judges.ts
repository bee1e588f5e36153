import { OLDEST_NODE } from '../../oldest-node.ts';
import {
  type Finding,
  fail,
  formatSize,
  ok,
  quoteShellWord,
  type SettingsProbe,
  skipped,
  type TrayProbe,
  warn,
} from './doctor-context.ts';

export interface NodeProbe {
  readonly version: string;
  readonly path: string;
}

export function judgeNode({ version, path }: NodeProbe): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]))
    return ok(`${version} (${path})`);
  return fail(`${version} (${path}) is too old`, `install Node ${OLDEST_NODE.join('.')} or newer`);
}

export function judgeSettings(result: SettingsProbe): Finding {
  switch (result.is) {
    case 'absent':
      return ok(`${result.path} does not exist: the defaults apply`);
    case 'good':
      return ok(`${result.path}${result.names.length === 0 ? ' changes no setting' : `: ${result.names.join(', ')}`}`);
    case 'unreadable':
      return fail(`${result.path}: ${result.why}`, `run, as its owner: chmod 600 ${quoteShellWord(result.path)}`);
    case 'bad': {
      const [first] = result.problems;
      const where = first === undefined ? '' : `:${first.line}:${first.column}: ${first.message}`;
      const remainder = result.problems.length > 1 ? ` (and ${result.problems.length - 1} more)` : '';
      return fail(
        `${result.path}${where}${remainder}`,
        'correct it there, or move the file away to use the defaults; until then Hivebar does not start',
      );
    }
  }
}

export type DirectoryProbe =
  | {
      readonly is: 'absent';
      readonly path: string;
      /** The nearest parent that exists. */
      readonly parent: string;
      readonly canMake: boolean;
    }
  | { readonly is: 'other'; readonly path: string; readonly kind: 'file' | 'symlink' | 'other' }
  | { readonly is: 'failed'; readonly path: string; readonly why: string }
  | {
      readonly is: 'directory';
      readonly path: string;
      /** Permission bits and owner; null where the platform has none. */
      readonly mode: number | null;
      readonly uid: number | null;
      readonly me: number | null;
      readonly isWritable: boolean;
      readonly freeBytes: number;
    };

const MIB = 1024 * 1024;
/** Below this limit mail may soon be refused; below the other limit it is refused at once. */
const LOW_BYTES = 200 * MIB;
const FULL_BYTES = 5 * MIB;

export function judgeDirectory(result: DirectoryProbe): Finding {
  const { path } = result;
  switch (result.is) {
    case 'absent':
      if (result.canMake) return ok(`${path} does not exist yet; the first start creates it`);
      return fail(
        `${path} does not exist, and ${result.parent} is not writable`,
        `check its owner and mode: ls -ld ${quoteShellWord(result.parent)}`,
      );
    case 'other':
      return fail(
        `${path} is ${result.kind === 'symlink' ? 'a symlink, which is refused' : 'not a directory'}`,
        result.kind === 'symlink' ? 'set HIVEBAR_HOME to the directory itself' : 'move it away',
      );
    case 'failed':
      return fail(`${path}: ${result.why}`, `check its owner and mode: ls -ld ${quoteShellWord(path)}`);
    case 'directory': {
      if (result.me !== null && result.uid !== result.me)
        return fail(
          `${path} belongs to user ${result.uid}, not to this user (${result.me})`,
          `run: sudo chown -R ${result.me} ${quoteShellWord(path)}`,
        );
      if (!result.isWritable)
        return fail(`${path} cannot be written to`, `run: chmod 700 ${quoteShellWord(path)}, or remount the disk`);
      const free = `${formatSize(result.freeBytes)} free`;
      if (result.freeBytes < FULL_BYTES) return fail(`${path}: ${free}`, 'free space on that disk');
      if (result.mode !== null && result.mode !== 0o700)
        return warn(
          `${path} has mode ${formatMode(result.mode)} instead of 0700`,
          `run: chmod 700 ${quoteShellWord(path)} (the next start does)`,
        );
      if (result.freeBytes < LOW_BYTES) return warn(`${path}: only ${free}`, 'free space on that disk');
      return ok(`${path}${result.mode === null ? '' : `, mode ${formatMode(result.mode)}`}, ${free}`);
    }
  }
}

export function formatMode(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}

export interface FileProbe {
  readonly path: string;
  readonly is: 'absent' | 'file' | 'symlink' | 'other';
  readonly mode: number | null;
  readonly uid: number | null;
  readonly me: number | null;
}

/** Judges files that nobody else may read. Their contents are not examined. */
export function judgeFiles(results: readonly FileProbe[]): Finding {
  const existing = results.filter(({ is }) => is !== 'absent');
  if (existing.length === 0) return skipped('no such file exists yet');
  for (const { path, is, uid, me } of existing) {
    if (is !== 'file')
      return fail(
        `${path} is ${is === 'symlink' ? 'a symlink, which is refused' : 'not a regular file'}`,
        'move it away',
      );
    if (me !== null && uid !== me)
      return fail(
        `${path} belongs to user ${uid}, not to this user (${me})`,
        `run: sudo chown ${me} ${quoteShellWord(path)}`,
      );
  }
  const paths = existing.map(({ path }) => path).join(', ');
  if (existing.every(({ mode }) => mode === null))
    return skipped(`${paths}: not checked; Windows keeps access lists, which icacls shows`);
  const loose = existing.find(({ mode }) => mode !== null && mode !== 0o600);
  if (loose !== undefined)
    return warn(
      `${loose.path} has mode ${formatMode(loose.mode ?? 0)} instead of 0600`,
      `run: chmod 600 ${quoteShellWord(loose.path)}`,
    );
  return ok(`${paths}: only their owner can read them`);
}

export interface LockProbe {
  readonly os: NodeJS.Platform;
  readonly koffi: { readonly is: 'loads'; readonly version: string } | { readonly is: 'failed'; readonly why: string };
  /** Absolute path of util-linux's `flock`; null: not on PATH. */
  readonly flock: string | null;
}

export function judgeLock({ os, koffi, flock }: LockProbe): Finding {
  if (koffi.is === 'loads') return ok(`koffi ${koffi.version} loads`);
  const next = 'install again, for this processor and this libc: npm install hivebar';
  const problem = `koffi does not load (${koffi.why})`;
  if (os === 'linux' && flock !== null) return warn(`${problem}; ${flock} is used in its place`, next);
  if (os === 'darwin') return warn(`${problem}; files are locked when they are opened`, next);
  return fail(
    `${problem}, and there is no other way to lock a file`,
    os === 'linux' ? `${next}; or install util-linux` : next,
  );
}

export interface ClockProbe {
  readonly now: number;
  /** How far each clock went over the same span, in milliseconds. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The start of 2026. This program is not older. */
const SURELY_PAST = 1_767_225_600_000;
const MOST_APART_MS = 50;

export function judgeClock({ now, wallMs, monotonicMs }: ClockProbe): Finding {
  const next = 'set the clock: timedatectl set-ntp true';
  if (now < SURELY_PAST)
    return fail('the clock is set to a time before 2026: times and certificates will be wrong', next);
  const apart = Math.round(wallMs - monotonicMs);
  if (Math.abs(apart) > MOST_APART_MS)
    return warn(
      `the wall clock went ${Math.round(wallMs)} ms while ${Math.round(monotonicMs)} ms passed: it is being set`,
      next,
    );
  return ok(`runs evenly (${apart} ms apart over ${Math.round(monotonicMs)} ms)`);
}

export interface ProxyProbe {
  readonly names: readonly string[];
  readonly hasFarHive: boolean;
}

export function listProxyNames(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^(https?|all|no)_proxy$/i.test(name) && env[name] !== '')
    .sort();
}

/** Values of the variables are not shown, because they can hold passwords. */
export function judgeProxy({ names, hasFarHive }: ProxyProbe): Finding {
  const set = names.filter((name) => !/^no_proxy$/i.test(name));
  if (set.length === 0) return ok('no proxy variable is set');
  const text = `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set but ignored: Hivebar connects to hives directly`;
  return hasFarHive ? warn(text, 'check that remote hives can be reached without a proxy') : ok(text);
}

export interface SocketProbe {
  readonly path: string;
  readonly is: 'absent' | 'socket' | 'other' | 'pipe';
  readonly mode: number | null;
  /** The longest path in bytes. */
  readonly most: number;
  readonly answer: TrayProbe;
}

export function judgeSocket({ path, is, mode, most, answer }: SocketProbe): Finding {
  const length = Buffer.byteLength(path);
  if (is !== 'pipe' && length > most)
    return fail(
      `${path} has ${length} bytes, but a socket path can have at most ${most}`,
      'set a shorter HIVEBAR_HOME',
    );
  if (is === 'other')
    return warn(`${path} is not a socket`, 'start Hivebar again, which moves it aside, or move it away yourself');
  if (answer.is === 'failed') return fail(`${path}: ${answer.why}`, 'end the running Hivebar and start it again');
  if (answer.is === 'not-running') {
    return skipped(is === 'socket' ? `${path} was left behind; the next start replaces it` : 'Hivebar is not running');
  }
  if (mode !== null && (mode & 0o077) !== 0)
    return warn(`${path} answers, but other users can open it`, `run: chmod 600 ${quoteShellWord(path)}`);
  return ok(`${path} answers`);
}
