import { areSameDecisions, type Board, type Fact, type OpenDecision } from '../../core/board/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import type { AnnouncementStore, SavedAnnouncements } from './announcements.ts';
import { type Banner, type BannerAction, type BannerKey, findBannerAction } from './banner.ts';
import { buildFailedBanner, buildTestBanner } from './banner-texts.ts';
import type { BannerPart, ChannelState, NotifyChannel, OpenChannel } from './channel.ts';
import { decide, type PolicyInput, type PolicyOutcome } from './policy.ts';
import { toSilenceFacts, toSnapshotFacts } from './snapshot-facts.ts';
import { createPolicyState, NOTIFY_RULES, type NotifyRules } from './state.ts';

export interface NotifyNeeds {
  readonly board: Board;
  /** The facts since the board began, because no snapshot says that mail was delivered. */
  readonly delivered: readonly Fact[];
  readonly openChannel: OpenChannel;
  readonly announcements: AnnouncementStore;
  /** Runs the action of a click. Whoever runs it reports the result. */
  readonly act: (action: BannerAction) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules?: NotifyRules;
}

export interface Notifications extends AsyncDisposable {
  /** Shows a test banner, even during a pause, quiet hours or a mute. It replaces an earlier one. Never rejects. */
  test(): Promise<NotificationTestResult>;
  /** Shows that a person's click failed, even during a pause, quiet hours or a mute. `why` has the next step. */
  failed(action: string, why: string): void;
}

/** The result of a test banner. If a desktop accepted it, that does not mean that anybody saw it. */
export type NotificationTestResult = {
  /** The name of the channel, as on the page. */
  readonly by: string;
  /** Why other banners are not shown now; null when they are. */
  readonly silent: 'paused' | 'quiet-hours' | null;
} & ({ readonly taken: true } | { readonly taken: false; readonly why: string });

/** Facts within this time are decided on together. */
const GATHER_MS = 5;
/** This many deliveries in that time are a storm. Its event files are written before banners are decided on. */
const STORM = 20;
const STORM_MS = 40;
/** A channel that does not answer for this long counts as a refusal. */
const ANSWER_MS = 10_000;
/** Banners in progress at the end get this long. */
const LAST_MS = 100;
/** The longest sleep. After at most this time a changed clock, or a machine that slept, is noticed. */
const SLEEP_MS = 60_000;

/**
 * Runs the notifications: passes the board's facts to the policy, and its decisions to the desktop.
 *
 * The order for an outage or a decision: the desktop accepts the banner, then it counts as announced and is saved. A `kill -9` in
 * between repeats one banner after the restart, and none is ever lost.
 *
 * @throws Fault `database` when the saved announcements cannot be read
 */
export function startNotify(needs: NotifyNeeds): Notifications {
  return new Notify(needs);
}

class Notify implements Notifications {
  readonly #board: Board;
  readonly #announcements: AnnouncementStore;
  readonly #act: NotifyNeeds['act'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #rules: NotifyRules;
  readonly #driver: NotifyChannel;
  readonly #facts: Disposable;
  #state;
  #saved: SavedAnnouncements;
  /** The decisions of the last fact; null before the first one. */
  #asked: readonly OpenDecision[] | null = null;
  #waiting: Fact[] = [];
  #flush: Disposable | null = null;
  #tick: Disposable | null = null;
  /** The outstanding calls to the desktop, one chain per key, so that no withdrawal overtakes its banner. */
  readonly #chains = new Map<BannerKey, Promise<void>>();
  /** The newest banner of each key, which is the one that a click is about. */
  readonly #banners = new Map<BannerKey, Banner>();
  #warned = false;
  #over = false;

