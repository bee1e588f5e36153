import { posix } from 'node:path';

/**
 * Returns the path of the socket on which the tray process of a run directory listens for its owner, and where the command line
 * finds it. The socket is in that directory. If that path is too long for a socket, it is in a directory of this user in /tmp. On
 * Windows it is a named pipe. Pipe names are global there, so the name says whose pipe it is, and the case of the directory's
 * name is ignored.
 */
export function resolveOwnerSocketPath(platform: NodeJS.Platform, run: string, uid: number | null): string {
  if (platform !== 'win32') {
    const path = posix.join(run, 'hivebar.sock');
    if (Buffer.byteLength(path) <= getMaxSocketPathBytes(platform) || uid === null) return path;
    // TMPDIR is not used: tray process and command line must agree in any environment.
    return `/tmp/hivebar-${uid}/${hashText(run)}.sock`;
  }
  return `\\\\.\\pipe\\hivebar-${hashText(run.toLowerCase())}`;
}

/**
 * The longest path a socket may have, in bytes without its final NUL. Linux has room for 108 bytes, macOS and the BSDs for 104.
 */
export function getMaxSocketPathBytes(platform: NodeJS.Platform): number {
  return platform === 'linux' ? 107 : 103;
}

/** FNV-1a with 64 bits, in hex. The name is no secret, and loading `node:crypto` takes 6 ms of a quick command's start. */
function hashText(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
