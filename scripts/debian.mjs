import { spawnSync } from 'node:child_process';

/** What the desktop, browser and flock tests run against, by Debian's names. */
export const PACKAGES = [
  'adwaita-icon-theme',
  'chromium',
  'dbus-bin',
  'dbus-daemon',
  'dunst',
  'firefox-esr',
  'fonts-dejavu-core',
  'gcc',
  'groff-base',
  'hicolor-icon-theme',
  'imagemagick',
  'jq',
  'libayatana-appindicator3-1',
  'libc6-dev',
  'libglib2.0-bin',
  'libnotify-bin',
  'nats-server',
  'python3',
  'strace',
  'systemd',
  'tmux',
  'xclip',
  'xdotool',
  'xfce4-panel',
  'xfconf',
  'xvfb',
  'xxd',
  'zsh',
];

/**
 * Installs those of PACKAGES that are missing.
 * @param {(line: string) => void} say
 * @throws when this is no Debian, or apt refuses twice.
 */
export function installDebianPackages(say) {
  const missing = PACKAGES.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  say(`installing Debian packages that the tests need: ${missing.join(' ')}`);
  // The tests start one of their own; the package's would be started with the installation, on every address.
  if (missing.includes('nats-server')) asRoot(['systemctl', 'mask', 'nats-server.service']);
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if (apt(['update']) && (apt(install) || (apt(['update']) && apt(install)))) return;
  throw new Error(
    `CI needs these Debian packages and could not install them: ${missing.join(' ')}: install them by hand, or unset CI to skip the tests that need them`,
  );
}

function isInstalled(name) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of dpkg-query
  const answer = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status}', name], { encoding: 'utf8' });
  return answer.status === 0 && answer.stdout === 'installed';
}

function apt(args) {
  return asRoot(['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=2', ...args]);
}

/** True when it went well. */
function asRoot(command) {
  const root = process.getuid?.() === 0;
  const [file = '', ...rest] = root ? command : ['sudo', '-n', ...command];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // What apt prints goes to stderr: the runner's own output stays readable.
  return spawnSync(file, rest, { stdio: ['ignore', 2, 2], env }).status === 0;
}
