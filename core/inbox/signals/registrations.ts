import type { Instant } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';

/** Whom a registration speaks of, as it said itself when it joined. */
export interface Joiner {
  readonly tenant: string;
  readonly identity: string;
  /** Its persona in the local hive. */
  readonly address: string;
  readonly surface: string;
  readonly project: string;
  readonly machine: string;
  readonly version: string;
}

/** What a daemon last said of itself. */
export interface Heartbeat {
  readonly at: Instant;
  readonly seq: number;
  readonly fsm: string;
  readonly taxonomy: string;
  readonly pendingDepth: number;
  /** Seconds. */
  readonly drainAge: number;
}

/** A daemon that is connected. It supervises and listens: it is no agent, and never becomes the master of anything. */
export interface Registration extends Joiner {
  readonly id: string;
  readonly since: Instant;
  readonly heartbeat: Heartbeat | null;
}

/** A session of an agent, as it was announced. */
export interface Agent {
  readonly id: string;
  readonly address: string;
  readonly surface: string;
  readonly project: string;
  readonly since: Instant;
  /** Null: it is at work. */
  readonly left: { readonly reason: 'wrap' | 'expire'; readonly at: Instant } | null;
}

/** Why a binding is not valid any more: it said so, it was not heard of for too long, another took its place. */
export type LeftReason = 'wrap' | 'expire' | 'preempt';

/** A way to a persona that was there and is no more (seed, "Routing-registry lifecycle"). */
export interface StaleBinding {
  readonly kind: 'daemon' | 'agent';
  readonly identity: string;
  readonly surface: string;
  readonly reason: LeftReason;
  readonly since: Instant;
}

/** What the connected daemons of an address are told. */
export type PeerChange =
  | { readonly is: 'peer_joined'; readonly identity: string; readonly surface: string }
  | {
      readonly is: 'peer_left';
      readonly identity: string;
      readonly surface: string;
      readonly reason: LeftReason;
    };

export interface Registrations extends Disposable {
  /** Null: this tenant and identity is registered already, and the second one has to wait. */
  join(joiner: Joiner, tell: (change: PeerChange) => void): string | null;
  heard(id: string, heartbeat: Heartbeat): void;
  /** `wrap`: it said that its persona is over. Else it may come again, and its binding holds for `EXPIRE_MS`. */
  leave(id: string, why: 'wrap' | 'lost'): void;
  daemons(): readonly Registration[];
  agents(): readonly Agent[];
  /** Null: a signal to this address has somebody to go to, or nobody was ever known there and it waits. */
  stale(address: string): StaleBinding | null;
  /** Agents may have come or gone, in another process. */
  look(): void;
}

export interface RegistrationsOptions {
  readonly clock: Clock;
  /** A new id. */
  readonly newId: () => string;
  /** Those that are installed: each has as long to come as one that was cut off. */
  readonly expected: readonly Bound[];
  /** The announced sessions of all personas; those that are over too. */
  readonly agents: () => readonly Agent[];
}

/** A daemon that was cut off and did not come again for so long is gone: twice the longest wait of its ladder. */
export const EXPIRE_MS = 120_000;

type Bound = Pick<Joiner, 'identity' | 'address' | 'surface'>;

/** One persona has one daemon: on another surface it takes the place of what it was. */
interface DaemonBinding extends Bound {
  state:
    | { readonly is: 'active'; readonly expiry: Disposable | null }
    | { readonly is: 'left'; readonly reason: LeftReason; readonly at: Instant };
}

interface Present {
  registration: Registration;
  readonly tell: (change: PeerChange) => void;
}

function keyOf({ address, identity }: Pick<Joiner, 'identity' | 'address'>): string {
  return JSON.stringify([address, identity]);
}

