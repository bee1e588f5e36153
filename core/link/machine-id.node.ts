import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { toMachineId } from './machine-id.ts';

const PLACES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/**
 * Returns the id of this machine in the form of `toMachineId`. macOS and Windows have no file for it, so the host name is used
 * there.
 */
export function readMachineId(): string {
  const id = PLACES.map(readTextOrNull).find((text) => text !== null && text.trim() !== '') ?? null;
  return toMachineId(id, hostname());
}

function readTextOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not on this system
  }
}
