import type { HelperProgram } from '../helper-programs.node.ts';

/** The facts that decide whether the tray helper of systray2 can run on a machine. */
interface HelperMachine {
  readonly platform: string;
  readonly arch: string;
  /** Linux: whether the loader that the helper needs exists. Systems with musl lack it. */
  readonly hasGlibcLoader: boolean;
  /** macOS on Apple silicon: whether programs for Intel run. */
  readonly hasRosetta: boolean;
}

type HelperBinary =
  | { readonly is: 'file'; readonly name: HelperProgram }
  | { readonly is: 'none'; readonly why: string };

/**
 * Chooses the helper. All three helpers are x86-64. On another processor the system would take one for a shell script, so this
 * must be asked first.
 */
export function chooseHelperBinary({ platform, arch, hasGlibcLoader, hasRosetta }: HelperMachine): HelperBinary {
  const createNone = (why: string): HelperBinary => ({
    is: 'none',
    why: `no tray helper for ${platform} ${arch}${why}`,
  });
  switch (platform) {
    case 'linux':
      if (arch !== 'x64') return createNone('');
      return hasGlibcLoader ? { is: 'file', name: 'tray_linux_release' } : createNone(' without glibc');
    case 'darwin':
      if (arch === 'x64' || hasRosetta) return { is: 'file', name: 'tray_darwin_release' };
      return createNone(' without Rosetta');
    case 'win32': // Windows on ARM runs x86-64 programs itself
      return arch === 'x64' || arch === 'arm64' ? { is: 'file', name: 'tray_windows_release.exe' } : createNone('');
    default:
      return createNone('');
  }
}

const WINDOW_MS = 600_000;
const DEATHS_MOST = 5;
const FIRST_MS = 1000;
const MOST_MS = 60_000;

type HelperRestart = { readonly is: 'again'; readonly inMs: number } | { readonly is: 'stop' };

/**
 * Decides whether and when to start a helper again. `deaths` are the times of its deaths, including the last one (monotonic ms).
 */
export function decideRestart(deaths: readonly number[]): HelperRestart {
  const now = deaths.at(-1) ?? 0;
  const recent = deaths.filter((at) => now - at < WINDOW_MS).length;
  if (recent >= DEATHS_MOST) return { is: 'stop' };
  return { is: 'again', inMs: Math.min(MOST_MS, FIRST_MS * 2 ** (recent - 1)) };
}
