import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Command to the Debian package that brings it. */
const COMMANDS: Readonly<Record<string, string>> = {
  Xvfb: 'xvfb',
  'dbus-daemon': 'dbus-daemon',
  busctl: 'systemd',
  'xfce4-panel': 'xfce4-panel',
  dunst: 'dunst',
  import: 'imagemagick',
  xdotool: 'xdotool',
};

/** Null when a virtual desktop can be had here, else one line that says what is missing and which packages bring it. */
export function desktopMissing(): string | null {
  const missing = Object.keys(COMMANDS).filter((command) => !onPath(command));
  if (missing.length === 0) return null;
  const packages = missing.map((command) => COMMANDS[command]).join(' ');
  return `no virtual desktop: ${missing.join(', ')} missing (Debian: apt-get install ${packages})`;
}

/** As `desktopMissing`, and for the tray helper of systray2 as well, which needs GTK's indicator library. */
export function trayHelperMissing(): string | null {
  const library = globSync(['/usr/lib/libappindicator3.so.1', '/usr/lib/*/libappindicator3.so.1']);
  if (library.length > 0) return desktopMissing();
  return 'no tray helper: libappindicator3.so.1 missing (Debian: apt-get install libayatana-appindicator3-1)';
}

/** For `test(name, { skip })`: where nothing may be missing (CI) nothing is skipped, and what is missing fails. */
export function skipUnless(missing: string | null): string | false {
  return process.env.HIVEBAR_REQUIRE_ALL === '1' ? false : (missing ?? false);
}

function onPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false; // not in this folder
    }
  });
}
