import {
  type Board,
  type Fact,
  followAgents,
  isSameValue,
  type OpenDecision,
  type PersonaView,
  type Snapshot,
  type Until,
} from '../../core/board/index.ts';
import {
  AGENT_STATE_NOT_REPORTED,
  type AgentState,
  FAULTS,
  Fault,
  type FaultCode,
  type Instant,
  type PersonaCounts,
  type PersonaId,
} from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import { Announcer, formatChannelState } from './announcer.ts';
import type { ConfiguredChannel, NotificationAction } from './channels/index.ts';
import type { PolicyInput } from './policy.ts';
import { type AnnouncementStore, NOTIFY_RULES, type NotifyRules } from './state.ts';
import { buildFailedNotification, buildTestNotification } from './texts.ts';
import type { AgentChange } from './waits.ts';

export interface NotifyNeeds {
  readonly board: Board;
  /** The facts since the board began, because no snapshot says that mail was delivered. */
  readonly delivered: readonly Fact[];
  readonly channels: readonly ConfiguredChannel[];
  readonly announcements: AnnouncementStore;
  /** Runs the action of a click. Whoever runs it reports the result. */
  readonly act: (action: NotificationAction) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules?: NotifyRules;
}

export interface Notifications extends AsyncDisposable {
  /** Shows a test on every channel, even during a pause, quiet hours or a mute. It replaces an earlier one. Never rejects. */
  test(): Promise<NotificationTestResult>;
  /** Shows that a person's click failed, at the desktop, even during a pause, quiet hours or a mute. `why` has the next step. */
  failed(action: string, why: string): void;
}

/** The result of a test. If a channel accepted it, that does not mean that anybody saw it. */
export type NotificationTestResult = {
  /** The state of the channels, as on the page. */
  readonly by: string;
  /** The names of the channels that were tried. */
  readonly channels: readonly string[];
  /** Why other notifications are not shown now; null when they are. */
  readonly silent: 'paused' | 'quiet-hours' | null;
} & ({ readonly taken: true } | { readonly taken: false; readonly why: string });

/** Facts within this time are decided on together. */
const GATHER_MS = 5;
/** This many deliveries in that time are a storm. Its event files are written before notifications are decided on. */
const STORM = 20;
const STORM_MS = 40;

/**
 * Runs the notifications: gathers the facts of the board, and passes them to the announcer of each channel. One channel that is
 * slow or fails holds up no other.
 *
 * @throws Fault `database` when the saved announcements cannot be read
 */
export function startNotify(needs: NotifyNeeds): Notifications {
  return new Notify(needs);
}

class Notify implements Notifications {
  readonly #board: Board;
  readonly #clock: Clock;
  readonly #facts: Disposable;
  readonly #agentStates: Disposable;
  readonly #announcers: Announcer[] = [];
  /** The decisions of the last fact; null before the first one. */
  #asked: readonly OpenDecision[] | null = null;
  #waiting: Fact[] = [];
  /** The last chosen state of each agent, and the changes that wait with the facts. */
  readonly #agents = new Map<PersonaId, AgentState>();
  #agentChanges: AgentChange[] = [];
  /** The counts of each persona of which no later fact came. */
  readonly #counts = new Map<PersonaId, PersonaCounts>();
  #flush: Disposable | null = null;
  #isOpen = false;

