import {
  AGENT_STATE_NOT_REPORTED,
  type AgentState,
  type Count,
  type Extra,
  exactly,
  type Instant,
  type KnownItem,
  UNKNOWN,
} from '../../model/index.ts';
import type { Checkpoint, Persona, SetItem } from '../source.ts';
import { type FaultLine, type ItemLine, LINE_LIMITS, type OpenTarget, type PersonaLine } from './lines.ts';

/** What one poll at a source found: the lines of a poll result, and how it ended. */
export interface ResultPage {
  readonly lines: readonly (PersonaLine | ItemLine | FaultLine)[];
  readonly cursor: string | null;
  readonly full: boolean;
  readonly more: boolean;
}

export interface ModelOptions {
  /** The name of the source, and the prefix of its personas. */
  readonly name: string;
  /** Names the set, see `SetEvidence`. */
  readonly epoch: string;
  /** Milliseconds after which mail that nobody takes makes its agent stalled; null for never. */
  readonly stalledAfterMs: number | null;
  /** Whether a URL may be opened by a click. */
  readonly isUrlAllowed: (url: string) => boolean;
}

/** What changed with a poll. */
export interface ModelChange {
  /** Addresses of the personas that have to be polled. */
  readonly changed: ReadonlySet<string>;
  /** What a person should know of the source, which hurts nobody's mail. */
  readonly diagnostics: readonly string[];
}

/** What survives a restart beside the items, which the watchers save. */
export interface SavedModel {
  readonly hasBeenFull: boolean;
  /** The poll result of which more was to come. */
  readonly run: 'none' | 'full' | 'delta';
  readonly personas: readonly (readonly [string, string | null, Pick<PersonaLine, 'unread' | 'urgent'>])[];
}

/** Why a poll is refused: the source reports more than Hivebar remembers. */
export class TooMany extends Error {}

/** Everything that a source said, as sets: one per persona (specs/sources/external-source, section 2). It makes no system call. */
export interface SourceModel {
  /** Takes one poll into account as a whole. @throws TooMany, and nothing is changed */
  apply(poll: ResultPage, at: Instant): ModelChange;
  readonly addresses: readonly string[];
  named(address: string): Persona;
  has(address: string): boolean;
  /** The fault that the last poll had for this persona alone. */
  findFault(address: string): FaultLine | null;
  /** What a poll of this persona returns; null when the source does not have it. */
  read(address: string, from: Checkpoint, at: Instant): PersonaReading;
  /** Releases what only events needed, once they are delivered. */
  release(address: string): void;
  /** The line of a persona and what its newest unread item opens. */
  findTargets(address: string): { readonly line: PersonaLine | null; readonly open: OpenTarget | null };
  readonly hasBeenFull: boolean;
  save(): SavedModel;
}

export interface PersonaReading {
  readonly unread: Count;
  readonly urgent: Count;
  readonly agentState: AgentState;
  readonly items: readonly SetItem[];
}

/** An item of a set. A class, because there may be 100,000 of them. */
class StoredItem implements SetItem {
  readonly key: string;
  readonly fingerprint: 'unread' | 'read';
  readonly appeared: SetItem['appeared'];
  readonly changed: SetItem['changed'];
  readonly vanished = 'gone';
  from: string | null;
  created: string | null;
  content: string | null;
  readonly extra: Extra;
  open: OpenTarget | null;
  readonly since: Instant;

  constructor(
    item: Pick<ItemLine, 'key' | 'from' | 'created' | 'content' | 'kind' | 'open'>,
    state: 'unread' | 'read',
    extra: Extra,
    at: Instant,
  ) {
    this.key = item.key;
    this.fingerprint = state;
    this.appeared = state === 'read' ? 'quiet' : item.kind === 'mail' ? 'new' : item.kind;
    this.changed = state === 'read' ? 'read' : null;
    this.from = item.from;
    this.created = item.created;
    this.content = item.content;
    this.extra = extra;
    this.open = item.open;
    this.since = at;
  }
}

