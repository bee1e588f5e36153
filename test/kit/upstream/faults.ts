/** What the answer to a peek is, instead of the right one. */
export type PendingFault =
  | { readonly is: 'status'; readonly status: number }
  | { readonly is: 'bad-json' }
  /** JSON of another shape: `{"rev":"one"}`. */
  | { readonly is: 'bad-shape'; readonly body?: unknown }
  /** The right answer, later. */
  | { readonly is: 'delay'; readonly ms: number }
  | { readonly is: 'hang' };

/** What becomes of a stream that wants to open. */
export type StreamFault =
  /** The upgrade itself is answered with an HTTP status. */
  | { readonly is: 'status'; readonly status: number }
  /** Closed as soon as its hello came. */
  | { readonly is: 'close'; readonly code: number; readonly retryAfterMs?: number }
  /** Open, and nothing is ever said. */
  | { readonly is: 'mute' }
  /** Another persona is welcomed than the one that said hello. */
  | { readonly is: 'other-identity'; readonly identity: string };

/** The switches of the reference upstream; each holds until it is set back or `heal` is called. */
export interface Faults {
  pending: PendingFault | null;
  stream: StreamFault | null;
  /** Half-open: no ping and no frame goes out, and every open stream stays open. */
  halfOpen: boolean;
  /** A drain marks, and no stream hears of it. */
  dropDrained: boolean;
  /** A second hello of one identity is welcomed instead of closed with 4409. */
  allowDuplicate: boolean;
  /** Added to every time of day that is said, in milliseconds. */
  skewMs: number;
  /** `POST /v1/signals` for one of these identities is refused with 409; the value is the binding that is told. */
  readonly staleTargets: Map<string, string>;
}

export function noFaults(): Faults {
  return {
    pending: null,
    stream: null,
    halfOpen: false,
    dropDrained: false,
    allowDuplicate: false,
    skewMs: 0,
    staleTargets: new Map(),
  };
}
