import { posix } from 'node:path';

/**
 * Where the tray process of a run directory listens for its owner, and the command line finds it: a socket in that
 * directory, or on Windows a named pipe. Pipes stand in one space of names for all, so the name says whose it is; the case
 * of a directory's name tells nothing there.
 */
export function ownerSocketOf(platform: NodeJS.Platform, run: string): string {
  if (platform !== 'win32') return posix.join(run, 'hivebar.sock');
  return `\\\\.\\pipe\\hivebar-${hashOf(run.toLowerCase())}`;
}

/** FNV-1a with 64 bits, in hex. The name is no secret, and to load `node:crypto` is 6 ms of a quick command's start. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
