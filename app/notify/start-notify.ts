import type { Board, Fact, Snapshot } from '../../core/board/index.ts';
import { FAULTS, Fault, type FaultCode, type Instant } from '../../core/model/index.ts';
import type { Clock, Log } from '../../core/ports/index.ts';
import type { AnnouncedByKey, Announcements } from './announced.ts';
import type { Banner, BannerKey, Opens } from './banner.ts';
import type { DriverState, NotifyDriver, OpenDriver } from './driver.ts';
import type { Opener } from '../open/index.ts';
import { type Decision, decide, type PolicyInput } from './policy.ts';
import { openPolicy, RULES, type Rules } from './state.ts';

export interface NotifyNeeds {
  readonly board: Board;
  /** What was told since the board began: mail came, and no snapshot says so. */
  readonly told: readonly Fact[];
  readonly openDriver: OpenDriver;
  readonly announcements: Announcements;
  readonly opener: Opener;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules?: Rules;
}

/** Facts of this time are decided on together. */
const GATHER_MS = 5;
/** So many deliveries in that time are a storm: it reaches its event files before banners are thought about. */
const STORM = 20;
const STORM_MS = 40;
/** A driver that does not answer for this long has refused. */
const ANSWER_MS = 10_000;
/** What is on its way to the desktop at the end is given this long. */
const LAST_MS = 100;
/** The longest sleep: a clock that was set, or a machine that slept, is noticed by then. */
const SLEEP_MS = 60_000;

/**
 * Runs the notifications: hands the board's facts to the policy, and what it decides to the desktop.
 *
 * Order for an outage: the desktop takes the banner, then it counts as announced and is saved. A `kill -9` in between
 * repeats one banner after the restart; none is ever lost.
 *
 * @throws Fault `database` when what was announced before cannot be read
 */
export function startNotify(needs: NotifyNeeds): AsyncDisposable {
  return new Notify(needs);
}

class Notify implements AsyncDisposable {
  readonly #board: Board;
  readonly #announcements: Announcements;
  readonly #opener: Opener;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #rules: Rules;
  readonly #driver: NotifyDriver;
  readonly #facts: Disposable;
  #state;
  #saved: AnnouncedByKey;
  #waiting: Fact[] = [];
  #flush: Disposable | null = null;
  #tick: Disposable | null = null;
  /** What the desktop is still to do, a chain a key, so that no withdrawal overtakes its banner. */
  readonly #chains = new Map<BannerKey, Promise<void>>();
  /** What the newest banner of each key opens. */
  readonly #opens = new Map<BannerKey, Opens>();
  #warned = false;
  #over = false;

