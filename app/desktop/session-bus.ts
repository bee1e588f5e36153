/** A value with its D-Bus type, for every place whose signature is `v`. `SessionBus.variant` makes it. */
export interface Variant {
  readonly signature: string;
  readonly value: unknown;
}

/**
 * Why a call failed: the other side `answered` with an error (`errorName`, for example
 * `org.freedesktop.DBus.Error.ServiceUnknown`), the bus is `gone`, or no answer came in `time`.
 */
export class BusError extends Error {
  readonly is: 'answered' | 'gone' | 'time';
  readonly errorName: string | null;

  constructor(is: 'answered' | 'gone' | 'time', message: string, errorName: string | null = null) {
    super(message);
    this.name = 'BusError';
    this.is = is;
    this.errorName = errorName;
  }
}

export type BusState =
  | { readonly is: 'connected'; readonly uniqueName: string }
  /** Lost, or not reached yet. The connection is retried automatically. */
  | { readonly is: 'gone'; readonly why: string }
  | { readonly is: 'closed' };

export interface BusCall {
  /** A bus name, well-known or unique. */
  readonly dest: string;
  readonly path: string;
  readonly iface: string;
  readonly member: string;
  /** The signature of `body`; absent for no arguments. */
  readonly signature?: string;
  readonly body?: readonly unknown[];
  /** The default is 5,000. */
  readonly timeoutMs?: number;
}

export interface BusSignal {
  /** The unique name of the sender. */
  readonly sender: string;
  readonly path: string;
  readonly member: string;
  readonly body: readonly unknown[];
}

export interface SignalFilter {
  /** Signals from anyone but the owner of this name are dropped, because any program on the bus can send us a signal. */
  readonly sender: string;
  readonly path?: string;
  readonly iface: string;
  readonly member?: string;
}

export interface BusMethod {
  /** The D-Bus signatures of arguments and answer, `''` for none. A call with other arguments is refused. */
  readonly in: string;
  readonly out: string;
  /** Returns the values of the answer in order. The caller gets an exception as an error. */
  run(args: readonly unknown[], sender: string): readonly unknown[];
}

/** One interface of an object of ours, as a table. */
export interface BusInterface {
  readonly name: string;
  readonly methods: Readonly<Record<string, BusMethod>>;
  /** The signature of each signal by its name. */
  readonly signals: Readonly<Record<string, string>>;
  /** Other programs can only read them. */
  readonly properties: Readonly<Record<string, { readonly signature: string; get(): unknown }>>;
}

/** An object of ours on the bus. It stays through reconnects. Disposing removes it. */
export interface ServedObject extends Disposable {
  /** Does nothing while the bus is gone, because readers read all properties again after a reconnect. */
  emit(iface: string, member: string, body: readonly unknown[]): void;
}

/** One connection to the session bus for the whole process. It is opened again after a loss. */
export interface SessionBus extends AsyncDisposable {
  readonly is: 'bus';
  readonly state: BusState;
  /** Calls the listener at each change of `state`, but not at once. */
  states(listener: (state: BusState) => void): Disposable;
  /** @throws BusError */
  call(call: BusCall): Promise<readonly unknown[]>;
  /** Works through reconnects and changes of the sender's owner. */
  signals(filter: SignalFilter, listener: (signal: BusSignal) => void): Disposable;
  /**
   * Calls the listener with the owner's unique name as soon as it is known (null for no owner), then at each change. It is null
   * while the bus is gone.
   */
  owner(name: string, listener: (owner: string | null) => void): Disposable;
  serve(path: string, interfaces: readonly BusInterface[]): ServedObject;
  variant(signature: string, value: unknown): Variant;
}

/** There is no session bus for this process, and there will be none. */
export interface NoBus {
  readonly is: 'none';
  readonly why: string;
}

type BusAddress =
  | { readonly is: 'address'; readonly address: string }
  /** Applies when something exists at `path`. */
  | {
      readonly is: 'if-exists';
      readonly path: string;
      readonly address: string;
    }
  | { readonly is: 'none'; readonly why: string };

/**
 * Finds the session bus: DBUS_SESSION_BUS_ADDRESS, else `$XDG_RUNTIME_DIR/bus`. Nothing else is tried, because other rules (an
 * X11 property, starting a bus) would find or create a bus that no desktop listens to.
 */
export function findBusAddress(env: Readonly<Record<string, string | undefined>>): BusAddress {
  const address = env.DBUS_SESSION_BUS_ADDRESS;
  if (address !== undefined && address !== '') return { is: 'address', address: address };
  const runtime = env.XDG_RUNTIME_DIR;
  if (runtime?.startsWith('/')) {
    const path = `${runtime.replace(/\/+$/, '')}/bus`;
    return { is: 'if-exists', path, address: `unix:path=${path}` };
  }
  return {
    is: 'none',
    why: 'neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set',
  };
}
