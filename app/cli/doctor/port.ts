import { type Finding, fail, ok, skipped, warn } from './finding.ts';

/** Who answers at one address. */
export type Listener =
  | { readonly is: 'nobody' }
  /** The machine has no such address. */
  | { readonly is: 'no-address' }
  | { readonly is: 'hangs' }
  | { readonly is: 'closes' }
  /** `version` and `id` are null where it keeps them to itself (`tokenEverywhere`). */
  | { readonly is: 'hivebar'; readonly version: string | null; readonly id: string | null }
  | { readonly is: 'http'; readonly status: number; readonly server: string | null }
  | { readonly is: 'talks'; readonly first: string };

export interface PortSeen {
  /** 0: any. */
  readonly port: number;
  readonly v4: Listener;
  readonly v6: Listener;
  /** The running Hivebar says that this is its port. */
  readonly ours: { readonly id: string } | null;
  readonly ourVersion: string;
  /** The program that listens, where the system tells. */
  readonly who: string | null;
}

const OTHER = 'stop it, or give Hivebar another port: hivebar config set port 7476';

export function judgePort(seen: PortSeen): Finding {
  const { port, v4, v6, ours } = seen;
  if (port === 0) return skipped('any port: it is chosen at the start');
  const all = [
    ['127.0.0.1', v4],
    ['[::1]', v6],
  ] as const;
  if (ours !== null) {
    const bad = all.find(
      ([, one]) => one.is !== 'no-address' && !(one.is === 'hivebar' && (one.id ?? ours.id) === ours.id),
    );
    if (bad === undefined)
      return ok(`http://127.0.0.1:${port}/ is ours${v6.is === 'no-address' ? ' (there is no ::1 here)' : ''}`);
    const [host, one] = bad;
    const next = 'use http://127.0.0.1:PORT/; else stop what listens there and start Hivebar again';
    const isV4 = host === '127.0.0.1';
    return (isV4 ? fail : warn)(`port ${port} is ours, but at ${host} ${describe(one, seen)}`, isV4 ? OTHER : next);
  }
  const taken = all.find(([, one]) => one.is !== 'nobody' && one.is !== 'no-address');
  if (taken === undefined) return ok(`${port} is free`);
  const [host, one] = taken;
  return fail(
    `${host}:${port}: ${describe(one, seen)}`,
    one.is === 'hivebar' ? `quit that one, or ${OTHER.replace('stop it, or ', '')}` : OTHER,
  );
}

function describe(one: Listener, { who, ourVersion }: PortSeen): string {
  const by = who === null ? '' : ` (${who})`;
  switch (one.is) {
    case 'nobody':
    case 'no-address':
      return 'nobody answers';
    case 'hangs':
      return `something${by} takes connections and never answers`;
    case 'closes':
      return `something${by} takes connections and closes them`;
    case 'talks':
      return `a stranger${by} listens, which speaks no HTTP: ${JSON.stringify(one.first)}`;
    case 'http':
      return `a stranger${by} listens: a web server${one.server === null ? '' : `, ${one.server}`}, which answers ${one.status}`;
    case 'hivebar': {
      const age = one.version === null ? 'another' : isOlder(one.version, ourVersion) ? 'an older' : 'another';
      const version = one.version === null ? '' : ` (version ${one.version})`;
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
