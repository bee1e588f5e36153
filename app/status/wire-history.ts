/** The answers of the history routes. The page uses the same types. */

/** The answer of `GET /api/v1/history`. `states` has one letter per slot: U up, F failing, D down, - unknown. */
export interface HistoryWire {
  readonly from: string;
  readonly to: string;
  readonly slots: number;
  readonly personas: Readonly<Record<string, { readonly unread: readonly (number | null)[]; readonly states: string }>>;
}

/** The answer of `GET /api/v1/personas/ID/history`. */
export interface PersonaHistoryWire {
  readonly from: string;
  readonly to: string;
  readonly points: readonly (readonly [string, number | null])[];
  readonly states: readonly {
    readonly state: 'up' | 'failing' | 'down' | 'unknown';
    readonly from: string;
    readonly to: string;
  }[];
}

/** One entry of `GET /api/v1/alerts`. A null `until` means that it goes on, for `seconds` so far. */
export interface AlertWire {
  readonly key: string;
  readonly scope: 'persona' | 'source' | 'machine';
  readonly message: string;
  readonly personas: readonly string[];
  readonly since: string;
  readonly until: string | null;
  readonly seconds: number;
}
