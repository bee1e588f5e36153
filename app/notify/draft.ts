import type { Until } from '../../core/board/index.ts';
import type { Instant, PersonaId } from '../../core/model/index.ts';
import type { NotifyKind } from './channels/index.ts';
import { type Notification, type NotificationKey, toMailKey } from './channels/index.ts';
import type {
  AnnouncedOutage,
  AnnouncedWait,
  AskingState,
  AskKey,
  AskKind,
  AskState,
  NotifyRules,
  OutageState,
  PersonaState,
  PolicyState,
} from './state.ts';

const MINUTE_MS = 60_000;

type PolicyTable =
  | 'muted'
  | 'hidden'
  | 'personas'
  | 'outages'
  | 'announced'
  | 'asks'
  | 'announcedDecisions'
  | 'announcedWaits'
  | 'open';

/**
 * Collects the next state and the actions while one input is handled. Each table is copied only at its first change: a storm of a
 * thousand facts makes one copy, and a fact that changes nothing makes none.
 */
export class PolicyDraft {
  readonly at: Instant;
  readonly rules: NotifyRules;
  readonly show: Notification[] = [];
  readonly withdraw: NotificationKey[] = [];
  wakeAt: Instant | null = null;
  #state: { -readonly [K in keyof PolicyState]: PolicyState[K] };
  readonly #copied = new Set<PolicyTable>();

  constructor(state: PolicyState, at: Instant, rules: NotifyRules) {
    this.#state = { ...state };
    this.at = at;
    this.rules = rules;
  }

  get state(): PolicyState {
    return this.#state;
  }

  findPersona(id: PersonaId): PersonaState | undefined {
    return this.#state.personas[toMailKey(id)];
  }

  setPersona(persona: PersonaState): void {
    const key = toMailKey(persona.id);
    if (this.#state.personas[key] !== persona) this.#own('personas')[key] = persona;
  }

  dropPersona(id: PersonaId): void {
    delete this.#own('personas')[toMailKey(id)];
  }

  setOutage(key: `outage:${string}`, outage: OutageState | null): void {
    if (outage === null) delete this.#own('outages')[key];
    else this.#own('outages')[key] = outage;
  }

  setAnnounced(key: `outage:${string}`, announced: AnnouncedOutage | null): void {
    if (announced === null) delete this.#own('announced')[key];
    else this.#own('announced')[key] = announced;
  }

  setAsk(key: AskKey, ask: AskState | null): void {
    if (ask === null) delete this.#own('asks')[key];
    else this.#own('asks')[key] = ask;
  }

  setAsking(kind: AskKind, part: Partial<AskingState>): void {
    const { asking } = this.#state;
    this.#state = { ...this.#state, asking: { ...asking, [kind]: { ...asking[kind], ...part } } };
  }

  setDecisionAnnounced(key: `decision:${number}`, isAnnounced: boolean): void {
    if (isAnnounced) this.#own('announcedDecisions')[key] = true;
    else delete this.#own('announcedDecisions')[key];
  }

  setWaitAnnounced(key: `wait:${string}`, wait: AnnouncedWait | null): void {
    if (wait === null) delete this.#own('announcedWaits')[key];
    else this.#own('announcedWaits')[key] = wait;
  }

  /** Returns how many banners of one thing may be shown now. `reserved`: as many stay free for what needs a person more. */
  countRoom(reserved = 0): number {
    return Math.max(0, this.rules.mostPerMinute - reserved - this.#listMinute().length);
  }

  /** Requests a tick for when another banner of one thing may be shown. */
  wakeForRoom(reserved = 0): void {
    const since = this.#listMinute().at(-Math.max(1, this.rules.mostPerMinute - reserved));
    if (since !== undefined) this.wake(since + MINUTE_MS);
  }

  #listMinute(): Instant[] {
    return this.#state.minute.filter((at) => this.at - at < MINUTE_MS && at <= this.at);
  }

  set(
    part: Partial<
      Pick<PolicyState, 'crowd' | 'bubbles' | 'sharedOutages' | 'paused' | 'quiet' | 'catchingUpUntil' | 'channel'>
    >,
  ): void {
    this.#state = { ...this.#state, ...part };
  }

  get isCatchingUp(): boolean {
    const { catchingUpUntil } = this.#state;
    return catchingUpUntil !== null && this.at < catchingUpUntil;
  }

  isOpen(key: NotificationKey): boolean {
    return this.#state.open[key] === true;
  }

  /** Shows a banner of one thing, which counts in the bound of a minute. */
  putOwn(banner: Notification): void {
    this.#state = { ...this.#state, minute: [...this.#listMinute(), this.at] };
    this.put(banner);
  }

  /** Shows a banner that several things share. */
  put(banner: Notification): void {
    this.#own('open')[banner.key] = true;
    const sound = banner.opens.is === 'persona' ? this.rules.personas.findSound(banner.opens.persona) : undefined;
    this.show.push(sound === undefined ? banner : { ...banner, sound });
  }

  /** The banner is gone from the screen. */
  markClosed(key: NotificationKey): void {
    if (this.isOpen(key)) delete this.#own('open')[key];
  }

  /** Removes the banner from the screen. */
  take(key: NotificationKey): void {
    if (!this.isOpen(key)) return;
    this.markClosed(key);
    this.withdraw.push(key);
  }

  /** Requests a tick at `at` or earlier. */
  wake(at: Instant): void {
    if (this.wakeAt === null || at < this.wakeAt) this.wakeAt = at;
  }

  /**
   * Returns whether `ms` have passed since `since`; if not, requests a tick for that time. If the clock was set back, the time
   * counts as passed, because nothing may wait for the clock to catch up.
   */
  hasPassed(since: Instant, ms: number): boolean {
    if (this.at >= since + ms || this.at < since) return true;
    this.wake(since + ms);
    return false;
  }

  setMuted(id: PersonaId, until: Until): void {
    if (until.is === 'never') delete this.#own('muted')[toMailKey(id)];
    else this.#own('muted')[toMailKey(id)] = until;
  }

  findMute(id: PersonaId): Until {
    return this.state.muted[toMailKey(id)] ?? { is: 'never' };
  }

  setHidden(id: PersonaId, hidden: boolean): void {
    if (hidden) this.#own('hidden')[toMailKey(id)] = true;
    else delete this.#own('hidden')[toMailKey(id)];
  }

  isHidden(id: PersonaId): boolean {
    return this.state.hidden[toMailKey(id)] === true;
  }

  /** Returns whether no banner may be shown about this persona, because it is muted or hidden. */
  isHushed(id: PersonaId): boolean {
    return this.isHidden(id) || this.isSilent(this.findMute(id));
  }

  wants(id: PersonaId, kind: NotifyKind): boolean {
    return this.rules.personas.wants(id, kind);
  }

  isSilent(until: Until): boolean {
    return until.is === 'forever' || (until.is === 'at' && this.at < until.at);
  }

  #own<T extends PolicyTable>(table: T): { -readonly [K in keyof PolicyState[T]]: PolicyState[T][K] } {
    if (!this.#copied.has(table)) {
      this.#copied.add(table);
      this.#state[table] = { ...this.#state[table] };
    }
    return this.#state[table];
  }
}
