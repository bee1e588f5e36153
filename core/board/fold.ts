import { type Event, isMail } from '../events/index.ts';
import {
  type AgentReporter,
  type AgentReports,
  type AgentState,
  chooseAgentState,
  type DecisionReport,
  type Fault,
  type Health,
  type Instant,
  isSameCount,
  type PersonaCounts,
  type PersonaId,
  parseIso,
  parseTimestamp,
  type SourceId,
  toHealthLabel,
  UNKNOWN,
} from '../model/index.ts';
import type { Fact } from './fact.ts';
import {
  addMessages,
  type DaemonView,
  isSameValue,
  NOTHING_REPORTED,
  type OpenDecision,
  type OpenPermission,
  type PersonaView,
  type ProjectView,
  type QuietTimes,
  type ReportedValues,
  type Until,
} from './snapshot.ts';

/** A fault and when it began. */
export interface Trouble {
  readonly fault: Fault;
  readonly since: Instant;
}

/** What is shown of a persona, without the age of its counts, which each poll changes. */
export type CellView = Omit<PersonaView, 'asOf' | 'staleAfter'>;

/** One persona on the board: what is shown, and what the next fact needs. */
export interface PersonaCell {
  /** The same object for as long as it looks the same to a person, so that a quiet poll costs no comparison. */
  readonly view: CellView;
  readonly asOf: Instant | null;
  readonly staleAfter: Instant | null;
  readonly staleAfterMs: number;
  /** Another persona counts the same messages. */
  readonly isEcho: boolean;
  /** What each reporter says its agent does; null while only its polls say it. */
  readonly agentReports: AgentReports | null;
  /** Why the persona is failing or down. */
  readonly failed: Trouble | null;
  /** Why its events wait. */
  readonly held: Trouble | null;
  /** Its state before this run, which nobody sees until a poll finds the same; null: unknown. */
  readonly remembered: Extract<Fact, { is: 'remembered' }> | null;
  /** Why its event file lacks events. */
  readonly behind: Trouble | null;
}

/** One source on the board. `answered`: the source has listed its personas. */
export interface SourceCell {
  readonly id: SourceId;
  /** Empty until the source has reported its address. */
  readonly address: string;
  readonly answered: boolean;
  readonly trouble: Trouble | null;
}

/**
 * The whole state of the board. Cells are sorted by id in plain code-unit order, so a fact finds its cell by binary
 * search and a snapshot needs no sorting. Changing one cell copies one array of pointers and nothing else.
 */
export interface BoardState {
  readonly personas: readonly PersonaCell[];
  readonly sources: readonly SourceCell[];
  readonly projects: readonly ProjectView[];
  /** By key: the problems of this machine that concern no single persona. */
  readonly machine: ReadonlyMap<string, Trouble>;
  /** Also holds personas that have not joined, so that the order of facts at start does not matter. */
  readonly muted: ReadonlyMap<PersonaId, Until>;
  /** Also holds personas that have not joined, as with mutes. */
  readonly hidden: ReadonlySet<PersonaId>;
  /** What is reported of agents whose personas are not there. It counts when they join, since nobody reports it again then. */
  readonly agentReports: ReadonlyMap<PersonaId, AgentReports>;
  readonly decisions: readonly OpenDecision[];
  readonly permissions: readonly OpenPermission[];
  readonly paused: Until;
  readonly quietHours: boolean;
  readonly quietTimes: QuietTimes | null;
  readonly quiet: Until;
  readonly autostart: boolean | null;
  readonly tray: string;
  readonly notifications: string;
  /** The time of the latest fact. The board uses it as the current time, so that equal facts make equal boards. */
  readonly now: Instant;
}

const NEVER: Until = { is: 'never' };

export const EMPTY_BOARD: BoardState = {
  personas: [],
  sources: [],
  projects: [],
  machine: new Map(),
  muted: new Map(),
  hidden: new Set(),
  agentReports: new Map(),
  decisions: [],
  permissions: [],
  paused: NEVER,
  quietHours: false,
  quietTimes: null,
  quiet: NEVER,
  autostart: null,
  tray: 'off',
  notifications: 'off',
  now: Number.NEGATIVE_INFINITY,
};

/**
 * Returns the board after more facts, in their order. Pure: the state before stays unchanged, and a storm of facts
 * costs one copy of the list. The order of facts decides, not their times, so that a clock set back freezes nothing. A
 * fact about a persona that has not joined, or has left, changes nothing but its stored mute.
 */
