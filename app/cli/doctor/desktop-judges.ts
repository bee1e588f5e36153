import { formatList } from '../../../core/format/index.ts';
import { FAULTS, type Fault } from '../../../core/model/index.ts';
import type { Settings } from '../../config/tray/index.ts';
import type { LoginStartStatus } from '../../service/index.ts';
import type { StatusWire } from '../../status/index.ts';
import { type Finding, fail, missing, ok, skipped, warn } from './doctor-context.ts';

export interface SessionBusProbe {
  /** Whether the platform has D-Bus and something is shown over it. */
  readonly isWanted: boolean;
  readonly hasDisplay: boolean;
  readonly bus:
    | { readonly is: 'none' | 'gone'; readonly why: string }
    | { readonly is: 'connected'; readonly address: string };
}

export function judgeSessionBus({ isWanted, hasDisplay, bus }: SessionBusProbe): Finding {
  if (!isWanted) return skipped('not needed: with these settings nothing is shown over D-Bus');
  if (bus.is === 'connected') return ok(bus.address);
  const next =
    bus.is === 'gone'
      ? "log out and in again: the session bus of this login has ended, or is another user's"
      : 'start Hivebar inside a desktop session; on a machine without a desktop: hivebar config set tray none, hivebar config set notifications false';
  return missing(hasDisplay, bus.is === 'none' ? `there is no session bus: ${bus.why}` : bus.why, next);
}

export interface TrayHostProbe {
  readonly choice: Settings['tray'];
  /** Whether the icon is shown as a StatusNotifierItem here. */
  readonly isWay: boolean;
  readonly hasDisplay: boolean;
  /** `$XDG_CURRENT_DESKTOP`. */
  readonly desktop: string | null;
  readonly host:
    | { readonly is: 'no-bus' }
    | { readonly is: 'no-watcher' }
    | { readonly is: 'watcher'; readonly isHosted: boolean };
  /** What the running Hivebar reports about its icon; null when it does not run. */
  readonly running: string | null;
}

export function judgeHost({ choice, isWay, hasDisplay, desktop, host, running }: TrayHostProbe): Finding {
  if (choice === 'none') return skipped('the icon is switched off (the setting tray is none)');
  if (!isWay) return skipped('not used: the icon is shown in another way');
  if (host.is === 'no-bus') return skipped('there is no session bus');
  if (host.is === 'no-watcher' || !host.isHosted) {
    const reason =
      host.is === 'no-watcher' ? 'no program shows tray icons' : 'a tray watcher runs, but no program shows its icons';
    const text = `${reason} (${host.is === 'no-watcher' ? 'no program owns org.kde.StatusNotifierWatcher' : 'IsStatusNotifierHostRegistered is false'}${desktop === null ? '' : `; desktop ${desktop}`})`;
    return missing(hasDisplay, text, chooseNextStep(desktop));
  }
  if (running === null || running.startsWith('on '))
    return ok(`a tray host runs${running === null ? '' : `; the icon is ${running}`}`);
  if (running === 'off (switched off)')
    return warn('a tray host runs; the running Hivebar was started with --no-tray', 'start it without that flag');
  return fail(
    `a tray host runs, but the running Hivebar reports for its icon: ${running}`,
    'quit it and start it inside this desktop session',
  );
}

function chooseNextStep(desktop: string | null): string {
  const later = 'the icon then appears without a restart';
  if (desktop !== null && /gnome|unity/i.test(desktop))
    return `install gnome-shell-extension-appindicator, log in again, and switch it on in Extensions; ${later}`;
  if (desktop !== null && /xfce/i.test(desktop)) return `add the Status Tray to the panel (xfce4-panel); ${later}`;
  return `start a panel with a tray for StatusNotifier items (xfce4-panel, Plasma, waybar with its tray); ${later}`;
}

export interface TrayHelperProbe {
  /** Whether the helper program of systray2 shows the icon here. */
  readonly isWay: boolean;
  readonly os: NodeJS.Platform;
  readonly arch: string;
  readonly path: string;
  readonly isThere: boolean;
  /** Why it cannot be made ready to run. */
  readonly fault: Fault | null;
  /** macOS on Apple silicon: whether programs for Intel run. Null: not checked. */
  readonly hasRosetta: boolean | null;
  /** Shared libraries that the system lacks. */
  readonly lacks: readonly string[];
}

/** Judges the tray helper. All helpers are built for x86-64. */
export function judgeHelper({ isWay, os, arch, path, isThere, fault, hasRosetta, lacks }: TrayHelperProbe): Finding {
  if (!isWay) return skipped('not used: the icon is shown over D-Bus');
  if (!isThere) return fail(`${path} is missing`, 'install again: npm install hivebar');
  if (os === 'linux' && arch !== 'x64')
    return fail(`there is no tray helper for ${os} ${arch}`, 'use D-Bus: hivebar config set tray auto');
  if (hasRosetta === false)
    return fail(
      'the tray helper is an Intel program, and Rosetta is not installed',
      'run: softwareupdate --install-rosetta; or use the status page: hivebar open',
    );
  if (fault !== null) return fail(fault.message, FAULTS[fault.code].next);
  if (lacks.length > 0) {
    const brings = lacks.some((name) => name.startsWith('libappindicator3'))
      ? 'apt-get install libayatana-appindicator3-1'
      : `install the package that contains ${lacks[0]}`;
    return fail(`the tray helper needs ${lacks.join(', ')}`, `${brings}; or use D-Bus: hivebar config set tray auto`);
  }
  if (os === 'darwin')
    return warn(
      `${path} runs${hasRosetta === true ? ' by Rosetta' : ''}`,
      'no icon in the menu bar? It may be hidden for lack of room, or parked off-screen by macOS: use hivebar open',
    );
  return ok(path);
}

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
      return skipped('there is no session bus');
    case 'none':
      return missing(
        hasDisplay,
        'no program shows notifications (no program owns org.freedesktop.Notifications, and the bus cannot start one)',
        'install and start one (dunst, mako, xfce4-notifyd); most desktops include one. Banners then appear without a restart',
      );
    case 'activatable':
      return judgeRunning('the bus starts one with the first notification', running);
    case 'there': {
      const name = daemon.who ?? 'a notification daemon without a name';
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
    `${text}, but the running Hivebar reports: ${running}`,
    'quit it and start it inside this desktop session, without --no-notifications',
  );
}