interface PersonaEntry {
  readonly address: string;
  label: string | null;
  line: PersonaLine | null;
  /** The counts of its line, which survive a restart. */
  counts: Pick<PersonaLine, 'unread' | 'urgent'>;
  items: Map<string, StoredItem>;
  /** Items that the source removed before those of the last run were merged. */
  readonly removed: Set<string>;
  /** `items` holds everything: it comes from a full result, or those of the last run were merged. */
  isWhole: boolean;
  /** `items` were put in the order in which they are known. */
  isOrdered: boolean;
  fault: FaultLine | null;
  agentState: AgentState;
  /** `items` as a list with its counts; null when they changed since. */
  list: { readonly items: readonly StoredItem[]; readonly unread: number; readonly urgent: number } | null;
}

export function createSourceModel(options: ModelOptions, saved: SavedModel | null): SourceModel {
  const { name, epoch } = options;
  const personas = new Map<string, PersonaEntry>();
  let keyCount = 0;
  let hasBeenFull = saved?.hasBeenFull ?? false;
  /** The result of which more is to come; null between two results. `keys`, by persona, is null when its first page was not seen. */
  let run: { readonly isFull: boolean; readonly keys: Map<string, Set<string>> | null } | null =
    saved === null || saved.run === 'none' ? null : { isFull: saved.run === 'full', keys: null };
  for (const [address, label, counts] of saved?.personas ?? [])
    personas.set(address, { ...createPersona(address), label, counts });

  function apply({ lines, full, more }: ResultPage, at: Instant): ModelChange {
    checkSizes(lines);
    const changed = new Set<string>();
    const diagnostics: string[] = [];
    const { isFull, keys: seen } = run ?? { isFull: full, keys: new Map<string, Set<string>>() };
    for (const persona of personas.values()) {
      if (persona.fault !== null) changed.add(persona.address);
      persona.fault = null;
    }
    for (const line of lines) {
      if (line.persona === null) continue;
      const persona = find(line.persona);
      const keys = seen?.get(line.persona) ?? new Set();
      seen?.set(line.persona, keys);
      if (line.op === 'item') keys.add(line.key);
      if (applyLine(persona, line, at)) changed.add(persona.address);
    }
    run = more ? { isFull, keys: seen } : null;
    if (isFull && !more) {
      if (seen !== null) removeUnseen(seen, changed);
      if (!hasBeenFull) for (const address of personas.keys()) changed.add(address);
      hasBeenFull = true;
    }
    for (const address of changed) {
      const persona = personas.get(address);
      if (persona === undefined) continue;
      const { unread } = persona.counts;
      const { items, unread: counted } = toList(persona);
      if (persona.isWhole && items.length > 0 && typeof unread === 'number' && unread !== counted && !more)
        diagnostics.push(`${address}: it says that ${unread} are unread, and its items say ${counted}`);
    }
    return { changed, diagnostics };
  }

  function checkSizes(lines: ResultPage['lines']): void {
    const addresses = new Set(
      lines.flatMap(({ persona }) => (persona === null || personas.has(persona) ? [] : [persona])),
    );
    if (personas.size + addresses.size > LINE_LIMITS.personas)
      throw new TooMany(`it has more than ${LINE_LIMITS.personas} personas`);
    const fresh = new Set<string>();
    for (const line of lines)
      if (line.op === 'item' && line.state !== 'gone' && personas.get(line.persona)?.items.has(line.key) !== true)
        fresh.add(`${line.persona}\0${line.key}`);
    if (keyCount + fresh.size > LINE_LIMITS.keys) throw new TooMany(`it has more than ${LINE_LIMITS.keys} items`);
  }

  function find(address: string): PersonaEntry {
    const known = personas.get(address) ?? createPersona(address);
    personas.set(address, known);
    return known;
  }

  /** Returns whether its persona has to be polled. */
  function applyLine(persona: PersonaEntry, line: PersonaLine | ItemLine | FaultLine, at: Instant): boolean {
    if (line.op === 'fault') {
      persona.fault = line;
      return true;
    }
    if (line.op === 'persona') return applyPersona(persona, line, at);
    const before = persona.items.get(line.key);
    if (line.state === 'gone') {
      if (!persona.isWhole) persona.removed.add(line.key);
      if (before === undefined) return !persona.isWhole;
      persona.items.delete(line.key);
      keyCount -= 1;
    } else {
      if (before?.fingerprint === line.state) return false;
      const item = new StoredItem(line, line.state, toExtra(line), at);
      persona.items.set(line.key, item);
      persona.removed.delete(line.key);
      if (before === undefined) keyCount += 1;
    }
    persona.list = null;
    return true;
  }

  function applyPersona(persona: PersonaEntry, line: PersonaLine, at: Instant): boolean {
    const before = persona.line;
    const { unread, urgent } = line;
    persona.line = line;
    persona.counts = { ...(unread === undefined ? {} : { unread }), ...(urgent === undefined ? {} : { urgent }) };
    persona.label = line.label ?? (line.you ? 'you' : null);
    const isSame = JSON.stringify(before) === JSON.stringify(line);
    if (!isSame) persona.agentState = toAgentState(line, persona.agentState, at);
    return !isSame;
  }

  /** A full result does not name what is gone. */
  function removeUnseen(seen: ReadonlyMap<string, ReadonlySet<string>>, changed: Set<string>): void {
    for (const persona of [...personas.values()]) {
      const keys = seen.get(persona.address);
      if (!persona.isWhole) changed.add(persona.address);
      persona.isWhole = true;
      persona.removed.clear();
      for (const key of persona.items.keys()) {
        if (keys?.has(key) === true) continue;
        persona.items.delete(key);
        persona.list = null;
        keyCount -= 1;
        changed.add(persona.address);
      }
      if (keys !== undefined) continue;
      personas.delete(persona.address);
      changed.add(persona.address);
    }
  }

  function toExtra({ subject, thread, urgent, open, extra }: ItemLine): Extra {
    const url = open !== null && 'url' in open && options.isUrlAllowed(open.url) ? open.url : null;
    return {
      ...extra,
      ...(subject === null ? {} : { subject }),
      ...(thread === null ? {} : { thread }),
      ...(urgent ? { urgent } : {}),
      ...(url === null ? {} : { link: url }),
    };
  }

  /** Adds what the last run knew, and puts everything in the order in which it is known, so that comparing it is cheap. */
  function merge(persona: PersonaEntry, known: readonly KnownItem[]): void {
    if (persona.isOrdered) return;
    const items = new Map<string, StoredItem>();
    for (const item of known) {
      const own =
        persona.items.get(item.key) ?? (persona.isWhole || persona.removed.has(item.key) ? null : toStored(item));
      if (own !== null) items.set(item.key, own);
    }
    for (const [key, item] of persona.items) if (!items.has(key)) items.set(key, item);
    keyCount += items.size - persona.items.size;
    persona.items = items;
    persona.removed.clear();
    persona.list = null;
    persona.isWhole = true;
    persona.isOrdered = true;
  }

  function countOr(value: number | null | undefined, counted: number): Count {
    if (value === null) return UNKNOWN;
    if (value !== undefined) return exactly(value);
    return hasBeenFull ? exactly(counted) : UNKNOWN;
  }

  /** Mail that nobody takes makes an agent stalled, whatever its source says of it. */
  function toShownState({ agentState, list }: PersonaEntry, at: Instant): AgentState {
    const { stalledAfterMs } = options;
    if (stalledAfterMs === null || agentState.is === 'gone' || list === null) return agentState;
    const oldest = list.items.reduce(
      (least, { fingerprint, since }) => (fingerprint === 'unread' ? Math.min(least, since) : least),
      at,
    );
    if (at - oldest < stalledAfterMs) return agentState;
    return { ...toDetails(agentState), is: 'stalled', why: 'nobody takes it', since: oldest + stalledAfterMs };
  }

  return {
    apply,
    get addresses() {
      return [...personas.keys()];
    },
    has: (address) => personas.has(address),
    named: (address) => ({ id: `${name}-${address}`, address, label: personas.get(address)?.label ?? address }),
    findFault: (address) => personas.get(address)?.fault ?? null,
    read(address, from, at) {
      const persona = personas.get(address);
      if (persona === undefined) {
        const none = hasBeenFull ? exactly(0) : UNKNOWN;
        return { unread: none, urgent: none, agentState: AGENT_STATE_NOT_REPORTED, items: NO_ITEMS };
      }
      merge(persona, from.is === 'known' && from.epoch === epoch ? from.keys : NO_ITEMS_KNOWN);
      const { items, unread, urgent } = toList(persona);
      return {
        items,
        unread: countOr(persona.counts.unread, unread),
        urgent: countOr(persona.counts.urgent, urgent),
        agentState: toShownState(persona, at),
      };
    },
    release(address) {
      for (const item of personas.get(address)?.items.values() ?? []) {
        item.content = null;
        item.from = null;
        item.created = null;
      }
    },
    findTargets(address) {
      const persona = personas.get(address);
      const newest = [...(persona?.items.values() ?? [])].findLast(
        ({ fingerprint, open }) => fingerprint === 'unread' && open !== null,
      );
      return { line: persona?.line ?? null, open: newest?.open ?? null };
    },
    get hasBeenFull() {
      return hasBeenFull;
    },
    save: () => ({
      ...{ hasBeenFull, run: run === null ? 'none' : run.isFull ? 'full' : 'delta' },
      personas: [...personas.values()].map(({ address, label, counts }) => [address, label, counts]),
    }),
  };
}