export function fold(before: BoardState, facts: readonly Fact[]): BoardState {
  const draft: BoardDraft = { ...before, personas: [...before.personas] };
  for (const fact of facts) {
    draft.now = Math.max(draft.now, fact.at);
    apply(draft, fact);
  }
  return draft;
}

/** A private copy of the board while facts are folded into it. Cells are never changed in place. */
type BoardDraft = { -readonly [K in keyof BoardState]: BoardState[K] } & { personas: PersonaCell[] };

function apply(draft: BoardDraft, fact: Fact): void {
  switch (fact.is) {
    case 'joined':
      applyJoined(draft, fact);
      break;
    case 'left':
      removePersona(draft, fact.persona);
      break;
    case 'polled':
      change(draft, fact.persona, (cell) => applyPolled(cell, fact));
      break;
    case 'counted':
      countAll(draft, fact);
      break;
    case 'failed':
      change(draft, fact.persona, (cell) => applyFailed(cell, fact));
      break;
    case 'delivered':
      change(draft, fact.persona, (cell) => applyDelivered(cell, fact));
      break;
    case 'recalled':
      change(draft, fact.persona, (cell) => applyRecalled(cell, fact));
      break;
    case 'remembered':
      change(draft, fact.persona, (cell) => ({ ...cell, remembered: fact }));
      break;
    case 'held':
      change(draft, fact.persona, (cell) => setHeldReason(cell, { held: toTrouble(fact.fault, fact.at, cell.held) }));
      break;
    case 'published':
      change(draft, fact.persona, (cell) =>
        setHeldReason(cell, { behind: fact.fault === null ? null : toTrouble(fact.fault, fact.at, cell.behind) }),
      );
      break;
    case 'source':
      changeSource(draft, fact.source, (cell) => ({
        id: fact.source,
        address: fact.address,
        answered: cell.answered || fact.fault === null,
        trouble: fact.fault === null ? null : toTrouble(fact.fault, fact.at, cell.trouble),
      }));
      break;
    case 'machine':
      draft.machine = updateMachine(draft.machine, fact);
      break;
    case 'project':
      draft.projects = updateProjects(draft.projects, fact);
      break;
    case 'withdrawn':
      draft.projects = draft.projects.filter(({ source }) => source !== fact.source);
      draft.sources = draft.sources.filter(({ id }) => id !== fact.source);
      break;
    case 'muted':
      mute(draft, fact.persona, fact.until);
      break;
    case 'hidden':
      hide(draft, fact.persona, fact.hidden);
      break;
    case 'reported':
      change(draft, fact.persona, (cell) => applyReported(cell, fact.values));
      break;
    case 'agent':
      applyAgentFact(draft, fact);
      break;
    case 'decisions':
      applyDecisions(draft, fact.decisions);
      break;
    case 'permissions':
      draft.permissions = fact.permissions;
      break;
    case 'quiet':
      draft.quietHours = fact.on;
      draft.quietTimes = fact.hours ?? draft.quietTimes;
      draft.quiet = fact.until;
      break;
    case 'autostart':
      draft.autostart = fact.on;
      break;
    case 'surface':
      if (fact.surface === 'tray') draft.tray = fact.state;
      else draft.notifications = fact.state;
  }
}

/** A problem that continues keeps its beginning. */
function updateMachine(
  before: BoardState['machine'],
  { key, fault, at }: Extract<Fact, { is: 'machine' }>,
): BoardState['machine'] {
  const troubles = new Map(before);
  if (fault === null) troubles.delete(key);
  else troubles.set(key, toTrouble(fault, at, before.get(key) ?? null));
  return troubles;
}

function toTrouble(fault: Fault, at: Instant, before: Trouble | null): Trouble {
  return { fault, since: before?.since ?? at };
}

/** Returns the index of `id` in a list sorted by id, or where to insert it. */
export function findPlace<T>(
  list: readonly T[],
  id: string,
  getId: (item: T) => string,
): { index: number; found: boolean } {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && getId(item) < id) low = middle + 1;
    else high = middle;
  }
  const at = list[low];
  return { index: low, found: at !== undefined && getId(at) === id };
}

const getPersonaId = (cell: PersonaCell): PersonaId => cell.view.id;
const getSourceId = (cell: SourceCell): SourceId => cell.id;

/** Returns the cell of a persona, or null when it has not joined. */
export function findCell(state: BoardState, id: PersonaId): PersonaCell | null {
  const { index, found } = findPlace(state.personas, id, getPersonaId);
  return found ? (state.personas[index] ?? null) : null;
}

