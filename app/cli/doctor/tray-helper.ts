import { type Finding, fail, ok, skipped, warn } from './finding.ts';

export interface TrayHelperProbe {
  /** Whether the helper program of systray2 shows the icon here. */
  readonly isWay: boolean;
  readonly os: NodeJS.Platform;
  readonly arch: string;
  readonly path: string;
  readonly isThere: boolean;
  /** macOS on Apple silicon: whether programs for Intel run. Null: not checked. */
  readonly hasRosetta: boolean | null;
  /** Shared libraries that the system lacks. */
  readonly lacks: readonly string[];
}

/** Judges the tray helper. All helpers are built for x86-64. */
export function judgeHelper({ isWay, os, arch, path, isThere, hasRosetta, lacks }: TrayHelperProbe): Finding {
  if (!isWay) return skipped('not used: the icon is shown over D-Bus');
  if (!isThere) return fail(`${path} is missing`, 'install again: npm install hivebar');
  if (os === 'linux' && arch !== 'x64')
    return fail(`there is no tray helper for ${os} ${arch}`, 'use D-Bus: hivebar config set tray auto');
  if (hasRosetta === false)
    return fail(
      'the tray helper is a program for Intel, and there is no Rosetta',
      'run: softwareupdate --install-rosetta; or use the status page: hivebar open',
    );
  if (lacks.length > 0) {
    const brings = lacks.some((name) => name.startsWith('libappindicator3'))
      ? 'apt-get install libayatana-appindicator3-1'
      : `install what brings ${lacks[0]}`;
    return fail(`the tray helper lacks ${lacks.join(', ')}`, `${brings}; or use D-Bus: hivebar config set tray auto`);
  }
  if (os === 'darwin')
    return warn(
      `${path} runs${hasRosetta === true ? ' by Rosetta' : ''}`,
      'no icon in the menu bar? It may be hidden for lack of room, or parked off-screen by macOS: use hivebar open',
    );
  return ok(path);
}
