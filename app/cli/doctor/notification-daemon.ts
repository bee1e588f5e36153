import { type Finding, fail, missing, ok, skipped, warn } from './finding.ts';

export interface NotificationDaemonProbe {
  readonly isWanted: boolean;
  readonly hasDisplay: boolean;
  readonly daemon:
    | { readonly is: 'no-bus' | 'none' }
    /** The bus starts the daemon with the first notification. */
    | { readonly is: 'activatable' }
    | {
        readonly is: 'there';
        /** Name and version of the daemon; null when it does not tell. */
        readonly who: string | null;
        readonly can: readonly string[];
        /** Dunst: notifications are held back. Null: the daemon has no such property. */
        readonly isPaused: boolean | null;
      };
  /** What the running Hivebar reports about its notifications; null when it does not run. */
  readonly running: string | null;
}

export function judgeNotificationDaemon({ isWanted, hasDisplay, daemon, running }: NotificationDaemonProbe): Finding {
  if (!isWanted) return skipped('notifications are switched off (the setting notifications is false)');
  switch (daemon.is) {
    case 'no-bus':
      return skipped('no session bus to ask');
    case 'none':
      return missing(
        hasDisplay,
        'no program shows notifications (nobody owns org.freedesktop.Notifications, and nothing is started for it)',
        'install and start one (dunst, mako, xfce4-notifyd); desktops bring their own. Banners begin as soon as it is there',
      );
    case 'activatable':
      return judgeRunning('one is started with the first notification', running);
    case 'there': {
      const name = daemon.who ?? 'a daemon that does not say its name';
      if (daemon.isPaused === true) return warn(`${name} is paused: banners wait`, 'run: dunstctl set-paused false');
      if (!daemon.can.includes('actions'))
        return warn(
          `${name} shows banners but reports no clicks`,
          'open a session from the menu or with hivebar open instead',
        );
      return judgeRunning(
        `${name} (${daemon.can.filter((capability) => /^(actions|body|body-markup)$/.test(capability)).join(', ')})`,
        running,
      );
    }
  }
}

function judgeRunning(text: string, running: string | null): Finding {
  if (running === null || !/^(off|unavailable) \(/.test(running)) return ok(text);
  return fail(
    `${text}, but the running Hivebar says: ${running}`,
    'quit it and start it inside of this desktop session, without --no-notifications',
  );
}
