import { findHookTrouble, type HookCheck, isInstalled, RECIPES } from '../../hook/index.ts';
import { type Finding, fail, ok, skipped, type TrayProbe, warn } from './doctor-context.ts';

export interface InstanceProbe {
  readonly path: string;
  /** `run/hivebar.json`. */
  readonly file:
    | { readonly is: 'absent' }
    | { readonly is: 'garbage' }
    | {
        readonly is: 'running';
        readonly id: string;
        readonly pid: number;
        readonly startedAt: number;
        readonly port: number | null;
      };
  /** The process with that pid. `startedAt` is null where the system does not tell. */
  readonly owner: { readonly is: 'gone' } | { readonly is: 'alive'; readonly startedAt: number | null };
  readonly answer: TrayProbe;
  readonly ourVersion: string;
}

const START = 'start it: hivebar';
/** The start of a process is known to the second, and by a clock that may have been set since. */
const CLOCK_MS = 3000;

export function judgeInstance({ path, file, owner, answer, ourVersion }: InstanceProbe): Finding {
  if (answer.is === 'answered') {
    const running = `Hivebar ${answer.version} is running: pid ${answer.pid}, port ${answer.status.port}`;
    if (answer.version !== ourVersion)
      return warn(
        `${running}; this one is ${ourVersion}`,
        'stop it and start this one, or use the command line of that one',
      );
    if (file.is !== 'running' || file.id !== answer.id)
      return warn(
        `${running}, but ${path} names another process`,
        'stop it and start it again: other programs find it by that file',
      );
    return ok(running);
  }
  if (file.is === 'absent') return reportNotRunning(answer, 'Hivebar is not running', START);
  if (file.is === 'garbage')
    return reportNotRunning(
      answer,
      `Hivebar is not running; ${path} is empty or invalid`,
      `${START} (it replaces the file)`,
    );
  const { pid, startedAt } = file;
  if (owner.is === 'gone')
    return reportNotRunning(
      answer,
      `Hivebar is not running; ${path} was left behind by pid ${pid}, which is gone`,
      `${START} (it replaces the file)`,
    );
  if (owner.startedAt !== null && owner.startedAt > startedAt + CLOCK_MS)
    return reportNotRunning(
      answer,
      `Hivebar is not running; pid ${pid} in ${path} now belongs to another program`,
      `${START} (it replaces the file)`,
    );
  if (file.port === null) return warn(`Hivebar is starting: pid ${pid}`, 'run hivebar doctor again in a few seconds');
  const why = answer.is === 'failed' ? answer.why : 'no program listens on its socket';
  return fail(`Hivebar (pid ${pid}) runs but does not answer: ${why}`, `end it and start it again: kill ${pid}`);
}

function reportNotRunning(answer: TrayProbe, text: string, next: string): Finding {
  return answer.is === 'failed' ? fail(`${text}; its socket: ${answer.why}`, next) : warn(text, next);
}

/** What listens at one address. */
export type PortListener =
  | { readonly is: 'nobody' }
  /** The machine has no such address. */
  | { readonly is: 'no-address' }
  | { readonly is: 'hangs' }
  | { readonly is: 'closes' }
  /** `version` and `id` are null where Hivebar hides them (`tokenEverywhere`). */
  | { readonly is: 'hivebar'; readonly version: string | null; readonly id: string | null }
  | { readonly is: 'http'; readonly status: number; readonly server: string | null }
  | { readonly is: 'talks'; readonly first: string };

export interface PortProbe {
  /** 0: any port. */
  readonly port: number;
  readonly v4: PortListener;
  readonly v6: PortListener;
  /** Set when the running Hivebar says that this is its port. */
  readonly ours: { readonly id: string } | null;
  readonly ourVersion: string;
  /** The program that listens; null where the system does not tell. */
  readonly who: string | null;
}

const OTHER = 'stop it, or give Hivebar another port: hivebar config set port 7476';

export function judgePort(result: PortProbe): Finding {
  const { port, v4, v6, ours } = result;
  if (port === 0) return skipped('the setting is 0: the port is chosen at the start');
  const listeners = [
    ['127.0.0.1', v4],
    ['[::1]', v6],
  ] as const;
  if (ours !== null) {
    const bad = listeners.find(
      ([, candidate]) =>
        candidate.is !== 'no-address' && !(candidate.is === 'hivebar' && (candidate.id ?? ours.id) === ours.id),
    );
    if (bad === undefined)
      return ok(`http://127.0.0.1:${port}/ is this Hivebar${v6.is === 'no-address' ? ' (there is no ::1 here)' : ''}`);
    const [host, intruder] = bad;
    const next = 'use http://127.0.0.1:PORT/, or stop what listens there and start Hivebar again';
    const isV4 = host === '127.0.0.1';
    return (isV4 ? fail : warn)(
      `port ${port} belongs to this Hivebar, but at ${host} ${describe(intruder, result)}`,
      isV4 ? OTHER : next,
    );
  }
  const occupied = listeners.find(([, candidate]) => candidate.is !== 'nobody' && candidate.is !== 'no-address');
  if (occupied === undefined) return ok(`${port} is free`);
  const [host, occupant] = occupied;
  return fail(
    `${host}:${port}: ${describe(occupant, result)}`,
    occupant.is === 'hivebar' ? `quit that one, or ${OTHER.replace('stop it, or ', '')}` : OTHER,
  );
}

