import type { Instant } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';

/** Who joins, as it described itself. */
export interface Joiner {
  /** A daemon listens and supervises; it is not an agent and never the master of anything. An agent is a surface. */
  readonly kind: 'daemon' | 'agent';
  readonly tenant: string;
  readonly identity: string;
  /** Its persona in the local hive. */
  readonly address: string;
  readonly surface: string;
  readonly project: string;
  readonly machine: string;
  readonly version: string;
}

/** The last heartbeat of a connected peer. */
export interface PeerHeartbeat {
  readonly at: Instant;
  readonly seq: number;
  readonly fsm: string;
  readonly taxonomy: string;
  readonly pendingDepth: number;
  /** In seconds. */
  readonly drainAge: number;
}

/** A connected peer. */
export interface Registration extends Joiner {
  readonly id: string;
  readonly since: Instant;
  readonly heartbeat: PeerHeartbeat | null;
}

/** An announced session of an agent. */
export interface AnnouncedAgent {
  readonly id: string;
  readonly address: string;
  readonly surface: string;
  readonly project: string;
  readonly since: Instant;
  /** Null: the session is at work. */
  readonly left: { readonly reason: 'wrap' | 'expire'; readonly at: Instant } | null;
}

/** Why a binding ended: the peer said so, it was not heard of for too long, or another peer took its place. */
export type LeftReason = 'wrap' | 'expire' | 'preempt';

/** A route to a persona that no longer exists (seed, "Routing-registry lifecycle"). */
export interface StaleBinding {
  readonly kind: 'daemon' | 'agent';
  readonly identity: string;
  readonly surface: string;
  readonly reason: LeftReason;
  readonly since: Instant;
}

/** A change that connected daemons of an address are notified of. */
export type PeerChange =
  | { readonly is: 'peer_joined'; readonly identity: string; readonly surface: string }
  | {
      readonly is: 'peer_left';
      readonly identity: string;
      readonly surface: string;
      readonly reason: LeftReason;
    };

/** How a connected peer is notified. */
export interface Peer {
  tell(change: PeerChange): void;
  preempted(): void;
}

export interface Registrations extends Disposable {
  /**
   * Registers a peer and returns its id. Null: this tenant and identity has a daemon already, and a second one must wait. An
   * agent replaces the previous one on the same surface, whose `preempted` is called.
   */
  join(joiner: Joiner, peer: Peer): string | null;
  heard(id: string, heartbeat: PeerHeartbeat): void;
  /**
   * Removes a connection. `wrap`: the peer said that its persona is over. Otherwise it may come again, and its binding holds for
   * `EXPIRE_MS`.
   */
  leave(id: string, why: 'wrap' | 'lost'): void;
  connected(): readonly Registration[];
  /** Announced sessions that are at work. */
  sessions(): readonly AnnouncedAgent[];
  /** The last ended route to this address. Null: a route exists, or none ever existed and the signal waits. */
  stale(address: string): StaleBinding | null;
  /** Call it when agents may have come or gone in another process. */
  refresh(): void;
}

export interface RegistrationsOptions {
  readonly clock: Clock;
  /** Returns a new id. */
  readonly newId: () => string;
  /** The installed daemons: each has as long to connect as one whose connection was lost. */
  readonly expected: readonly BindingTarget[];
  /** The announced sessions of one address, or of all (null), including those that are over. */
  readonly sessions: (address: string | null) => readonly AnnouncedAgent[];
}

/**
 * A daemon that lost its connection and did not come back within this time is gone. It is twice the daemon's longest retry wait.
 */
export const EXPIRE_MS = 120_000;

type BindingTarget = Pick<Joiner, 'kind' | 'identity' | 'address' | 'surface'>;

/** A route to a persona over a peer that is or was connected. */
interface Binding extends BindingTarget {
  state:
    | { readonly is: 'active'; readonly expiry: Disposable | null }
    | { readonly is: 'left'; readonly reason: LeftReason; readonly at: Instant };
}

interface ConnectedPeer {
  registration: Registration;
  readonly peer: Peer;
}

/** How many routes to one persona are remembered. */
const MOST_BINDINGS = 32;
/** Sessions come and go in other processes, and not all of them report it. So heartbeats trigger a refresh at this interval. */
const REFRESH_MS = 10_000;

/** A persona has one daemon: on another surface it replaces the previous one. It has one agent per surface. */
function formatBindingKey({ kind, address, identity, surface }: BindingTarget): string {
  return JSON.stringify([kind, address, identity, kind === 'daemon' ? null : surface]);
}

/**
 * Keeps who is connected, in memory; rebuilt as peers connect (persona daemon, contract 2; seed, "Daemon registration model").
 */