  constructor({ board, told, openDriver, announcements, opener, clock, log, rules = RULES }: NotifyNeeds) {
    this.#board = board;
    this.#announcements = announcements;
    this.#opener = opener;
    this.#clock = clock;
    this.#log = log;
    this.#rules = rules;
    this.#saved = announcements.load();
    this.#state = openPolicy(this.#saved);
    this.#facts = board.facts((fact) => this.#hear(fact));
    this.#driver = openDriver({
      clicked: (key, token) => this.#clicked(key, token),
      closed: (key, by) => this.#decide({ is: 'closed', at: clock.now(), key, by }),
      state: (state) => this.#became(state),
    });
    for (const fact of [...factsOf(board.snapshot(), clock.now()), ...told]) this.#hear(fact);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#facts[Symbol.dispose]();
    this.#flush?.[Symbol.dispose]();
    this.#tick?.[Symbol.dispose]();
    // A banner on its way to the desktop is an announcement in a moment, and shall be saved as one.
    const stop = new AbortController();
    await Promise.race([Promise.allSettled(this.#chains.values()), this.#clock.sleep(LAST_MS, stop.signal)]);
    stop.abort();
    this.#over = true;
    this.#tick?.[Symbol.dispose]();
    await this.#driver[Symbol.asyncDispose]();
  }

  /** A storm is one decision, and 60 personas are one cause. */
  #hear(fact: Fact): void {
    if (fact.is === 'surface' || this.#over) return;
    this.#waiting.push(fact);
    this.#flush ??= this.#clock.after(GATHER_MS, () => {
      const told = this.#waiting.reduce((n, { is }) => n + (is === 'told' ? 1 : 0), 0);
      if (told < STORM) this.#take();
      else this.#flush = this.#clock.after(STORM_MS, () => this.#take());
    });
  }

  #take(): void {
    this.#flush = null;
    const facts = this.#waiting;
    this.#waiting = [];
    this.#decide({ is: 'facts', at: this.#clock.now(), facts: [...this.#mutesOf(facts), ...facts] });
  }

  /** Who joins may have been muted before we listened; the board knows. */
  #mutesOf(facts: readonly Fact[]): Fact[] {
    const joined = new Set(facts.flatMap((fact) => (fact.is === 'joined' ? [fact.persona] : [])));
    if (joined.size === 0) return [];
    return this.#board
      .snapshot()
      .personas.filter(({ id }) => joined.has(id))
      .map(({ id, muted }) => ({ is: 'muted', at: this.#clock.now(), persona: id, until: muted }));
  }

  #decide(input: PolicyInput): void {
    if (this.#over) return;
    const decision = decide(this.#state, input, this.#rules);
    this.#state = decision.state;
    this.#save(decision.state.announced);
    for (const key of decision.withdraw) this.#inTurn(key, () => this.#withdraw(key));
    for (const banner of decision.show) this.#inTurn(banner.key, () => this.#show(banner));
    this.#sleepUntil(decision.wakeAt);
  }

  #sleepUntil(at: Decision['wakeAt']): void {
    this.#tick?.[Symbol.dispose]();
    this.#tick = null;
    if (at === null) return;
    const ms = Math.min(Math.max(1, at - this.#clock.now()), SLEEP_MS);
    this.#tick = this.#clock.after(ms, () => this.#decide({ is: 'tick', at: this.#clock.now() }));
  }

  #inTurn(key: BannerKey, work: () => Promise<void>): void {
    const next = (this.#chains.get(key) ?? Promise.resolve()).then(work);
    this.#chains.set(key, next);
    next.then(() => {
      if (this.#chains.get(key) === next) this.#chains.delete(key);
    });
  }

  async #show(banner: Banner): Promise<void> {
    if (this.#over) return;
    const { key, opens } = banner;
    this.#opens.set(key, opens);
    const stop = new AbortController();
    const late = this.#clock.sleep(ANSWER_MS, stop.signal).then(() => {
      if (!stop.signal.aborted) throw new Error(`the desktop did not answer in ${ANSWER_MS / 1000} s`);
    });
    try {
      await Promise.race([this.#driver.show(banner), late.then(() => new Promise<never>(() => {}))]);
    } catch (error) {
      this.#warn(error);
      this.#decide({ is: 'refused', at: this.#clock.now(), banner });
      return;
    } finally {
      stop.abort();
    }
    this.#warned = false;
    this.#decide({ is: 'shown', at: this.#clock.now(), banner });
  }

  async #withdraw(key: BannerKey): Promise<void> {
    try {
      await this.#driver.withdraw(key);
    } catch (error) {
      this.#warn(error); // it stays on the screen until somebody closes it
    }
  }

  /** Once until it works again: a desktop without notifications is one line, not one a mail. */
  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    const why = error instanceof Error ? error.message : String(error);
    this.#log.warn('a notification could not be shown; the badge and the page go on', { why });
  }

  #clicked(key: BannerKey, activationToken: string | null): void {
    const opens = this.#opens.get(key);
    this.#decide({ is: 'clicked', at: this.#clock.now(), key });
    if (opens === undefined || this.#over) return;
    this.#opener.open({ opens, activationToken }).catch((error: unknown) => {
      const why = error instanceof Fault ? error.explain() : String(error);
      this.#log.warn('a click on a notification could not be followed', { opens, why });
    });
  }

  #became(state: DriverState): void {
    if (this.#over) return;
    const text = state.is === 'ready' ? state.by : `${state.is} (${state.why})`;
    this.#board.put({ is: 'surface', at: this.#clock.now(), surface: 'notifications', state: text });
    this.#warned = state.is !== 'ready'; // this line says it
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

  #save(announced: AnnouncedByKey): void {
    if (announced === this.#saved) return;
    try {
      this.#announcements.save(announced);
      this.#saved = announced;
    } catch (error) {
      // Kept in memory and saved with the next one: at worst an outage is announced again after a restart.
      this.#log.warn('what was announced could not be saved', { why: error instanceof Error ? error.message : error });
    }
  }
}

/** What the board already shows, as the facts that led there: so it does not matter who was started first. */
function factsOf(snapshot: Snapshot, at: Instant): Fact[] {
  const facts: Fact[] = [{ is: 'muted', at, persona: null, until: snapshot.paused }];
  for (const p of snapshot.personas) {
    const { id: persona, source, label, stem, eventsFile, lastEventId } = p;
    const address = label;
    facts.push({ is: 'joined', at, persona, source, address, label, stem, eventsFile, lastEventId, staleAfterMs: 0 });
    const unread = p.unread.value;
    const urgent = p.urgent.value;
    if (p.reach.is === 'up') {
      const { reach, vital, cursor } = p;
      facts.push({ is: 'looked', at, persona, reach, unread, urgent, vital, cursor });
    } else {
      facts.push({ is: 'counted', at, persona, unread, urgent });
    }
  }
  for (const { key, scope, message, personas } of snapshot.causes) {
    for (const persona of personas) {
      const reach = snapshot.personas.find((p) => p.id === persona)?.reach;
      if (reach?.is !== 'down') continue;
      const fault = new Fault(reach.why, withoutNext(message, reach.why), { is: scope, key });
      facts.push({ is: 'failed', at, persona, reach, fault });
    }
  }
  return facts;
}

/** The board shows a fault with its next step, which a Fault adds by itself. */
function withoutNext(message: string, code: FaultCode): string {
  const next = `: ${FAULTS[code].next}`;
  return message.endsWith(next) ? message.slice(0, -next.length) : message;
}