function describe(listener: PortListener, { who: owner, ourVersion }: PortProbe): string {
  const by = owner === null ? '' : ` (${owner})`;
  switch (listener.is) {
    case 'nobody':
    case 'no-address':
      return 'no program answers';
    case 'hangs':
      return `another program${by} accepts connections and never answers`;
    case 'closes':
      return `another program${by} accepts connections and closes them`;
    case 'talks':
      return `another program${by} listens and does not speak HTTP: ${JSON.stringify(listener.first)}`;
    case 'http':
      return `another program${by} listens: a web server${listener.server === null ? '' : `, ${listener.server}`}, which answers ${listener.status}`;
    case 'hivebar': {
      const age =
        listener.version === null ? 'another' : isOlder(listener.version, ourVersion) ? 'an older' : 'another';
      const version = listener.version === null ? '' : ` (version ${listener.version})`;
      return `${age} Hivebar${version} listens, of another HIVEBAR_HOME or user${by}`;
    }
  }
}

function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(/[.-]/).slice(0, 3).map(Number));
  for (const [index, number] of (a ?? []).entries()) {
    const other = b?.[index] ?? 0;
    if (number !== other) return number < other;
  }
  return false;
}

/** The end of a persona's event file, compared with the newest event in the database. */
export interface EventFileProbe {
  readonly persona: string;
  readonly path: string;
  readonly newest: string | null;
  readonly file:
    | { readonly is: 'absent' }
    | { readonly is: 'failed'; readonly why: string }
    /** `last`: the event id of the last complete line; null without any. */
    | { readonly is: 'read'; readonly last: string | null; readonly isTorn: boolean };
}

export interface EventFilesProbe {
  readonly files: readonly EventFileProbe[];
  readonly isRunning: boolean;
}

export function judgeEventFiles({ files, isRunning }: EventFilesProbe): Finding {
  const known = files.filter(({ newest }) => newest !== null);
  if (known.length === 0) return skipped('no event has been written yet');
  const bad = known.flatMap((entry) => {
    const why = findFlaw(entry);
    return why === null ? [] : [{ path: entry.path, why }];
  });
  const [first] = bad;
  if (first === undefined) return ok(`${known.length} files are complete`);
  const remainder = bad.length === 1 ? '' : ` (and ${bad.length - 1} more)`;
  const next = isRunning
    ? 'run hivebar doctor again in a minute; if nothing changed, see hivebar status'
    : 'start Hivebar: it repairs its files from the database; nothing is lost';
  return warn(`${first.path} ${first.why}${remainder}`, next);
}

function findFlaw({ file, newest }: EventFileProbe): string | null {
  switch (file.is) {
    case 'absent':
      return 'does not exist; the next event creates it';
    case 'failed':
      return `cannot be read: ${file.why}`;
    case 'read':
      if (file.isTorn) return 'ends in the middle of a line';
      return file.last === newest ? null : 'is behind: its last event is not the newest';
  }
}

export interface HooksSeen {
  /** Checks of this user's hooks, per harness. */
  readonly own: readonly HookCheck[];
  /** Persona daemons that get no turn boundaries, one line each. */
  readonly deaf: readonly string[];
}

/**
 * Judges the hooks. An installed hook that does not run silently leaves its agents without mail, and so does a daemon without
 * hooks.
 */
export function judgeHooks({ own, deaf }: HooksSeen): Finding {
  const ours = own.filter(isInstalled);
  const labels = ours
    .map(({ harness, standing }) => `${RECIPES[harness].label}${standing === 'absent' ? ' (as a plugin)' : ''}`)
    .join(', ');
  const troubles = ours.flatMap((hook) => {
    const trouble = findHookTrouble(hook);
    return trouble === null ? [] : [`${RECIPES[hook.harness].label}: ${trouble}`];
  });
  const hooks = [...troubles, ...deaf];
  if (hooks.length > 0)
    return fail(hooks.join('; '), 'see the files with hivebar hook status; repair them with hivebar hook install');
  if (ours.length === 0) return skipped('no hooks are installed for this user; to install them: hivebar hook install');
  return ok(`${labels}: installed, and they answer`);
}
