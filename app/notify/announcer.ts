import type { Clock, Log } from '../../core/ports/index.ts';
import {
  type ChannelListener,
  ChannelQueue,
  type ChannelState,
  type ConfiguredChannel,
  findNotificationAction,
  type Notification,
  type NotificationAction,
  type NotificationKey,
  type NotificationPart,
} from './channels/index.ts';
import { decide, type PolicyInput, type PolicyOutcome } from './policy.ts';
import { createPolicyState, type NotifyRules, type PolicyState, type SavedAnnouncements } from './state.ts';

export interface AnnouncerNeeds {
  readonly channel: ConfiguredChannel;
  readonly saved: SavedAnnouncements;
  /** Saves what was announced on this channel. @throws Fault `database` */
  readonly save: (announcements: SavedAnnouncements) => void;
  readonly rules: NotifyRules;
  readonly clock: Clock;
  readonly log: Log;
  /** A person took note of the notification on this channel. `action`: what a click asks for. */
  readonly onSeen: (key: NotificationKey, action: NotificationAction | null) => void;
  readonly onState: (state: ChannelState) => void;
  /** The channel fails, with the reason; null: it works again. Called at each change. */
  readonly onFailing: (why: string | null) => void;
}

/** The longest sleep. After at most this time a changed clock, or a machine that slept, is noticed. */
const SLEEP_MS = 60_000;
/** Notifications in progress at the end get this long. */
const LAST_MS = 100;

/**
 * Announces on one channel: asks the policy, and gives its decisions to the channel. Each channel has its own policy state, so what
 * it accepted or refused concerns no other channel.
 *
 * The order for an outage or a decision: the channel accepts the notification, then it counts as announced there and is saved. A
 * `kill -9` in between repeats one notification on this channel after the restart, and none is ever lost.
 */
export class Announcer {
  readonly #needs: AnnouncerNeeds;
  readonly #clock: Clock;
  readonly #queue: ChannelQueue;
  readonly #close: () => Promise<void>;
  #state: PolicyState;
  #saved: SavedAnnouncements;
  #channelState: ChannelState;
  #tick: Disposable | null = null;
  /** The newest notification of each key, which is the one that a click is about. */
  readonly #latest = new Map<NotificationKey, Notification>();
  #isFailing = false;
  /** Why the last save failed; null: it worked. */
  #unsavedWhy: string | null = null;
  #over = false;

  constructor(needs: AnnouncerNeeds) {
    const { channel, clock, saved } = needs;
    this.#needs = needs;
    this.#clock = clock;
    this.#state = createPolicyState(saved);
    this.#saved = { ...saved, waits: this.#state.announcedWaits };
    this.#channelState = { is: 'ready', by: channel.name };
    const listener: ChannelListener = {
      clicked: (key, part, token) => this.#handleClick(key, part, token),
      closed: (key, by) => this.#handleClosed(key, by),
      state: (state) => this.#handleState(state),
    };
    const opened = channel.open(listener);
    this.#queue = new ChannelQueue(opened, clock);
    this.#close = async () => await opened.close?.();
  }

  get name(): string {
    return this.#needs.channel.name;
  }

  get place(): ConfiguredChannel['place'] {
    return this.#needs.channel.place;
  }

