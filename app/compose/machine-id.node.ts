import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { machineIdOf } from './machine-id.ts';

const PLACES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/** This machine's, as `machineIdOf` makes it. macOS and Windows keep theirs where no file is: the host name stands there. */
export function ownMachineId(): string {
  const id = PLACES.map(textOf).find((text) => text !== null && text.trim() !== '') ?? null;
  return machineIdOf(id, hostname());
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not on this system
  }
}
