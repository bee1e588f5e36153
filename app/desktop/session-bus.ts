/** A value with its D-Bus type, for every place whose signature says `v`. Made by `SessionBus.variant`. */
export interface Variant {
  readonly signature: string;
  readonly value: unknown;
}

/**
 * Why a call brought no answer: the other side `answered` with an error (`errorName`, for example
 * `org.freedesktop.DBus.Error.ServiceUnknown`), the bus is `gone`, or there was no answer in `time`.
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
  /** Lost, or not reached yet; it is tried again by itself. */
  | { readonly is: 'gone'; readonly why: string }
  | { readonly is: 'closed' };

export interface BusCall {
  /** A bus name, well-known or unique. */
  readonly dest: string;
  readonly path: string;
  readonly iface: string;
  readonly member: string;
  /** Of `body`; absent = no arguments. */
  readonly signature?: string;
  readonly body?: readonly unknown[];
  /** Default 5,000. */
  readonly timeoutMs?: number;
}

export interface BusSignal {
  /** The unique name of who sent it. */
  readonly sender: string;
  readonly path: string;
  readonly member: string;
  readonly body: readonly unknown[];
}

export interface SignalFilter {
  /** Signals of anyone but the owner of this name are dropped: anybody on the bus can send a signal to us. */
  readonly sender: string;
  readonly path?: string;
  readonly iface: string;
  readonly member?: string;
}

export interface BusMethod {
  /** D-Bus signatures of arguments and answer, `''` for none. A call with other arguments is refused. */
  readonly in: string;
  readonly out: string;
  /** Gives the answer's values in order. What it throws goes back to the caller as an error. */
  run(args: readonly unknown[], sender: string): readonly unknown[];
}

/** One interface of an object of ours, as a table. */
export interface BusInterface {
  readonly name: string;
  readonly methods: Readonly<Record<string, BusMethod>>;
  /** Name to signature. */
  readonly signals: Readonly<Record<string, string>>;
  /** Read-only for everyone else. */
  readonly properties: Readonly<Record<string, { readonly signature: string; get(): unknown }>>;
}

/** An object of ours on the bus; it stays through reconnects. Disposing takes it off. */
export interface ServedObject extends Disposable {
  /** Nothing happens while the bus is gone: whoever reads us after a reconnect reads anew. */
  emit(iface: string, member: string, body: readonly unknown[]): void;
}

/** One connection to the session bus for the whole process, kept up through losses. */
export interface SessionBus extends AsyncDisposable {
  readonly is: 'bus';
  readonly state: BusState;
  /** Told at each change of `state`, not at once. */
  states(listener: (state: BusState) => void): Disposable;
  /** @throws BusError */
  call(call: BusCall): Promise<readonly unknown[]>;
  /** Lasts through reconnects and changes of the sender's owner. */
  signals(filter: SignalFilter, listener: (signal: BusSignal) => void): Disposable;
  /** Told the owner's unique name as soon as it is known (null: nobody), then each change; null while the bus is gone. */
  owner(name: string, listener: (owner: string | null) => void): Disposable;
  serve(path: string, interfaces: readonly BusInterface[]): ServedObject;
  variant(signature: string, value: unknown): Variant;
}

/** There is no session bus for this process, and there will be none. */
export interface NoBus {
  readonly is: 'none';
  readonly why: string;
}
