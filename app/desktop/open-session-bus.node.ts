import { existsSync } from 'node:fs';
import type { Clock, Log } from '../../core/ports/index.ts';
import {
  answerCall,
  type BusConnection,
  type BusConnectionEvents,
  type DBusLibrary,
  loadLibrary,
  openBusConnection,
} from './bus-connection.node.ts';
import {
  BusError,
  type BusInterface,
  type BusSignal,
  type BusState,
  findBusAddress,
  type NoBus,
  type SessionBus,
  type SignalFilter,
} from './session-bus.ts';

const MESSAGE_BUS = 'org.freedesktop.DBus';
const RETRY_FIRST_MS = 1000;
const RETRY_MOST_MS = 60_000;

export interface BusNeeds {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly clock: Clock;
  /** Ends the first attempt and closes the bus. Later the bus is disposed like anything else. */
  readonly stop?: AbortSignal;
}

/**
 * Joins the session bus that the environment names. Resolves after the first attempt: connected, or `gone` and retrying (1, 2, 4
 * ... 60 s), or `none` when there is no bus to try. The D-Bus library is loaded only if there is one.
 */
export async function openSessionBus({ env, log, clock, stop }: BusNeeds): Promise<SessionBus | NoBus> {
  const busAddress = findBusAddress(env);
  if (busAddress.is === 'none') return busAddress;
  if (busAddress.is === 'if-exists' && !existsSync(busAddress.path)) {
    return {
      is: 'none',
      why: `DBUS_SESSION_BUS_ADDRESS is not set and ${busAddress.path} does not exist`,
    };
  }
  const bus = new ReconnectingBus(await loadLibrary(), busAddress.address, log, clock);
  const close = (): void => void bus[Symbol.asyncDispose]();
  stop?.addEventListener('abort', close, { once: true });
  await bus.connect();
  stop?.removeEventListener('abort', close);
  return bus;
}

interface Subscription {
  readonly filter: SignalFilter;
  readonly listener: (signal: BusSignal) => void;
}

interface NameOwner {
  /** Undefined while it is not known. */
  owner: string | null | undefined;
  readonly listeners: Set<(owner: string | null) => void>;
}

class ReconnectingBus implements SessionBus {
  readonly is = 'bus';
  state: BusState = { is: 'gone', why: 'not connected yet' };
  readonly #library: DBusLibrary;
  readonly #address: string;
  readonly #log: Log;
  readonly #clock: Clock;
  #link: BusConnection | null = null;
  readonly #closing = new AbortController();
  #retry: Disposable | null = null;
  #wait = RETRY_FIRST_MS;
  readonly #stateListeners = new Set<(state: BusState) => void>();
  readonly #subscriptions = new Set<Subscription>();
  readonly #owners = new Map<string, NameOwner>();
  readonly #objects = new Map<string, readonly BusInterface[]>();

  constructor(library: DBusLibrary, address: string, log: Log, clock: Clock) {
    this.#library = library;
    this.#address = address;
    this.#log = log;
    this.#clock = clock;
  }

