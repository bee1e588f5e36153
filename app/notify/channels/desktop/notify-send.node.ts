import type { Clock } from '../../../../core/ports/index.ts';
import { type ProgramEnv, type RunningProgram, startProgram } from '../../../programs.node.ts';
import type { ChannelListener, Notification, NotificationKey } from '../channel.ts';
import {
  CATEGORY,
  type DesktopBackend,
  type DesktopIdentity,
  type OpenBackend,
  OpenBanners,
  SOUND,
} from '../desktop.ts';

/** A failure shows within this time (no notification daemon: 0.24 s). A process that runs longer waits for a person. */
const FAILS_WITHIN_MS = 700;
const PROBE_MS = 2000;
/** Each open banner is a process. */
const MOST_OPEN = 10;

/**
 * Shows notifications with libnotify's `notify-send`, where the bus itself is out of reach. Clicks need `-A` (libnotify 0.8),
 * which is looked for in `--help`. A banner cannot be replaced, so the older one is closed.
 */
export async function createNotifySendBackend(
  file: string,
  identity: DesktopIdentity,
  sound: boolean,
  env: ProgramEnv,
  clock: Clock,
): Promise<OpenBackend> {
  const probe = startProgram(file, ['--help'], env, clock);
  await probe.waitUntilStable(PROBE_MS);
  const { stdout } = await probe.ended;
  const clicks = stdout.includes('--action');
  return (listener) => {
    listener.state({ is: 'ready', by: clicks ? 'notify-send' : 'notify-send, without clicks' });
    return new NotifySendBackend({ file, identity, sound, clicks, env, clock, listener });
  };
}

interface NotifySendNeeds {
  readonly file: string;
  readonly identity: DesktopIdentity;
  readonly sound: boolean;
  /** Whether this notify-send supports actions. */
  readonly clicks: boolean;
  readonly env: ProgramEnv;
  readonly clock: Clock;
  readonly listener: ChannelListener;
}

class NotifySendBackend implements DesktopBackend {
  readonly #needs: NotifySendNeeds;
  readonly #open = new OpenBanners<RunningProgram>(MOST_OPEN);

  constructor(needs: NotifySendNeeds) {
    this.#needs = needs;
  }

  async show(banner: Notification): Promise<void> {
    const { key } = banner;
    const { file, clicks, env, clock, listener } = this.#needs;
    const running = startProgram(file, this.#buildArguments(banner), env, clock);
    for (const [removedKey, old, why] of this.#open.add(key, running)) {
      old.interrupt();
      if (why === 'crowded') listener.closed(removedKey, 'channel');
    }
    if (clicks) {
      running.ended.then(
        ({ stdout }) => {
          if (!this.#open.isLatest(key, running)) return;
          this.#open.remove(key);
          const response = stdout.trim();
          const part = response === 'default' ? 'banner' : banner.buttons.find(({ id }) => id === response)?.id;
          if (part !== undefined) listener.clicked(key, part, null);
          else listener.closed(key, 'channel'); // dismissed or expired: it does not say which
        },
        () => this.#open.remove(key), // `waitUntilStable` below reports it
      );
    }
    await running.waitUntilStable(FAILS_WITHIN_MS);
  }

  async withdraw(key: NotificationKey): Promise<void> {
    this.#open.remove(key)?.interrupt(); // an interrupt makes it close its banner
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of this.#open.keys()) await this.withdraw(key);
  }

  #buildArguments({ is, urgency, title, body, buttons, ...rest }: Notification): string[] {
    const { identity, clicks } = this.#needs;
    const sound = rest.sound ?? this.#needs.sound;
    // Whether the body is markup depends on a daemon that notify-send does not name. The summary never is.
    const texts = /[&<>]/u.test(body) ? [`${title}: ${body}`] : [title, body.replaceAll('\\', '\\\\')]; // a body's escapes are read, a summary's are not
    return [
      '--app-name=Hivebar',
      `--urgency=${urgency === 'critical' ? 'critical' : 'normal'}`,
      `--category=${CATEGORY[is]}`,
      `--icon=${identity.icon}`,
      `--hint=string:desktop-entry:${identity.desktopEntry}`,
      ...(sound ? [`--hint=string:sound-name:${SOUND[is]}`] : clicks ? ['--hint=boolean:suppress-sound:true'] : []), // an older one knows no boolean
      ...(clicks ? ['--action=default=Open', ...buttons.map(({ id, label }) => `--action=${id}=${label}`)] : []),
      '--', // whatever follows is text, even if it begins with a dash
      ...texts,
    ];
  }
}
