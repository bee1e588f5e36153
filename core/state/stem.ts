import { createHash } from 'node:crypto';
import type { PersonaId } from '../model/index.ts';

const PLAIN = /^[a-z0-9._-]{1,64}$/;
// Windows opens these as devices, with any extension and in any directory.
const DEVICE = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)/i;
const SAFE_LENGTH = 56; // with a leading `_`, `~` and six digits it is as long as the longest plain stem

/**
 * The name of a persona's files: the id itself when every file system accepts it as it is, otherwise a readable form of it, `~`
 * and six hex digits of its sha256.
 * A plain id has no `~`, and a stem has no capitals and no non-ASCII. So two ids never share a file, also on a disk that ignores
 * case or normalises Unicode.
 */
export function toStem(id: PersonaId): string {
  if (PLAIN.test(id) && !isDevice(id) && !id.endsWith('.')) return id;
  const safe =
    id
      .toLowerCase()
      .replace(/[^a-z0-9._-]/gu, '_')
      .slice(0, SAFE_LENGTH) || '_';
  return `${isDevice(safe) ? '_' : ''}${safe}~${computeShortHash(id)}`;
}

/** True for a name Windows would open as a device, such as `con` or `nul.txt`. */
export function isDevice(name: string): boolean {
  return DEVICE.test(name);
}

/** Six hex digits of the sha256 of a name. */
export function computeShortHash(name: string): string {
  // Lone surrogates all become the same bytes in UTF-8. Hashed as UTF-16, such names stay different.
  const bytes = Buffer.from(name, name.isWellFormed() ? 'utf8' : 'utf16le');
  return createHash('sha256').update(bytes).digest('hex').slice(0, 6);
}