  constructor({ board, delivered, channels, announcements, act, clock, log, rules = NOTIFY_RULES }: NotifyNeeds) {
    this.#board = board;
    this.#clock = clock;
    this.#facts = board.facts((fact) => this.#hear(fact));
    this.#agentStates = followAgents(board, (persona) => this.#hearAgent(persona));
    for (const channel of channels) {
      const { name } = channel;
      const announcer: Announcer = new Announcer({
        ...{ channel, rules, clock, log },
        saved: announcements.load(name),
        save: (saved) => announcements.save(name, saved),
        onSeen: (key, action) => {
          for (const other of this.#announcers) if (other !== announcer) other.handleSeenElsewhere(key, action);
          if (action !== null) act(action);
        },
        onState: () => this.#putState(),
        onFailing: (why) => this.#putFault(name, why),
      });
      this.#announcers.push(announcer);
    }
    this.#isOpen = true;
    this.#putState();
    for (const fact of [...toSnapshotFacts(board.snapshot(), clock.now()), ...delivered]) this.#hear(fact);
    for (const persona of board.snapshot().personas) this.#hearAgent(persona);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#facts[Symbol.dispose]();
    this.#agentStates[Symbol.dispose]();
    this.#flush?.[Symbol.dispose]();
    if (this.#waiting.length > 0) this.#take(); // the next start does not hear of these
    await Promise.all(this.#announcers.map((announcer) => announcer[Symbol.asyncDispose]()));
    this.#isOpen = false;
  }

  /** Gathers facts, so that a storm is one decision and 60 failing personas are one cause. */
  #hear(fact: Fact): void {
    if (fact.is === 'surface' || fact.is === 'reported' || fact.is === 'agent' || !this.#isOpen) return;
    if (fact.is === 'counted') {
      this.#hearCounts(fact);
      return;
    }
    if ('persona' in fact && fact.persona !== null) this.#counts.delete(fact.persona);
    if (fact.is === 'decisions') {
      if (this.#asked !== null && isSameValue(this.#asked, fact.decisions)) return;
      this.#asked = fact.decisions;
    }
    this.#gather(fact);
  }

  /** Drops the counts that were the last news of their persona, as nearly all are that a list of thousands repeats. */
  #hearCounts(fact: Extract<Fact, { is: 'counted' }>): void {
    const counts = fact.counts.filter((entry) => this.#counts.get(entry.persona) !== entry);
    if (counts.length === 0) return;
    for (const entry of counts) this.#counts.set(entry.persona, entry);
    this.#gather({ ...fact, counts });
  }

  /** Takes what an agent does from the board, because the board chooses which of several reports counts. */
  #hearAgent({ id, agentState: state }: PersonaView): void {
    if (!this.#isOpen) return;
    const before = this.#agents.get(id) ?? AGENT_STATE_NOT_REPORTED;
    if (before === state || isSameValue(before, state)) return;
    this.#agents.set(id, state);
    this.#agentChanges.push({ persona: id, state });
    this.#flushSoon();
  }

  #gather(fact: Fact): void {
    this.#waiting.push(fact);
    if (fact.is === 'left') this.#agents.delete(fact.persona);
    this.#flushSoon();
  }

  #flushSoon(): void {
    this.#flush ??= this.#clock.after(GATHER_MS, () => {
      const deliveredCount = this.#waiting.reduce((n, { is }) => n + (is === 'delivered' ? 1 : 0), 0);
      if (deliveredCount < STORM) this.#take();
      else this.#flush = this.#clock.after(STORM_MS, () => this.#take());
    });
  }

