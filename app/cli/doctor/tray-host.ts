import type { Settings } from '../../config/tray/index.ts';
import { type Finding, fail, missing, ok, skipped, warn } from './finding.ts';

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
  if (!isWay) return skipped('icons are not shown that way here');
  if (host.is === 'no-bus') return skipped('no session bus to ask');
  if (host.is === 'no-watcher' || !host.isHosted) {
    const reason =
      host.is === 'no-watcher' ? 'no program shows tray icons' : 'a watcher is there, but no program shows its icons';
    const text = `${reason} (${host.is === 'no-watcher' ? 'nobody owns org.kde.StatusNotifierWatcher' : 'IsStatusNotifierHostRegistered is false'}${desktop === null ? '' : `; desktop ${desktop}`})`;
    return missing(hasDisplay, text, chooseNextStep(desktop));
  }
  if (running === null || running.startsWith('on '))
    return ok(`a tray host is there${running === null ? '' : `; the icon is ${running}`}`);
  if (running === 'off (switched off)')
    return warn('a tray host is there; the running Hivebar was started with --no-tray', 'start it without that flag');
  return fail(
    `a tray host is there, but the running Hivebar says of its icon: ${running}`,
    'quit it and start it inside of this desktop session',
  );
}

function chooseNextStep(desktop: string | null): string {
  const later = 'the icon appears as soon as there is one';
  if (desktop !== null && /gnome|unity/i.test(desktop))
    return `install gnome-shell-extension-appindicator, log in again, and switch it on in Extensions; ${later}`;
  if (desktop !== null && /xfce/i.test(desktop)) return `add the Status Tray to the panel (xfce4-panel); ${later}`;
  return `start a panel with a tray for StatusNotifier items (xfce4-panel, Plasma, waybar with its tray); ${later}`;
}
