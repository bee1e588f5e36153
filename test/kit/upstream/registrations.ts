/** A row of `GET /v1/registrations` (persona daemon, contract 2). */
export interface Registration {
  readonly registration_id: string;
  readonly kind: 'daemon' | 'agent';
  readonly master_eligible: boolean;
  readonly tenant_id: string;
  readonly identity: string;
  readonly surface: string;
  readonly project: string | null;
  readonly machine_id: string | null;
  readonly version: string | null;
  /** ISO 8601. */
  readonly since: string;
  /** The last one; `at` is ISO 8601. */
  readonly heartbeat: { readonly at: string; readonly [key: string]: unknown } | null;
}

/** Daemons and agents are counted apart. */
export interface Registrations {
  readonly registrations: readonly Registration[];
  readonly counts: { readonly daemon: number; readonly agent: number };
}

export function countRegistrations(rows: readonly Registration[]): Registrations {
  const count = (kind: Registration['kind']): number => rows.filter((row) => row.kind === kind).length;
  return { registrations: rows, counts: { daemon: count('daemon'), agent: count('agent') } };
}
