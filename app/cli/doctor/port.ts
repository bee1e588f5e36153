import { type Finding, fail, ok, skipped, warn } from './finding.ts';

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
  if (port === 0) return skipped('any port: it is chosen at the start');
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
      return ok(`http://127.0.0.1:${port}/ is ours${v6.is === 'no-address' ? ' (there is no ::1 here)' : ''}`);
    const [host, intruder] = bad;
    const next = 'use http://127.0.0.1:PORT/; else stop what listens there and start Hivebar again';
    const isV4 = host === '127.0.0.1';
    return (isV4 ? fail : warn)(
      `port ${port} is ours, but at ${host} ${describe(intruder, result)}`,
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
      return 'nobody answers';
    case 'hangs':
      return `something${by} takes connections and never answers`;
    case 'closes':
      return `something${by} takes connections and closes them`;
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