  #take(): void {
    this.#flush = null;
    const facts = this.#waiting;
    const agents = this.#agentChanges;
    this.#waiting = [];
    this.#agentChanges = [];
    this.#decide({ is: 'facts', at: this.#clock.now(), facts: [...this.#listSilences(facts), ...facts], agents });
  }

  /** A persona that joins may have been muted or hidden before we listened. The board knows that. */
  #listSilences(facts: readonly Fact[]): Fact[] {
    const joined = new Set(facts.flatMap((fact) => (fact.is === 'joined' ? [fact.persona] : [])));
    if (joined.size === 0) return [];
    return this.#board
      .snapshot()
      .personas.filter(({ id }) => joined.has(id))
      .flatMap(({ id: persona, muted, hidden }) => toSilenceFacts(this.#clock.now(), persona, muted, hidden));
  }

  #decide(input: PolicyInput): void {
    const outside = withoutPermissions(input);
    for (const announcer of this.#announcers) announcer.decide(announcer.place === 'desktop' ? input : outside);
  }

  async test(): Promise<NotificationTestResult> {
    const { paused, quiet } = this.#board.snapshot();
    const silent = paused.is !== 'never' ? 'paused' : quiet.is !== 'never' ? 'quiet-hours' : null;
    const working = this.#announcers.filter(({ state }) => state.is !== 'off');
    const tested = working.length === 0 ? this.#announcers : working;
    const results = await Promise.all(
      tested.map(async (announcer) => ({ name: announcer.name, why: await announcer.test(buildTestNotification()) })),
    );
    const refused = results.filter(({ why }) => why !== null);
    const by = this.#formatState();
    const channels = results.map(({ name }) => name);
    if (refused.length === 0) return { taken: true, by, channels, silent };
    const why = refused
      .map((result) => (results.length === 1 ? result.why : `${result.name}: ${result.why}`))
      .join('; ');
    return { taken: false, by, channels, silent, why };
  }

  failed(action: string, why: string): void {
    for (const announcer of this.#announcers)
      if (announcer.place === 'desktop') void announcer.show(buildFailedNotification(action, why));
  }

  /** Puts on the board what each channel says of itself. */
  #putState(): void {
    if (!this.#isOpen) return;
    const state = this.#formatState();
    this.#board.put({ is: 'surface', at: this.#clock.now(), surface: 'notifications', state });
  }

  #formatState(): string {
    const [first, ...others] = this.#announcers;
    if (first === undefined) return 'off (no channel is configured)';
    if (others.length === 0) return formatChannelState(first.state);
    return this.#announcers.map(({ name, state }) => `${name}: ${formatChannelState(state)}`).join('; ');
  }

  #putFault(name: string, why: string | null): void {
    const key = `channel:${name}`;
    const fault =
      why === null
        ? null
        : new Fault('channel', `the channel ${name} refuses notifications: ${why}`, { is: 'machine', key });
    this.#board.put({ is: 'machine', at: this.#clock.now(), key, fault });
  }
}

/** What a prompt can be answered with stays on this machine, and out of the files and messages of other channels. */
function withoutPermissions(input: PolicyInput): PolicyInput {
  if (input.is !== 'facts' || input.facts.every(({ is }) => is !== 'permissions')) return input;
  return { ...input, facts: input.facts.filter(({ is }) => is !== 'permissions') };
}

/** Converts what the board already shows into the facts that led there, so that the order of starts does not matter. */
function toSnapshotFacts(snapshot: Snapshot, at: Instant): Fact[] {
  const { paused, quietHours, quiet, decisions } = snapshot;
  const facts: Fact[] = [
    { is: 'muted', at, persona: null, until: paused },
    { is: 'quiet', at, on: quietHours, until: quiet },
  ];
  for (const p of snapshot.personas) {
    const { id: persona, source, label, stem, eventsFile, lastEventId, canMarkRead } = p;
    const named = { persona, source, address: label, label, stem, eventsFile, lastEventId, canMarkRead };
    facts.push({ is: 'joined', at, ...named, staleAfterMs: 0 });
    const unread = p.unread;
    const urgent = p.urgent;
    if (p.health.is === 'up') {
      const { health, agentState, cursor } = p;
      facts.push({ is: 'polled', at, persona, health, unread, urgent, agentState, cursor });
    } else {
      facts.push({ is: 'counted', at, counts: [{ persona, unread, urgent }] });
    }
  }
  for (const { key, scope, message, personas } of snapshot.causes) {
    for (const persona of personas) {
      const health = snapshot.personas.find((p) => p.id === persona)?.health;
      if (health?.is !== 'down') continue;
      const fault = new Fault(health.why, withoutNext(message, health.why), { is: scope, key });
      facts.push({ is: 'failed', at, persona, health, fault });
    }
  }
  // An empty list may also mean that nothing is known yet, and announced decisions would be forgotten.
  if (decisions.length > 0) facts.push({ is: 'decisions', at, decisions });
  return facts;
}

/** Returns whether banners about the persona are wanted, as facts. */
function toSilenceFacts(at: Instant, persona: PersonaId, until: Until, hidden: boolean): Fact[] {
  return [
    { is: 'muted', at, persona, until },
    { is: 'hidden', at, persona, hidden },
  ];
}

/** The message on the board includes the next step, which a Fault adds by itself, so it is removed here. */
function withoutNext(message: string, code: FaultCode): string {
  const next = `: ${FAULTS[code].next}`;
  return message.endsWith(next) ? message.slice(0, -next.length) : message;
}