function change(draft: BoardDraft, id: PersonaId, turn: (cell: PersonaCell) => PersonaCell): void {
  const { index, found } = findPlace(draft.personas, id, getPersonaId);
  const cell = draft.personas[index];
  if (found && cell !== undefined) draft.personas[index] = turn(cell);
}

function changeSource(draft: BoardDraft, id: SourceId, turn: (cell: SourceCell) => SourceCell): void {
  const { index, found } = findPlace(draft.sources, id, getSourceId);
  const cell = (found ? draft.sources[index] : undefined) ?? { id, address: '', answered: false, trouble: null };
  draft.sources = draft.sources.toSpliced(index, found ? 1 : 0, turn(cell));
}

function updateProjects(projects: readonly ProjectView[], { source, board, rev }: ProjectView): readonly ProjectView[] {
  const { index, found } = findPlace(projects, source, (project) => project.source);
  return projects.toSpliced(index, found ? 1 : 0, { source, board, rev });
}

function removePersona(draft: BoardDraft, id: PersonaId): void {
  const { index, found } = findPlace(draft.personas, id, getPersonaId);
  if (!found) return;
  const [cell] = draft.personas.splice(index, 1);
  const { poll: _, decision, ...reports } = cell?.agentReports ?? {};
  storeReports(draft, id, decision == null ? reports : { ...reports, decision });
}

function storeReports(draft: BoardDraft, id: PersonaId, reports: AgentReports): void {
  const isEmpty = Object.keys(reports).length === 0;
  if (isEmpty && !draft.agentReports.has(id)) return;
  const stored = new Map(draft.agentReports);
  if (isEmpty) stored.delete(id);
  else stored.set(id, reports);
  draft.agentReports = stored;
}

/** A persona that joins again (with a new label or another file) keeps what is known of its inbox. */
function applyJoined(draft: BoardDraft, fact: Extract<Fact, { is: 'joined' }>): void {
  const named = {
    stem: fact.stem,
    source: fact.source,
    label: fact.label,
    eventsFile: fact.eventsFile,
    canMarkRead: fact.canMarkRead ?? false,
    canReply: fact.canReply ?? false,
  };
  const { index, found } = findPlace(draft.personas, fact.persona, getPersonaId);
  const known = found ? draft.personas[index] : undefined;
  const reports = found ? null : (draft.agentReports.get(fact.persona) ?? null);
  if (reports !== null) storeReports(draft, fact.persona, {});
  const cell: PersonaCell =
    known === undefined
      ? {
          view: {
            id: fact.persona,
            ...named,
            health: { is: 'unseen' },
            reason: null,
            since: fact.at,
            agentState: chooseAgentState(reports ?? {}),
            unread: UNKNOWN,
            urgent: UNKNOWN,
            cursor: null,
            lastEventId: fact.lastEventId,
            lastMailAt: null,
            held: null,
            ...NOTHING_REPORTED,
            muted: draft.muted.get(fact.persona) ?? NEVER,
            hidden: draft.hidden.has(fact.persona),
            latestMessages: [],
          },
          asOf: null,
          staleAfter: null,
          staleAfterMs: fact.staleAfterMs,
          isEcho: fact.isEcho ?? false,
          agentReports: reports,
          remembered: null,
          failed: null,
          held: null,
          behind: null,
        }
      : {
          ...known,
          view: { ...known.view, ...named },
          staleAfterMs: fact.staleAfterMs,
          isEcho: fact.isEcho ?? false,
        };
  draft.personas.splice(index, found ? 1 : 0, cell);
  changeSource(draft, fact.source, (source) => source);
}

/** Sets values of the view. Returns the same cell if it looks the same to a person. */
function show(cell: PersonaCell, values: Partial<CellView>): PersonaCell {
  for (const key in values) {
    const name = key as keyof CellView;
    if (cell.view[name] !== values[name] && !isSameValue(cell.view[name], values[name])) {
      return { ...cell, view: { ...cell.view, ...values } };
    }
  }
  return cell;
}

type Polled = Extract<Fact, { is: 'polled' }>;

/** A list mostly names the personas in the order of the board, so each is looked for just behind the one before. */
function countAll(draft: BoardDraft, { at, counts }: Extract<Fact, { is: 'counted' }>): void {
  let next = 0;
  for (const entry of counts) {
    const index =
      draft.personas[next]?.view.id === entry.persona
        ? next
        : findPlace(draft.personas, entry.persona, getPersonaId).index;
    const cell = draft.personas[index];
    if (cell === undefined || cell.view.id !== entry.persona) continue;
    draft.personas[index] = applyCounted(cell, entry, at);
    next = index + 1;
  }
}