export function createRegistrations(options: RegistrationsOptions): Registrations {
  const { clock, newId } = options;
  const present = new Map<string, ConnectedPeer>();
  const bindings = new Map<string, Binding>();
  /** The surfaces of an address with an agent at work, as last reported. */
  let working = new Map<string, AnnouncedAgent>();

  let refreshedAt = clock.monotonic();

  for (const target of options.expected) lapse(bind(target));

  function bind({ kind, address, identity, surface }: BindingTarget): Binding {
    const key = formatBindingKey({ kind, address, identity, surface });
    const before = bindings.get(key);
    if (before !== undefined && before.surface !== surface) unbind(before, 'preempt');
    if (before?.state.is === 'active') before.state.expiry?.[Symbol.dispose]();
    const binding: Binding = { kind, address, identity, surface, state: { is: 'active', expiry: null } };
    bindings.delete(key); // the newest comes last
    bindings.set(key, binding);
    forgetOld(address);
    return binding;
  }

  function forgetOld(address: string): void {
    const addressBindings = [...bindings].filter(([, binding]) => binding.address === address);
    for (const [key, { state }] of addressBindings.slice(0, Math.max(0, addressBindings.length - MOST_BINDINGS))) {
      if (state.is === 'left' || state.expiry !== null) bindings.delete(key);
      if (state.is === 'active') state.expiry?.[Symbol.dispose]();
    }
  }

  /** Lets a binding hold for a while, and then ends it. */
  function lapse(binding: Binding): void {
    binding.state = { is: 'active', expiry: clock.after(EXPIRE_MS, () => unbind(binding, 'expire')) };
  }

  function unbind(binding: Binding, reason: LeftReason): void {
    if (binding.state.is === 'left') return;
    binding.state.expiry?.[Symbol.dispose]();
    binding.state = { is: 'left', reason, at: clock.now() };
    const { address, identity, surface } = binding;
    tellAll(address, { is: 'peer_left', identity, surface, reason });
  }

  function tellAll(address: string, change: PeerChange, but: string | null = null): void {
    for (const [id, { registration, peer }] of present) {
      if (registration.address === address && id !== but) peer.tell(change);
    }
  }

  function preempt(id: string, { registration, peer }: ConnectedPeer): void {
    present.delete(id);
    const binding = bindings.get(formatBindingKey(registration));
    if (binding !== undefined) unbind(binding, 'preempt');
    peer.preempted();
  }

  /** The newest agent at work, by address and surface. */
  function findWorking(agents: readonly AnnouncedAgent[]): Map<string, AnnouncedAgent> {
    const newest = new Map<string, AnnouncedAgent>();
    for (const agent of agents) {
      if (agent.left !== null) continue;
      const key = JSON.stringify([agent.address, agent.surface]);
      const other = newest.get(key);
      if (other === undefined || other.since < agent.since) newest.set(key, agent);
    }
    return newest;
  }

  function refresh(): void {
    if (present.size === 0) return; // nobody would be notified
    refreshedAt = clock.monotonic();
    const before = working;
    const agents = options.sessions(null);
    working = findWorking(agents);
    const over = new Map(agents.flatMap(({ id, left }) => (left === null ? [] : [[id, left.reason]])));
    for (const [key, agent] of before) {
      const now = working.get(key);
      if (now?.id === agent.id) continue;
      const { address, surface } = agent;
      const reason = now === undefined ? (over.get(agent.id) ?? 'wrap') : 'preempt';
      tellAll(address, { is: 'peer_left', identity: address, surface, reason });
    }
    for (const [key, { id, address, surface }] of working) {
      if (before.get(key)?.id !== id) tellAll(address, { is: 'peer_joined', identity: address, surface });
    }
  }

  return {
    join(joiner, peer) {
      const key = formatBindingKey(joiner);
      const other = [...present].find(
        ([, { registration }]) => registration.tenant === joiner.tenant && formatBindingKey(registration) === key,
      );
      if (other !== undefined && joiner.kind === 'daemon') return null;
      if (other !== undefined) preempt(...other);
      if (present.size === 0) working = findWorking(options.sessions(null));
      const { address, identity, surface } = joiner;
      bind(joiner);
      const id = newId();
      present.set(id, { registration: { ...joiner, id, since: clock.now(), heartbeat: null }, peer });
      tellAll(address, { is: 'peer_joined', identity, surface }, id);
      return id;
    },
    heard(id, heartbeat) {
      const connected = present.get(id);
      if (connected === undefined) return;
      connected.registration = { ...connected.registration, heartbeat };
      if (clock.monotonic() - refreshedAt >= REFRESH_MS) refresh();
    },
    leave(id, why) {
      const connected = present.get(id);
      if (connected === undefined) return;
      present.delete(id);
      const binding = bindings.get(formatBindingKey(connected.registration));
      if (binding === undefined) return;
      if (why === 'wrap') unbind(binding, 'wrap');
      else lapse(binding);
    },
    connected: () => [...present.values()].map(({ registration }) => registration),
    sessions: () => options.sessions(null).filter(({ left }) => left === null),
    stale(address) {
      const agents = options.sessions(address);
      const bound = [...bindings.values()].filter((binding) => binding.address === address);
      const isActive = agents.some(({ left }) => left === null) || bound.some(({ state }) => state.is === 'active');
      if (isActive) return null;
      const left: StaleBinding[] = [];
      for (const { kind, identity, surface, state } of bound) {
        if (state.is === 'left') left.push({ kind, identity, surface, reason: state.reason, since: state.at });
      }
      for (const { surface, left: over } of agents) {
        if (over !== null)
          left.push({ kind: 'agent', identity: address, surface, reason: over.reason, since: over.at });
      }
      return left.toSorted((a, b) => b.since - a.since)[0] ?? null;
    },
    refresh,
    [Symbol.dispose]() {
      for (const { state } of bindings.values()) if (state.is === 'active') state.expiry?.[Symbol.dispose]();
      present.clear();
    },
  };
}
