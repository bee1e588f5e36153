import { FAULTS, type Fault, type FaultCode, type Instant, type PersonaId, type Scope } from '../model/index.ts';
import type { HistoryFact } from './history.ts';

/** One problem of one persona (it is down, its events are held, its file is behind) or of one source. */
export interface OutageMember {
  readonly why: 'failed' | 'held' | 'behind' | 'source';
  readonly name: string;
}

/** One outage under one cause. */
export interface Outage {
  /** The id in the database; null until the outage is saved. */
  id: number | null;
  readonly key: string;
  readonly scope: Scope['is'];
  readonly message: string;
  readonly since: Instant;
  until: Instant | null;
  /** The members that are in the outage now. */
  readonly open: Set<string>;
  /** The members that entered or left since the last save, and whether they are in the outage now. */
  readonly changed: Map<string, OutageMember & { readonly isOpen: boolean }>;
}

/** An outage that is open in the database, with the members that were still in it. */
export type InheritedOutage = Pick<Outage, 'key' | 'scope' | 'message' | 'since'> & {
  readonly id: number;
  readonly open: readonly OutageMember[];
};

/**
 * Turns facts into outages. An outage opens with the first fault under a key and closes with the end of its last. The
 * board makes its causes from the same faults. The ledger is in memory only; the caller saves it and calls `saved`.
 */
interface OutageLedger {
  hear(fact: HistoryFact, at: Instant): void;
  /**
   * Takes over the outages that were open when the last record ended. They continue until this run gets a fact about
   * them, or ends them.
   */
  inherit(outages: readonly InheritedOutage[], lastSeen: Instant): void;
  /**
   * Ends inherited outages that got no fact, at the time they were last seen. `waits`: the persona is watched and may
   * still get one.
   */
  endUnheard(waits: (persona: PersonaId) => boolean): void;
  /** The outages that the database lacks, in order. */
  readonly unsaved: Iterable<Outage>;
  readonly waiting: number;
  saved(): void;
  /** Marks everything that is open or unsaved as missing in the database, because the database is a new one. */
  startAnew(): void;
}

/** The maximum number of closed outages that wait for a database that cannot be written. The oldest are dropped. */
const MOST_UNSAVED = 1000;

export function createOutageLedger(): OutageLedger {
  const open = new Map<string, Outage>();
  /** The key under which a member has a problem. Members without one are not here, because they may be thousands. */
  const verdicts = new Map<string, string>();
  /** Inherited members without a fact so far, and when they were last seen. */
  const unheard = new Map<
    string,
    { readonly member: OutageMember; readonly key: string; readonly lastSeen: Instant }
  >();
  const unsaved = new Set<Outage>();

  const touch = (outage: Outage, member: OutageMember & { readonly isOpen: boolean }): void => {
    outage.changed.set(toMemberId(member), member);
    unsaved.add(outage);
    if (unsaved.size <= MOST_UNSAVED) return;
    const old = unsaved.values().find(({ until }) => until !== null);
    if (old !== undefined) unsaved.delete(old);
  };
  const add = (member: OutageMember, fault: Fault, since: Instant): void => {
    const { key, is: scope } = fault.scope;
    let outage = open.get(key);
    if (outage === undefined) {
      outage = {
        id: null,
        key,
        scope,
        message: formatAlertMessage(fault),
        since,
        until: null,
        open: new Set(),
        changed: new Map(),
      };
      open.set(key, outage);
    }
    const id = toMemberId(member);
    outage.open.add(id);
    touch(outage, { ...member, isOpen: true });
  };
  const remove = (member: OutageMember, key: string, at: Instant): void => {
    const outage = open.get(key);
    if (outage === undefined || !outage.open.delete(toMemberId(member))) return;
    if (outage.open.size === 0) {
      outage.until = Math.max(outage.since, at); // a clock may have been set back
      open.delete(key);
    }
    touch(outage, { ...member, isOpen: false });
  };
  /** Records which problem a member has now; null: none. */
  const judge = (member: OutageMember, fault: Fault | null, at: Instant, since: Instant = at): void => {
    if (fault === null && verdicts.size === 0 && unheard.size === 0) return;
    const id = toMemberId(member);
    const before = verdicts.get(id) ?? unheard.get(id)?.key ?? null;
    const key = fault?.scope.key ?? null;
    unheard.delete(id);
    if (key === null) verdicts.delete(id);
    else verdicts.set(id, key);
    if (before === key) return;
    // into the new outage first, so that an outage never closes and opens again within one fact
    if (fault !== null) add(member, fault, since);
    if (before !== null) remove(member, before, at);
  };

  return {
    hear(fact, at) {
      switch (fact.is) {
        case 'polled':
          return judge({ why: 'failed', name: fact.persona }, null, at);
        case 'failed':
          // below the threshold nothing is decided, neither for the previous outage nor against it
          if (fact.health.is !== 'down') return;
          return judge({ why: 'failed', name: fact.persona }, fact.fault, at, Math.min(fact.health.since, at));
        case 'held':
          return judge({ why: 'held', name: fact.persona }, fact.fault, at);
        case 'delivered':
          return judge({ why: 'held', name: fact.persona }, null, at);
        case 'published':
          return judge({ why: 'behind', name: fact.persona }, fact.fault, at);
        case 'source':
          return judge({ why: 'source', name: fact.source }, fact.fault, at);
        case 'left':
          for (const why of ['failed', 'held', 'behind'] as const) judge({ why, name: fact.persona }, null, at);
          return;
        default:
          return;
      }
    },
    inherit(outages, lastSeen) {
      for (const { open: members, ...outage } of outages) {
        const ids = members.map(toMemberId);
        open.set(outage.key, { ...outage, until: null, open: new Set(ids), changed: new Map() });
        for (const member of members) unheard.set(toMemberId(member), { member, key: outage.key, lastSeen });
      }
    },
    endUnheard(waits) {
      for (const [id, { member, key, lastSeen }] of [...unheard]) {
        if (member.why === 'failed' && waits(member.name)) continue;
        unheard.delete(id);
        remove(member, key, lastSeen);
      }
    },
    get unsaved() {
      return unsaved;
    },
    get waiting() {
      return unsaved.size;
    },
    saved() {
      for (const outage of unsaved) outage.changed.clear();
      unsaved.clear();
    },
    startAnew() {
      for (const outage of unsaved) outage.id = null;
      for (const outage of open.values()) {
        outage.id = null;
        for (const id of outage.open) outage.changed.set(id, { ...parseMemberId(id), isOpen: true });
        unsaved.add(outage);
      }
    },
  };
}

function toMemberId({ why, name }: OutageMember): string {
  return `${why} ${name}`;
}

function parseMemberId(id: string): OutageMember {
  const at = id.indexOf(' ');
  return { why: id.slice(0, at) as OutageMember['why'], name: id.slice(at + 1) };
}

/** Our own words for faults whose message may quote foreign text, because every local user can read the history on loopback. */
const OWN_WORDS: Partial<Record<FaultCode, string>> = {
  'not-json': 'the answer is not JSON',
  'exec-failed': 'the command failed',
  internal: 'an unexpected error',
};

const LONGEST = 500;

/** Formats why an alert was raised, and the next step, as one line without text of mail. */
export function formatAlertMessage(fault: Fault): string {
  const own = OWN_WORDS[fault.code];
  const text = own === undefined ? fault.explain() : `${own}: ${FAULTS[fault.code].next}`;
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').toWellFormed();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).toWellFormed()}…`;
}
