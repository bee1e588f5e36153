/** Who called, by its token: `observe` is a daemon's, `act` a surface's, none or a wrong one nobody's. */
export type Caller = 'daemon' | 'surface' | 'nobody';

/** One thing that happened on the wire, in its order. `at` is monotonic, in milliseconds. */
export type WireEvent = { readonly at: number; readonly caller: Caller; readonly identity: string | null } & (
  | { readonly is: 'request'; readonly method: string; readonly path: string; readonly status: number }
  | { readonly is: 'upgrade'; readonly path: string; readonly status: number; readonly connection: number | null }
  | { readonly is: 'received'; readonly connection: number; readonly frame: Frame }
  | { readonly is: 'sent'; readonly connection: number; readonly frame: Frame }
  | { readonly is: 'ponged'; readonly connection: number }
  | { readonly is: 'closed'; readonly connection: number; readonly code: number }
);

export type WireEventKind<Is extends WireEvent['is']> = Extract<WireEvent, { is: Is }>;

/** A frame as it was parsed; `type` is `(not JSON)` where it could not be. */
export interface Frame {
  readonly type: string;
  readonly [key: string]: unknown;
}

export function parseFrame(text: string): Frame {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string') {
      return value as Frame;
    }
  } catch {
    // recorded as what it is
  }
  return { type: '(not JSON)' };
}

/** Everything that came and went, for tests to assert on. */
export interface Recording {
  readonly all: readonly WireEvent[];
  list<Is extends WireEvent['is']>(is: Is): readonly WireEventKind<Is>[];
  /** Frames of this type from any client. */
  received(type: string): readonly WireEventKind<'received'>[];
  /** Requests by method and path: `asked('POST', '/v1/signals/pending/drain')`. */
  asked(method: string, path: string): readonly WireEventKind<'request'>[];
  /** What was recorded from here on is counted apart. */
  clear(): void;
  /** Is told of each thing as it is recorded, before anything comes of it. */
  hear(listener: (entry: WireEvent) => void): Disposable;
}

/** What is recorded beside its moment. */
export type Entry = WireEvent extends infer One ? (One extends WireEvent ? Omit<One, 'at'> : never) : never;

export function recording(): Recording & { put(entry: Entry): void } {
  const all: WireEvent[] = [];
  const listeners = new Set<(entry: WireEvent) => void>();
  const list = <Is extends WireEvent['is']>(is: Is): readonly WireEventKind<Is>[] =>
    all.filter((entry): entry is WireEventKind<Is> => entry.is === is);
  return {
    all,
    list,
    received: (type) => list('received').filter(({ frame }) => frame.type === type),
    asked: (method, path) => list('request').filter((entry) => entry.method === method && entry.path === path),
    clear: () => void all.splice(0),
    hear(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    put(entry) {
      const recorded = { at: performance.now(), ...entry } as WireEvent;
      all.push(recorded);
      for (const reported of listeners) reported(recorded);
    },
  };
}