/** The program that shows notifications where there is no D-Bus. */
export interface NotifierProbe {
  readonly isWanted: boolean;
  readonly os: NodeJS.Platform;
  readonly arch: string;
  /** The user's own terminal-notifier. */
  readonly own: { readonly path: string; readonly version: string | null } | null;
  readonly hasRosetta: boolean;
  readonly hasOsascript: boolean;
}

const PERMISSION = 'no banner? Allow it: System Settings > Notifications > terminal-notifier';

export function judgeNotifier({ isWanted, os, arch, own, hasRosetta, hasOsascript }: NotifierProbe): Finding {
  if (!isWanted) return skipped('notifications are switched off (the setting notifications is false)');
  if (os === 'win32')
    return ok(
      'SnoreToast, shown by Windows as "SnoreToast"; Focus Assist may hide banners, hivebar status shows what was missed',
    );
  if (os !== 'darwin') return skipped('banners are shown over D-Bus here');
  if (own !== null && Number.parseInt(own.version ?? '0', 10) >= 3)
    return warn(`${own.path} ${own.version}`, PERMISSION);
  const brew = 'for native banners and clicks: brew install terminal-notifier';
  if (own !== null) return warn(`${own.path} is version ${own.version ?? 'unknown'}, and clicks need 3 or newer`, brew);
  if (arch === 'x64' || hasRosetta)
    return warn(
      `the terminal-notifier of node-notifier, an Intel program${arch === 'x64' ? '' : ', by Rosetta'}`,
      `${PERMISSION}; ${brew}`,
    );
  if (hasOsascript) return warn('osascript, without clicks: there is no terminal-notifier and no Rosetta', brew);
  return fail('there is no terminal-notifier, no Rosetta and no osascript', brew);
}

/** Judges what a person switched off and may have forgotten. */
export function judgeSilence(status: StatusWire | null): Finding {
  if (status === null) return skipped('Hivebar is not running');
  const { pausedUntil, quietUntil } = status.notifications;
  if (pausedUntil !== null)
    return warn(
      `notifications are paused ${formatUntil(pausedUntil)}`,
      'choose Resume notifications in the menu of the icon or on the page',
    );
  if (quietUntil !== null)
    return warn(
      `quiet hours are on ${formatUntil(quietUntil)}`,
      'switch them off in the menu, or change the setting quietHours',
    );
  const muted = status.personas.filter((persona) => persona.muted !== null).map(({ id }) => id);
  const hidden = status.personas.filter((persona) => persona.hidden).map(({ id }) => id);
  if (muted.length === 0 && hidden.length === 0) return ok('nothing is paused, muted or hidden');
  const parts = [
    ...(muted.length === 0 ? [] : [`muted: ${formatNames(muted)}`]),
    ...(hidden.length === 0 ? [] : [`hidden: ${formatNames(hidden)}`]),
  ];
  return warn(parts.join('; '), 'if that is not what you want: hivebar unmute PERSONA, hivebar unhide PERSONA');
}

/** Judges what the running program itself reports as wrong. */
export function judgeOutages(status: StatusWire | null): Finding {
  if (status === null) return skipped('Hivebar is not running');
  const [first, ...rest] = status.causes;
  if (first !== undefined) {
    const remainder = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
    return warn(`${first.message}${remainder}`, 'see all of them: hivebar status');
  }
  const { up, personas } = status.totals;
  return ok(`${up} of ${personas} inboxes are up`);
}

const formatUntil = (time: string): string => (time === 'forever' ? 'until you resume them' : `until ${time}`);

const MOST_NAMED = 5;

function formatNames(names: readonly string[]): string {
  return formatList(names, MOST_NAMED);
}

export interface LoginProbe {
  readonly status: LoginStartStatus;
  /** What an entry would need to start anything; null: nothing is missing. */
  readonly missing: string | null;
}

export function judgeLogin({ status, missing }: LoginProbe): Finding {
  switch (status.is) {
    case 'on':
      if (status.gone !== null)
        return fail(
          `on, but ${status.path} starts ${status.gone}, which does not exist`,
          'run: hivebar service install',
        );
      if (missing !== null) return fail(`${status.path} starts nothing: ${missing}`, 'run: hivebar service uninstall');
      if (!status.isOld) return ok(`on, by ${status.path}`);
      return warn(
        `on, but ${status.path} was written by an older Hivebar, or starts another Node or another copy`,
        'run: hivebar service install',
      );
    case 'off':
      if (status.path === null) return ok('off');
      if (status.why === undefined) return ok(`off: ${status.path} exists but is switched off`);
      return warn(
        `off: ${status.path} exists, but ${status.why}`,
        'run: hivebar service install, or hivebar service uninstall',
      );
    case 'foreign':
      return warn(`${status.path} ${status.why}`, 'Hivebar does not change it; move it away to use start at login');
  }
}
