import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { toMachineId } from './machine-id.ts';

const PLACES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/** This machine's, as `toMachineId` makes it. macOS and Windows keep theirs where no file is: the host name stands there. */
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