  constructor({ board, delivered, openChannel, announcements, act, clock, log, rules = NOTIFY_RULES }: NotifyNeeds) {
    this.#board = board;
    this.#announcements = announcements;
    this.#act = act;
    this.#clock = clock;
    this.#log = log;
    this.#rules = rules;
    this.#saved = announcements.load();
    this.#state = createPolicyState(this.#saved);
    this.#facts = board.facts((fact) => this.#hear(fact));
    this.#driver = openChannel({
      clicked: (key, part, token) => this.#clicked(key, part, token),
      closed: (key, by) => this.#decide({ is: 'closed', at: clock.now(), key, by }),
      state: (state) => this.#became(state),
    });
    for (const fact of [...toSnapshotFacts(board.snapshot(), clock.now()), ...delivered]) this.#hear(fact);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#facts[Symbol.dispose]();
    this.#flush?.[Symbol.dispose]();
    this.#tick?.[Symbol.dispose]();
    // A banner in progress will be an announcement in a moment, and must be saved as one.
    const stop = new AbortController();
    await Promise.race([Promise.allSettled(this.#chains.values()), this.#clock.sleep(LAST_MS, stop.signal)]);
    stop.abort();
    this.#over = true;
    this.#tick?.[Symbol.dispose]();
    await this.#driver[Symbol.asyncDispose]();
  }

  /** Gathers facts, so that a storm is one decision and 60 failing personas are one cause. */
  #hear(fact: Fact): void {
    if (fact.is === 'surface' || fact.is === 'local' || fact.is === 'daemon' || this.#over) return;
    if (fact.is === 'decisions') {
      if (this.#asked !== null && areSameDecisions(this.#asked, fact.decisions)) return;
      this.#asked = fact.decisions;
    }
    this.#waiting.push(fact);
    this.#flush ??= this.#clock.after(GATHER_MS, () => {
      const deliveredCount = this.#waiting.reduce((n, { is }) => n + (is === 'delivered' ? 1 : 0), 0);
      if (deliveredCount < STORM) this.#take();
      else this.#flush = this.#clock.after(STORM_MS, () => this.#take());
    });
  }

  #take(): void {
    this.#flush = null;
    const facts = this.#waiting;
    this.#waiting = [];
    this.#decide({ is: 'facts', at: this.#clock.now(), facts: [...this.#listSilences(facts), ...facts] });
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
    if (this.#over) return;
    const decision = decide(this.#state, input, this.#rules);
    this.#state = decision.state;
    this.#save({ outages: decision.state.announced, decisions: decision.state.announcedDecisions });
    for (const key of decision.withdraw) void this.#inTurn(key, () => this.#withdraw(key));
    for (const banner of decision.show) void this.#inTurn(banner.key, () => this.#show(banner));
    this.#sleepUntil(decision.wakeAt);
  }

  #sleepUntil(at: PolicyOutcome['wakeAt']): void {
    this.#tick?.[Symbol.dispose]();
    this.#tick = null;
    if (at === null) return;
    const ms = Math.min(Math.max(1, at - this.#clock.now()), SLEEP_MS);
    this.#tick = this.#clock.after(ms, () => this.#decide({ is: 'tick', at: this.#clock.now() }));
  }

  #inTurn(key: BannerKey, work: () => Promise<void>): Promise<void> {
    const next = (this.#chains.get(key) ?? Promise.resolve()).then(work);
    this.#chains.set(key, next);
    next.then(() => {
      if (this.#chains.get(key) === next) this.#chains.delete(key);
    });
    return next;
  }

  async #show(banner: Banner): Promise<void> {
    if (this.#over) return;
    try {
      await this.#give(banner);
    } catch (error) {
      this.#warn(error);
      this.#decide({ is: 'refused', at: this.#clock.now(), banner });
      return;
    }
    this.#warned = false;
    this.#decide({ is: 'shown', at: this.#clock.now(), banner });
  }

  /** Hands the banner to the desktop. @throws Error when the desktop refuses it or does not answer in time */
  async #give(banner: Banner): Promise<void> {
    this.#banners.set(banner.key, banner);
    const stop = new AbortController();
    const late = this.#clock.sleep(ANSWER_MS, stop.signal).then(() => {
      if (!stop.signal.aborted) throw new Error(`the desktop did not answer in ${ANSWER_MS / 1000} s`);
    });
    try {
      await Promise.race([this.#driver.show(banner), late.then(() => new Promise<never>(() => {}))]);
    } finally {
      stop.abort();
    }
  }

  async test(): Promise<NotificationTestResult> {
    const { paused, quiet } = this.#board.snapshot();
    const silent = paused.is !== 'never' ? 'paused' : quiet.is !== 'never' ? 'quiet-hours' : null;
    let refusal: string | null = null;
    await this.#inTurn('test', async () => {
      try {
        if (this.#over) throw new Error('Hivebar is stopping');
        await this.#give(buildTestBanner());
      } catch (error) {
        refusal = error instanceof Error ? error.message : String(error);
      }
    });
    const by = this.#board.snapshot().notifications;
    return refusal === null ? { taken: true, by, silent } : { taken: false, by, silent, why: refusal };
  }

  failed(action: string, why: string): void {
    void this.#inTurn('failed', () => this.#show(buildFailedBanner(action, why)));
  }

  async #withdraw(key: BannerKey): Promise<void> {
    try {
      await this.#driver.withdraw(key);
    } catch (error) {
      this.#warn(error); // it stays on the screen until somebody closes it
    }
  }

  /** Warns once until banners work again: a desktop without notifications is one line, not one per mail. */
  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const why = error instanceof Error ? error.message : String(error);
    this.#log.warn('a notification could not be shown; badge and page still work', { why });
  }

  #clicked(key: BannerKey, part: BannerPart, activationToken: string | null): void {
    const banner = this.#banners.get(key);
    this.#decide({ is: 'clicked', at: this.#clock.now(), key });
    if (banner === undefined || this.#over) return;
    const action = findBannerAction(banner, part, activationToken);
    if (action === null) return;
    if (action.name === 'decide') this.#banners.delete(key); // a decision is answered only once
    this.#act(action);
  }

  #became(state: ChannelState): void {
    if (this.#over) return;
    const text = state.is === 'ready' ? state.by : `${state.is} (${state.why})`;
    this.#board.put({ is: 'surface', at: this.#clock.now(), surface: 'notifications', state: text });
    this.#warned = state.is !== 'ready'; // this line already says it
    switch (state.is) {
      case 'ready':
        this.#decide({ is: 'ready', at: this.#clock.now() });
        return;
      case 'off':
        this.#log.info(`notifications: ${text}`);
        return;
      case 'unavailable':
        this.#log.warn(`notifications: ${text}`);
    }
  }

  #save(announcements: SavedAnnouncements): void {
    if (announcements.outages === this.#saved.outages && announcements.decisions === this.#saved.decisions) return;
    try {
      this.#announcements.save(announcements);
      this.#saved = announcements;
    } catch (error) {
      // The announcements stay in memory and are saved with the next change. At worst one is repeated after a restart.
      this.#log.warn('announcements could not be saved, so a restart may repeat them', {
        why: error instanceof Error ? error.message : error,
      });
    }
  }
}