  async connect(): Promise<void> {
    const events: BusConnectionEvents = {
      signal: (signal) => this.#signal(signal),
      incoming: (call) => answerCall(call, this.#objects.get(call.path), this.variant),
      lost: (why) => this.#lost(why),
    };
    let link: BusConnection;
    try {
      link = await openBusConnection(this.#library, this.#address, this.#clock, events, this.#closing.signal);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      this.#lost(error.message);
      return;
    }
    if (this.state.is === 'closed') return link.close();
    this.#link = link;
    this.#wait = RETRY_FIRST_MS;
    for (const name of this.#owners.keys()) this.#watch(name);
    for (const { filter } of this.#subscriptions) this.#match('AddMatch', formatMatchRule(filter));
    this.#become({ is: 'connected', uniqueName: link.uniqueName });
  }

  #lost(why: string): void {
    if (this.state.is === 'closed') return;
    const isNews = this.state.is === 'connected' || this.#wait === RETRY_FIRST_MS;
    if (isNews) this.#log.warn('session bus: gone, trying again', { why });
    this.#link = null;
    this.#become({ is: 'gone', why });
    for (const name of this.#owners.keys()) this.#owned(name, null);
    this.#retry = this.#clock.after(this.#wait, () => {
      this.connect().catch((error: unknown) => this.#log.error('session bus: given up', { error: String(error) }));
    });
    this.#wait = Math.min(this.#wait * 2, RETRY_MOST_MS);
  }

  #become(state: BusState): void {
    this.state = state;
    for (const listener of [...this.#stateListeners]) listener(state);
  }

  states(listener: (state: BusState) => void): Disposable {
    return addToSet(this.#stateListeners, listener);
  }

  call: SessionBus['call'] = async (call) => {
    if (this.#link === null) throw new BusError('gone', `${call.iface}.${call.member}: the bus is gone`);
    return this.#link.call(call);
  };

  variant: SessionBus['variant'] = (signature, value) => new this.#library.Variant(signature, value);

  signals(filter: SignalFilter, listener: (signal: BusSignal) => void): Disposable {
    const owner = isUnique(filter.sender) ? null : this.owner(filter.sender, () => {});
    const subscription: Subscription = { filter, listener };
    this.#subscriptions.add(subscription);
    this.#match('AddMatch', formatMatchRule(filter));
    return {
      [Symbol.dispose]: () => {
        if (!this.#subscriptions.delete(subscription)) return;
        this.#match('RemoveMatch', formatMatchRule(filter)); // the bus counts equal rules, so another subscription keeps its own
        owner?.[Symbol.dispose]();
      },
    };
  }

  owner(name: string, listener: (owner: string | null) => void): Disposable {
    let ownerEntry = this.#owners.get(name);
    if (ownerEntry === undefined) {
      ownerEntry = { owner: undefined, listeners: new Set() };
      this.#owners.set(name, ownerEntry);
      if (this.#link === null) ownerEntry.owner = null;
      else this.#watch(name);
    }
    const { listeners, owner } = ownerEntry;
    const own = (owner: string | null): void => listener(owner); // each subscription its own, because listeners may repeat
    listeners.add(own);
    if (owner !== undefined) queueMicrotask(() => listeners.has(own) && own(ownerEntry.owner ?? null));
    return {
      [Symbol.dispose]: () => {
        if (!listeners.delete(own) || listeners.size > 0 || this.#owners.get(name) !== ownerEntry) return;
        this.#owners.delete(name);
        this.#match('RemoveMatch', formatOwnerRule(name));
      },
    };
  }

  serve: SessionBus['serve'] = (path, interfaces) => {
    if (this.#objects.has(path)) throw new Error(`${path} is served already`);
    this.#objects.set(path, interfaces);
    return {
      emit: (iface, member, body) => {
        const signature = interfaces.find((i) => i.name === iface)?.signals[member];
        if (signature === undefined) throw new Error(`no signal ${iface}.${member} at ${path}`);
        this.#link?.emit(path, iface, member, signature, body);
      },
      [Symbol.dispose]: () => {
        if (this.#objects.get(path) === interfaces) this.#objects.delete(path);
      },
    };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.state.is === 'closed') return;
    this.#retry?.[Symbol.dispose]();
    const link = this.#link;
    this.#link = null;
    this.#become({ is: 'closed' });
    this.#stateListeners.clear();
    this.#closing.abort(); // otherwise an attempt in progress would keep the process alive until its timeout
    await link?.close();
  }

  #signal(signal: BusSignal & { readonly iface: string }): void {
    if (signal.sender === MESSAGE_BUS && signal.member === 'NameOwnerChanged') {
      const [name, , owner] = signal.body;
      if (typeof name === 'string') this.#owned(name, typeof owner === 'string' && owner !== '' ? owner : null);
    }
    for (const { filter, listener } of [...this.#subscriptions]) {
      if (filter.iface !== signal.iface) continue;
      if (filter.member !== undefined && filter.member !== signal.member) continue;
      if (filter.path !== undefined && filter.path !== signal.path) continue;
      const sender = isUnique(filter.sender) ? filter.sender : this.#owners.get(filter.sender)?.owner;
      if (sender === signal.sender) listener(signal);
    }
  }

  #owned(name: string, owner: string | null): void {
    const ownerEntry = this.#owners.get(name);
    if (ownerEntry === undefined || ownerEntry.owner === owner) return;
    ownerEntry.owner = owner;
    for (const listener of [...ownerEntry.listeners]) listener(owner);
  }

  /** The rule is added before the question is asked, so that a change in between is reported. */
  #watch(name: string): void {
    const link = this.#link;
    if (link === null) return;
    this.#match('AddMatch', formatOwnerRule(name));
    link.call({ ...buildMessageBusCall('GetNameOwner', 's', [name]) }).then(
      ([owner]) => link === this.#link && this.#owned(name, String(owner)),
      (error: unknown) => {
        // "NameHasNoOwner" is the answer when there is no owner; `lost` reports a lost bus
        if (link === this.#link && error instanceof BusError && error.is === 'answered') this.#owned(name, null);
      },
    );
  }

  #match(member: 'AddMatch' | 'RemoveMatch', rule: string): void {
    this.#callMessageBus(member, 's', [rule]);
  }

  #callMessageBus(member: string, signature: string, body: readonly unknown[]): void {
    this.#link?.call(buildMessageBusCall(member, signature, body)).catch((error: unknown) => {
      if (error instanceof BusError && error.is === 'gone') return; // it is done again after the reconnect
      this.#log.warn('session bus: refused', {
        member,
        argument: body[0],
        error: String(error),
      });
    });
  }
}

function buildMessageBusCall(member: string, signature: string, body: readonly unknown[]) {
  return {
    dest: MESSAGE_BUS,
    path: '/org/freedesktop/DBus',
    iface: MESSAGE_BUS,
    member,
    signature,
    body,
  };
}

function isUnique(name: string): boolean {
  return name.startsWith(':') || name === MESSAGE_BUS;
}

function formatOwnerRule(name: string): string {
  return `type='signal',sender='${MESSAGE_BUS}',interface='${MESSAGE_BUS}',member='NameOwnerChanged',arg0='${name}'`;
}

function formatMatchRule({ sender, path, iface, member }: SignalFilter): string {
  const parts = [`type='signal'`, `sender='${sender}'`, `interface='${iface}'`];
  if (path !== undefined) parts.push(`path='${path}'`);
  if (member !== undefined) parts.push(`member='${member}'`);
  return parts.join(',');
}

function addToSet<T>(set: Set<T>, item: T): Disposable {
  set.add(item);
  return { [Symbol.dispose]: () => void set.delete(item) };
}