function applyCounted(cell: PersonaCell, { unread, urgent }: PersonaCounts, at: Instant): PersonaCell {
  const isQuiet = isSameCount(cell.view.unread, unread) && isSameCount(cell.view.urgent, urgent);
  const view = isQuiet ? cell.view : { ...cell.view, unread, urgent };
  return { ...cell, view, asOf: at, staleAfter: at + cell.staleAfterMs };
}

function applyPolled(before: PersonaCell, polled: Polled): PersonaCell {
  const cell = before.agentReports === null ? before : addReport(before, 'poll', polled.agentState);
  const fact = cell.agentReports === null ? polled : { ...polled, agentState: chooseAgentState(cell.agentReports) };
  const { health, unread, urgent, agentState, cursor, at } = fact;
  const since = findSince(cell, health, at);
  const view = isQuiet(cell.view, fact, since)
    ? cell.view
    : { ...cell.view, health, since, reason: null, agentState, unread, urgent, cursor };
  return { ...cell, view, failed: null, asOf: at, staleAfter: at + cell.staleAfterMs };
}

function applyAgentFact(draft: BoardDraft, fact: Extract<Fact, { is: 'agent' }>): void {
  const { persona, reporter, state } = fact;
  if (findPlace(draft.personas, persona, getPersonaId).found) {
    change(draft, persona, (cell) => applyAgent(cell, fact));
    return;
  }
  const { [reporter]: _, ...others } = draft.agentReports.get(persona) ?? {};
  storeReports(draft, persona, state === null ? others : { ...others, [reporter]: state });
}

function applyAgent(before: PersonaCell, { reporter, state }: Extract<Fact, { is: 'agent' }>): PersonaCell {
  const cell = addReport(before, reporter, state);
  return show(cell, { agentState: chooseAgentState(cell.agentReports ?? {}) });
}

/** What the polls said before counts as their report. */
function addReport(cell: PersonaCell, reporter: AgentReporter, state: AgentState | null): PersonaCell {
  const { [reporter]: _, ...others } = cell.agentReports ?? { poll: cell.view.agentState };
  return { ...cell, agentReports: state === null ? others : { ...others, [reporter]: state } };
}

/** An agent waits while a decision is open that blocks it; of several the oldest counts. */
function applyDecisions(draft: BoardDraft, decisions: readonly OpenDecision[]): void {
  const before = findDecisionReports(draft.decisions);
  const now = findDecisionReports(decisions);
  draft.decisions = decisions;
  for (const persona of new Set([...before.keys(), ...now.keys()])) {
    const decision = now.get(persona) ?? null;
    if (decision?.id !== before.get(persona)?.id) reportDecision(draft, persona, decision);
  }
}

function findDecisionReports(decisions: readonly OpenDecision[]): ReadonlyMap<PersonaId, DecisionReport> {
  const waits = new Map<PersonaId, DecisionReport>();
  for (const { id, persona, blocking, created } of decisions) {
    const known = waits.get(persona);
    if (blocking && (known === undefined || created < known.since)) waits.set(persona, { id, since: created });
  }
  return waits;
}

function reportDecision(draft: BoardDraft, persona: PersonaId, decision: DecisionReport | null): void {
  if (findCell(draft, persona) === null) {
    const { decision: _, ...others } = draft.agentReports.get(persona) ?? {};
    storeReports(draft, persona, decision === null ? others : { ...others, decision });
    return;
  }
  change(draft, persona, (cell) => {
    const agentReports = { ...(cell.agentReports ?? { poll: cell.view.agentState }), decision };
    return show({ ...cell, agentReports }, { agentState: chooseAgentState(agentReports) });
  });
}

/** The keys of a poll that `isQuiet` leaves out, because no view has them. */
type Unshown = 'is' | 'at' | 'persona' | 'endsBelow';
type Compared = 'health' | 'unread' | 'urgent' | 'agentState' | 'cursor';

/** Does what `show` does, for the one fact that comes by the thousand. The type makes a further key an error here. */
function isQuiet(
  view: CellView,
  fact: Exclude<keyof Polled, Unshown | Compared> extends never ? Polled : never,
  since: Instant | null,
): boolean {
  return (
    view.since === since &&
    view.reason === null &&
    view.cursor === fact.cursor &&
    isSameCount(view.unread, fact.unread) &&
    isSameCount(view.urgent, fact.urgent) &&
    view.health.is === fact.health.is &&
    (view.agentState === fact.agentState || isSameValue(view.agentState, fact.agentState))
  );
}

