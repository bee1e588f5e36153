import type { Clock } from '../../core/ports/index.ts';
import type { Banner, BannerKey } from './banner.ts';
import type { DriverListener, Identity, NotifyDriver, OpenDriver } from './driver.ts';
import { OpenBanners } from './open-banners.ts';
import { type Env, type Running, start } from '../programs.node.ts';

/** A failure shows within this time (no daemon: 0.24 s); who runs longer waits for a person. */
const FAILS_WITHIN_MS = 700;
const PROBE_MS = 2000;
/** Each open banner is a process. */
const MOST_OPEN = 10;

/**
 * Notifications by libnotify's `notify-send`, where the bus itself is out of reach. A click needs `-A` (libnotify 0.8),
 * which is looked for in `--help`; a banner cannot be replaced, so the one before is closed.
 */
export async function notifySendDriver(file: string, identity: Identity, env: Env, clock: Clock): Promise<OpenDriver> {
  const probe = start(file, ['--help'], env, clock);
  await probe.well(PROBE_MS);
  const { stdout } = await probe.ended;
  const clicks = stdout.includes('--action');
  return (listener) => {
    listener.state({ is: 'ready', by: clicks ? 'notify-send' : 'notify-send, without clicks' });
    return new NotifySend(file, identity, clicks, env, clock, listener);
  };
}

class NotifySend implements NotifyDriver {
  readonly #file: string;
  readonly #identity: Identity;
  readonly #clicks: boolean;
  readonly #env: Env;
  readonly #clock: Clock;
  readonly #listener: DriverListener;
  readonly #open = new OpenBanners<Running>(MOST_OPEN);

  constructor(file: string, identity: Identity, clicks: boolean, env: Env, clock: Clock, listener: DriverListener) {
    this.#file = file;
    this.#identity = identity;
    this.#clicks = clicks;
    this.#env = env;
    this.#clock = clock;
    this.#listener = listener;
  }

  async show(banner: Banner): Promise<void> {
    const { key } = banner;
    const running = start(this.#file, this.#argumentsOf(banner), this.#env, this.#clock);
    for (const [gone, old, why] of this.#open.add(key, running)) {
      old.interrupt();
      if (why === 'crowded') this.#listener.closed(gone, 'desktop');
    }
    if (this.#clicks) {
      running.ended.then(
        ({ stdout }) => {
          if (!this.#open.isLatest(key, running)) return;
          this.#open.remove(key);
          if (stdout.trim() === 'default') this.#listener.clicked(key, null);
          else this.#listener.closed(key, 'desktop'); // dismissed or expired: it does not say which
        },
        () => this.#open.remove(key), // told by `well` below
      );
    }
    await running.well(FAILS_WITHIN_MS);
  }

  async withdraw(key: BannerKey): Promise<void> {
    this.#open.remove(key)?.interrupt(); // an interrupt makes it close its banner
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of this.#open.keys()) await this.withdraw(key);
  }

  #argumentsOf({ is, urgency, title, body }: Banner): string[] {
    const category = { mail: 'email.arrived', outage: 'network.disconnected', recovery: 'network.connected' }[is];
    // The body is markup or not, depending on a daemon that notify-send does not tell of; the summary never is.
    const texts = /[&<>]/u.test(body) ? [`${title}: ${body}`] : [title, body.replaceAll('\\', '\\\\')]; // a body's escapes are read, a summary's are not
    return [
      '--app-name=Hivebar',
      `--urgency=${urgency === 'critical' ? 'critical' : 'normal'}`,
      `--category=${category}`,
      `--icon=${this.#identity.icon}`,
      `--hint=string:desktop-entry:${this.#identity.desktopEntry}`,
      ...(this.#clicks ? ['--action=default=Open'] : []),
      '--', // whatever follows is text, also when it begins with a dash
      ...texts,
    ];
  }
}