  get state(): ChannelState {
    return this.#channelState;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tick?.[Symbol.dispose]();
    // A notification in progress will be an announcement in a moment, and must be saved as one.
    const stop = new AbortController();
    await Promise.race([this.#queue.whenIdle(), this.#clock.sleep(LAST_MS, stop.signal)]);
    stop.abort();
    this.#over = true;
    this.#tick?.[Symbol.dispose]();
    await this.#close();
  }

  decide(input: PolicyInput): void {
    if (this.#over) return;
    const decision = decide(this.#state, input, this.#needs.rules);
    this.#state = decision.state;
    const { announced: outages, announcedDecisions: decisions, announcedWaits: waits } = decision.state;
    this.#save({ outages, decisions, waits });
    for (const key of decision.withdraw) void this.#withdraw(key);
    for (const notification of decision.show) void this.#show(notification);
    this.#sleepUntil(decision.wakeAt);
  }

  /** A person took note of this notification on another channel. */
  handleSeenElsewhere(key: NotificationKey, action: NotificationAction | null): void {
    if (isAnswer(action)) this.#latest.delete(key);
    this.decide({ is: 'clicked', at: this.#clock.now(), key });
  }

  /** Shows an answer to a person's own click. It was asked for, so the policy is not. */
  async show(notification: Notification): Promise<void> {
    await this.#show(notification);
  }

  /** Shows the notification. Returns why the channel refused it, or null. Never rejects, and the log stays silent. */
  async test(notification: Notification): Promise<string | null> {
    if (this.#over) return 'Hivebar is stopping';
    try {
      await this.#give(notification);
      return null;
    } catch (error) {
      return formatReason(error);
    }
  }

  async #show(notification: Notification): Promise<void> {
    if (this.#over) return;
    try {
      await this.#give(notification);
    } catch (error) {
      this.#handleFailure(formatReason(error));
      this.decide({ is: 'refused', at: this.#clock.now(), notification });
      return;
    }
    this.decide({ is: 'shown', at: this.#clock.now(), notification });
  }

  async #give(notification: Notification): Promise<void> {
    this.#latest.set(notification.key, notification);
    await this.#queue.send(notification);
    this.#setFailing(null);
  }

  async #withdraw(key: NotificationKey): Promise<void> {
    if (/^(question|permission):/.test(key)) this.#latest.delete(key); // such a key never comes again
    try {
      await this.#queue.withdraw(key);
    } catch (error) {
      this.#handleFailure(formatReason(error)); // it stays on the screen until somebody closes it
    }
  }

  /** Reports once until the channel works again: a desktop without notifications is one line, not one per mail. */
  #handleFailure(why: string): void {
    if (this.#isFailing || this.#channelState.is !== 'ready' || this.#over) return; // or the state says it already
    this.#needs.log.warn('a notification could not be shown; badge and page still work', {
      channel: this.name,
      why,
    });
    this.#setFailing(why);
  }

  #setFailing(why: string | null): void {
    const isFailing = why !== null;
    if (isFailing === this.#isFailing || this.#over) return;
    this.#isFailing = isFailing;
    this.#needs.onFailing(why);
  }

  #sleepUntil(at: PolicyOutcome['wakeAt']): void {
    this.#tick?.[Symbol.dispose]();
    this.#tick = null;
    if (at === null) return;
    const ms = Math.min(Math.max(1, at - this.#clock.now()), SLEEP_MS);
    this.#tick = this.#clock.after(ms, () => this.decide({ is: 'tick', at: this.#clock.now() }));
  }

  #handleClick(key: NotificationKey, part: NotificationPart, activationToken: string | null): void {
    const notification = this.#latest.get(key);
    this.decide({ is: 'clicked', at: this.#clock.now(), key });
    if (notification === undefined || this.#over) return;
    const action = findNotificationAction(notification, part, activationToken);
    if (isAnswer(action)) this.#latest.delete(key);
    this.#needs.onSeen(key, action);
  }

  #handleClosed(key: NotificationKey, by: 'person' | 'channel'): void {
    this.decide({ is: 'closed', at: this.#clock.now(), key, by });
    if (by === 'person' && !this.#over) this.#needs.onSeen(key, null);
  }

  #handleState(state: ChannelState): void {
    if (this.#over) return;
    this.#channelState = state;
    this.#setFailing(null);
    this.#needs.onState(state);
    switch (state.is) {
      case 'ready':
        this.decide({ is: 'ready', at: this.#clock.now() });
        return;
      case 'off':
        this.#needs.log.info(`notifications: ${formatChannelState(state)}`);
        return;
      case 'unavailable':
        this.#needs.log.warn(`notifications: ${formatChannelState(state)}`);
    }
  }

  #save(announcements: SavedAnnouncements): void {
    const { outages, decisions, waits } = this.#saved;
    if (announcements.outages === outages && announcements.decisions === decisions && announcements.waits === waits)
      return;
    try {
      this.#needs.save(announcements);
      this.#saved = announcements;
      this.#unsavedWhy = null;
    } catch (error) {
      // The announcements stay in memory and are saved with the next change. At worst one is repeated after a restart.
      const why = formatReason(error);
      if (why !== this.#unsavedWhy)
        this.#needs.log.warn('announcements could not be saved, so a restart may repeat them', { why });
      this.#unsavedWhy = why;
    }
  }
}

/** A decision and a permission prompt are answered only once. */
const isAnswer = (action: NotificationAction | null): boolean => action?.name === 'decide' || action?.name === 'permit';

export function formatChannelState(state: ChannelState): string {
  return state.is === 'ready' ? state.by : `${state.is} (${state.why})`;
}

function formatReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