function applyFailed(cell: PersonaCell, { health, fault, at }: Extract<Fact, { is: 'failed' }>): PersonaCell {
  const since = health.is === 'down' ? health.since : (cell.failed?.since ?? at);
  const { view } = show(cell, { health, since: findSince(cell, health, at), reason: fault.explain() });
  return { ...cell, view, failed: { fault, since } };
}

function applyReported(cell: PersonaCell, values: Partial<ReportedValues>): PersonaCell {
  const daemon = values.daemon === undefined ? cell.view.daemon : chooseDrainedAt(cell.view.daemon, values.daemon);
  return show(cell, { ...values, daemon });
}

/** A daemon reports an age, so the computed time varies by less than this many milliseconds between polls. */
const SAME_MS = 2000;

function chooseDrainedAt(before: DaemonView | null, daemon: DaemonView | null): DaemonView | null {
  if (before === null || daemon === null || Math.abs(before.drainedAt - daemon.drainedAt) >= SAME_MS) return daemon;
  return { ...daemon, drainedAt: before.drainedAt };
}

/**
 * An unchanged health label keeps its beginning, so a failure below the threshold does not restart "UP since", nor does a restart of
 * Hivebar.
 */
function findSince({ view, remembered }: PersonaCell, health: Health, at: Instant): Instant | null {
  if (toHealthLabel(view.health) === toHealthLabel(health)) return view.since;
  const since = health.is === 'up' || health.is === 'down' ? health.since : at;
  const isSame = view.health.is === 'unseen' && remembered?.state === (health.is === 'down' ? 'down' : 'up');
  return isSame ? Math.min(since, remembered.since) : since;
}

/** Events wait at the sink, or behind it at the event file. The board shows either reason. */
function setHeldReason(cell: PersonaCell, now: Partial<Pick<PersonaCell, 'held' | 'behind'>>): PersonaCell {
  const next = { ...cell, ...now };
  const trouble = next.held ?? next.behind;
  return show(next, { held: trouble?.fault.explain() ?? null });
}

/** Nothing is held any more after an ack, even when the batch was empty. */
function applyDelivered(cell: PersonaCell, fact: Extract<Fact, { is: 'delivered' }>): PersonaCell {
  const last = fact.events.at(-1);
  const mail = fact.events.findLast(isMail);
  const next = show(cell, {
    latestMessages: addMessages(cell.view.latestMessages, fact.events),
    cursor: mail?.id ?? cell.view.cursor,
    lastEventId: last?.event_id ?? cell.view.lastEventId,
    lastMailAt: findNewestMail(fact.events, cell.view.lastMailAt),
  });
  return setHeldReason(next, { held: null });
}

/** Fills in messages from before this run. Messages that this run delivered stay in front. */
function applyRecalled(cell: PersonaCell, fact: Extract<Fact, { is: 'recalled' }>): PersonaCell {
  if (!fact.events.some(isMail) || cell.view.latestMessages.length > 0) return cell;
  return show(cell, {
    latestMessages: addMessages(cell.view.latestMessages, fact.events),
    lastMailAt: findNewestMail(fact.events, null),
  });
}

/** Returns when the newest message was written. A sender's clock may be ahead, so the time of delivery is the upper limit. */
function findNewestMail(events: readonly Event[], before: Instant | null): Instant | null {
  let newest = before;
  for (const event of events) {
    if (!isMail(event)) continue;
    const delivered = parseIso(event.ts);
    const written = event.created === null ? null : parseTimestamp(event.created);
    const at = written === null || delivered === null ? (written ?? delivered) : Math.min(written, delivered);
    if (at !== null && (newest === null || at > newest)) newest = at;
  }
  return newest;
}

function hide(draft: BoardDraft, persona: PersonaId, hidden: boolean): void {
  const hiddenIds = new Set(draft.hidden);
  if (hidden) hiddenIds.add(persona);
  else hiddenIds.delete(persona);
  draft.hidden = hiddenIds;
  change(draft, persona, (cell) => show(cell, { hidden }));
}

function mute(draft: BoardDraft, persona: PersonaId | null, until: Until): void {
  if (persona === null) {
    draft.paused = until;
    return;
  }
  const mutes = new Map(draft.muted);
  if (until.is === 'never') mutes.delete(persona);
  else mutes.set(persona, until);
  draft.muted = mutes;
  change(draft, persona, (cell) => show(cell, { muted: until }));
}