/** Who is there, in memory: it is made anew by those who connect (persona daemon, contract 2; seed, "Daemon registration model"). */
export function keepRegistrations(options: RegistrationsOptions): Registrations {
  const { clock, newId } = options;
  const present = new Map<string, Present>();
  const bindings = new Map<string, DaemonBinding>();
  /** The surfaces of an address that have an agent at work, as they were told of. */
  let working = new Map<string, Agent>();

  for (const one of options.expected) lapse(bind(one));

  function bind({ address, identity, surface }: Bound): DaemonBinding {
    const key = keyOf({ address, identity });
    const before = bindings.get(key);
    if (before !== undefined && before.surface !== surface) unbind(before, 'preempt');
    if (before?.state.is === 'active') before.state.expiry?.[Symbol.dispose]();
    const binding: DaemonBinding = { address, identity, surface, state: { is: 'active', expiry: null } };
    bindings.set(key, binding);
    return binding;
  }

  /** It holds for a while, and then no more. */
  function lapse(binding: DaemonBinding): void {
    binding.state = { is: 'active', expiry: clock.after(EXPIRE_MS, () => unbind(binding, 'expire')) };
  }

  function unbind(binding: DaemonBinding, reason: LeftReason): void {
    if (binding.state.is === 'left') return;
    binding.state.expiry?.[Symbol.dispose]();
    binding.state = { is: 'left', reason, at: clock.now() };
    const { address, identity, surface } = binding;
    tellAll(address, { is: 'peer_left', identity, surface, reason });
  }

  function tellAll(address: string, change: PeerChange, but: string | null = null): void {
    for (const [id, { registration, tell }] of present) {
      if (registration.address === address && id !== but) tell(change);
    }
  }

  /** By address and surface, the newest agent that is at work there. */
  function workingOf(agents: readonly Agent[]): Map<string, Agent> {
    const found = new Map<string, Agent>();
    for (const agent of agents) {
      if (agent.left !== null) continue;
      const key = JSON.stringify([agent.address, agent.surface]);
      const other = found.get(key);
      if (other === undefined || other.since < agent.since) found.set(key, agent);
    }
    return found;
  }

  function look(): void {
    if (present.size === 0) return; // nobody would hear of it
    const before = working;
    const agents = options.agents();
    working = workingOf(agents);
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
    join(joiner, tell) {
      const isTaken = [...present.values()].some(
        ({ registration: { tenant, identity } }) => tenant === joiner.tenant && identity === joiner.identity,
      );
      if (isTaken) return null;
      if (present.size === 0) working = workingOf(options.agents());
      const { address, identity, surface } = joiner;
      bind(joiner);
      const id = newId();
      present.set(id, { registration: { ...joiner, id, since: clock.now(), heartbeat: null }, tell });
      tellAll(address, { is: 'peer_joined', identity, surface }, id);
      return id;
    },
    heard(id, heartbeat) {
      const one = present.get(id);
      if (one !== undefined) one.registration = { ...one.registration, heartbeat };
    },
    leave(id, why) {
      const one = present.get(id);
      if (one === undefined) return;
      present.delete(id);
      const binding = bindings.get(keyOf(one.registration));
      if (binding === undefined) return;
      if (why === 'wrap') unbind(binding, 'wrap');
      else lapse(binding);
    },
    daemons: () => [...present.values()].map(({ registration }) => registration),
    agents: () => options.agents().filter(({ left }) => left === null),
    stale(address) {
      const agents = options.agents().filter((agent) => agent.address === address);
      const daemons = [...bindings.values()].filter((binding) => binding.address === address);
      const isActive = agents.some(({ left }) => left === null) || daemons.some(({ state }) => state.is === 'active');
      if (isActive) return null;
      const left: StaleBinding[] = [];
      for (const { identity, surface, state } of daemons) {
        if (state.is === 'left')
          left.push({ kind: 'daemon', identity, surface, reason: state.reason, since: state.at });
      }
      for (const { surface, left: over } of agents) {
        if (over !== null)
          left.push({ kind: 'agent', identity: address, surface, reason: over.reason, since: over.at });
      }
      return left.toSorted((a, b) => b.since - a.since)[0] ?? null;
    },
    look,
    [Symbol.dispose]() {
      for (const { state } of bindings.values()) if (state.is === 'active') state.expiry?.[Symbol.dispose]();
      present.clear();
    },
  };
}
