import { type Finding, fail, ok, skipped, warn } from './finding.ts';

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
      `the terminal-notifier inside of node-notifier, a program for Intel${arch === 'x64' ? '' : ', by Rosetta'}`,
      `${PERMISSION}; ${brew}`,
    );
  if (hasOsascript) return warn('osascript, without clicks: there is no terminal-notifier and no Rosetta', brew);
  return fail('there is no terminal-notifier, no Rosetta and no osascript', brew);
}
