import { posix } from 'node:path';

/**
 * Where the tray process of a run directory listens for its owner, and the command line finds it: a socket in that
 * directory, or where its path would be too long for one, in a directory of this user in /tmp; on Windows a named pipe. Pipes stand in one space of names for all, so the name says whose it is; the case
 * of a directory's name tells nothing there.
 */
export function resolveOwnerSocketPath(platform: NodeJS.Platform, run: string, uid: number | null): string {
  if (platform !== 'win32') {
    const path = posix.join(run, 'hivebar.sock');
    if (Buffer.byteLength(path) <= getMaxSocketPathBytes(platform) || uid === null) return path;
    // Not by TMPDIR: tray process and command line must agree whatever surrounds them.
    return `/tmp/hivebar-${uid}/${hashText(run)}.sock`;
  }
  return `\\\\.\\pipe\\hivebar-${hashText(run.toLowerCase())}`;
}

/** The longest path a socket may have, without its final NUL: Linux has 108 bytes, macOS and the BSDs 104. */
export function getMaxSocketPathBytes(platform: NodeJS.Platform): number {
  return platform === 'linux' ? 107 : 103;
}

/** FNV-1a with 64 bits, in hex. The name is no secret, and to load `node:crypto` is 6 ms of a quick command's start. */
function hashText(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
