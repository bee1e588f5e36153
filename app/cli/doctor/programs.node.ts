import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findProgram, resolveProgram } from '../../../core/ports/index.ts';
import type { LockSeen } from './lock.ts';
import type { NodeSeen } from './node-version.ts';
import type { NotifierSeen } from './notifier.ts';
import type { Scene } from './scene.ts';
import type { HelperSeen } from './tray-helper.ts';

const require = createRequire(import.meta.url);

export function nodeSeen(): NodeSeen {
  return { version: process.versions.node, path: process.execPath };
}

export function lockSeen({ os, env }: Scene): LockSeen {
  return { os, koffi: koffiSeen(), flock: os === 'linux' ? findProgram('flock', env, os) : null };
}

function koffiSeen(): LockSeen['koffi'] {
  try {
    const { load, version } = require('koffi') as typeof import('koffi') & { readonly version: string };
    if (process.platform !== 'win32') load(null).func('int flock(int fd, int operation)');
    return { is: 'loads', version };
  } catch (error) {
    return { is: 'failed', why: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}

const HELPERS: Readonly<Record<string, string>> = {
  linux: 'tray_linux_release',
  darwin: 'tray_darwin_release',
  win32: 'tray_windows_release.exe',
};

export async function helperSeen(scene: Scene, signal: AbortSignal): Promise<HelperSeen> {
  const { os, arch, settings, env } = scene;
  const isWay = settings.tray === 'systray2' || (settings.tray === 'auto' && (os === 'darwin' || os === 'win32'));
  const path = helperPath(HELPERS[os] ?? `tray_${os}`);
  const isThere = existsSync(path);
  const ldd = isWay && isThere && os === 'linux' ? await output('ldd', [path], env, signal) : '';
  return {
    isWay,
    os,
    arch,
    path,
    isThere,
    hasRosetta: isWay && os === 'darwin' && arch === 'arm64' ? await runsIntel(env, signal) : null,
    lacks: [...(ldd ?? '').matchAll(/^\s*(\S+) => not found/gm)].map(([, name = '']) => name),
  };
}

function helperPath(name: string): string {
  try {
    return join(dirname(require.resolve('systray2/package.json')), 'traybin', name);
  } catch {
    return join('systray2', 'traybin', name); // not installed: it is said to be missing
  }
}

/** A login session's PATH lacks the folders of the package managers. */
const BESIDE = ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'];

export async function notifierSeen(scene: Scene, signal: AbortSignal): Promise<NotifierSeen> {
  const { os, arch, env, settings } = scene;
  const base = { isWanted: settings.notifications, os, arch };
  if (os !== 'darwin' || !settings.notifications) return { ...base, own: null, hasRosetta: false, hasOsascript: false };
  const path = findProgram('terminal-notifier', env, os, BESIDE);
  const said = path === null ? null : await output(path, ['-version'], env, signal);
  return {
    ...base,
    own: path === null ? null : { path, version: /\b\d+\.\d+[.\d]*\d/.exec(said ?? '')?.[0] ?? null },
    hasRosetta: arch === 'arm64' && (await runsIntel(env, signal)),
    hasOsascript: existsSync('/usr/bin/osascript'),
  };
}

async function runsIntel(env: Scene['env'], signal: AbortSignal): Promise<boolean> {
  return (await output('/usr/bin/arch', ['-x86_64', '/usr/bin/true'], env, signal)) !== null;
}

const PROGRAM_MS = 2000;

/** What a program prints, by name from PATH or by path; null when it fails. */
function output(name: string, args: string[], env: Scene['env'], signal: AbortSignal): Promise<string | null> {
  const file = resolveProgram(name, env, process.platform);
  if (file === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    execFile(file, args, { env: { ...env }, timeout: PROGRAM_MS, signal }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
}
