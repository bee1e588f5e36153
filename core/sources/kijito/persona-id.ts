import { hash } from 'node:crypto';
import type { PersonaId } from '../../model/index.ts';

/**
 * The id of a persona: `prefix` and the name. A bare name that begins with a prefix `reserved` for other sources gets a hash, so
 * that no hive can pass its persona off as another source's.
 */
export function toPersonaId(address: string, prefix: string, reserved: readonly string[]): PersonaId {
  if (prefix !== '') return prefix + address;
  if (!reserved.some((other) => address.toLowerCase().startsWith(other))) return address;
  return `${address}~${hash('sha256', address).slice(0, 6)}`;
}