const NO_ITEMS: readonly SetItem[] = [];
const NO_ITEMS_KNOWN: readonly KnownItem[] = [];

function createPersona(address: string): PersonaEntry {
  return {
    ...{ address, label: null, line: null, counts: {}, items: new Map(), removed: new Set<string>() },
    ...{ isWhole: false, isOrdered: false, fault: null, agentState: AGENT_STATE_NOT_REPORTED, list: null },
  };
}

function toList(persona: PersonaEntry): NonNullable<PersonaEntry['list']> {
  if (persona.list !== null) return persona.list;
  const items = [...persona.items.values()];
  const unread = items.filter(({ fingerprint }) => fingerprint === 'unread');
  persona.list = { items, unread: unread.length, urgent: unread.filter(({ extra }) => extra.urgent === true).length };
  return persona.list;
}

/** An item that only the last run knew. */
function toStored({ key, fingerprint, extra }: KnownItem): StoredItem {
  const line = { key, from: null, created: null, content: null, kind: 'mail', open: null } as const;
  return new StoredItem(line, fingerprint === 'read' ? 'read' : 'unread', extra, 0);
}

function toDetails({ cwd, model }: AgentState): Pick<AgentState, 'cwd' | 'model'> {
  return { ...(cwd === undefined ? {} : { cwd }), ...(model === undefined ? {} : { model }) };
}

/** The state begins when its source first says it. */
function toAgentState({ agent, why, cwd }: PersonaLine, before: AgentState, at: Instant): AgentState {
  if (agent === null) return cwd === null ? AGENT_STATE_NOT_REPORTED : { ...AGENT_STATE_NOT_REPORTED, cwd };
  const since = before.is === agent ? (before.since ?? at) : at;
  const details = { since, ...(cwd === null ? {} : { cwd }) };
  if (agent === 'working' || agent === 'idle' || agent === 'live')
    return { is: agent, ...(why === null ? {} : { why }), ...details };
  return { is: agent, why: why ?? 'reported', ...details };
}
