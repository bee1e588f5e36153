import type { Clock } from '../../../core/ports/index.ts';
import type { Channel, Notification, NotificationKey } from './channel.ts';

/** A call that takes longer counts as refused. */
const ANSWER_MS = 10_000;
/** This many keys are under way at once. */
const MOST_AT_ONCE = 8;
/** This many calls wait at most. What is more is refused at once, and the policy tries it again later. */
const MOST_WAITING = 1000;

interface Job {
  readonly key: NotificationKey;
  readonly is: 'send' | 'withdraw';
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly finish: (error: Error | null) => void;
}

/**
 * The calls to one channel. Calls for one key keep their order, each call is limited in time, and only so many wait. This is also
 * the one place that knows what a channel cannot do (`can`). A slow channel holds up nothing but its own queue.
 */
export class ChannelQueue {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #answerMs: number;
  #waiting: Job[] = [];
  readonly #busy = new Map<NotificationKey, Promise<void>>();

  constructor(channel: Channel, clock: Clock, answerMs: number = ANSWER_MS) {
    this.#channel = channel;
    this.#clock = clock;
    this.#answerMs = answerMs;
  }

  /** Resolves when the channel accepted the notification. @throws Error when it refused it, or did not answer in time */
  send(notification: Notification): Promise<void> {
    return this.#add(notification.key, 'send', async (signal) => {
      const { can } = this.#channel;
      if (!can.replace && can.withdraw) await this.#channel.withdraw?.(notification.key, signal);
      const { buttons } = notification;
      await this.#channel.send({ ...notification, buttons: buttons.slice(0, can.buttons) }, signal);
    });
  }

  /** Removes a notification. A channel that cannot do that is not asked. @throws Error as `send` does */
  withdraw(key: NotificationKey): Promise<void> {
    return this.#add(key, 'withdraw', async (signal) => {
      if (this.#channel.can.withdraw) await this.#channel.withdraw?.(key, signal);
    });
  }

  /** Resolves when nothing is under way and nothing waits. */
  async whenIdle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values());
  }

  #add(key: NotificationKey, is: Job['is'], run: Job['run']): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MOST_WAITING) {
        reject(new Error(`${MOST_WAITING} notifications are waiting already`));
        return;
      }
      this.#waiting.push({ key, is, run, finish: (error) => (error === null ? resolve() : reject(error)) });
      this.#start();
    });
  }

  #start(): void {
    for (const job of [...this.#waiting]) {
      if (this.#busy.size >= MOST_AT_ONCE) return;
      if (this.#busy.has(job.key)) continue;
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      this.#busy.set(job.key, this.#run(job));
    }
  }

  async #run(job: Job): Promise<void> {
    const error = await this.#call(job.run);
    this.#busy.delete(job.key);
    if (error !== null && job.is === 'send') this.#refuseWaiting(error);
    job.finish(error);
    this.#start();
  }

  /** Whoever just refused one notification is not asked for the next: each could take as long. */
  #refuseWaiting(error: Error): void {
    const refused = this.#waiting.filter(({ is }) => is === 'send');
    this.#waiting = this.#waiting.filter(({ is }) => is !== 'send');
    for (const { finish } of refused) finish(error);
  }

  /** Returns how the call failed, or null. */
  async #call(run: Job['run']): Promise<Error | null> {
    using stack = new DisposableStack();
    const stop = new AbortController();
    const late = new Promise<Error>((resolve) => {
      stack.use(
        this.#clock.after(this.#answerMs, () => {
          resolve(new Error(`the ${this.#channel.name} did not answer within ${this.#answerMs / 1000} s`));
          stop.abort();
        }),
      );
    });
    const called = (async () => {
      try {
        await run(stop.signal);
        return null;
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    })();
    return await Promise.race([called, late]);
  }
}
