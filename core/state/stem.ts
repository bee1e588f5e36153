import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import type { PersonaId } from '../model/index.ts';

const NAME_BYTES = 180; // leaves room for a base name, an extension, `.lock` and an archive number in 255 bytes

/**
 * The state file of each persona: `BASE.json` becomes `BASE.PERSONA.json`, with `.json` when the base has no extension. A base
 * that already ends in `.PERSONA` or is `PERSONA` is used as it is (Kijito contract d).
 * Two personas never get the same file, see `toDistinctPaths`. `pathsInUse` stay as they are when a persona joins later.
 */
export function computeStatePaths(
  base: string,
  personas: Iterable<string>,
  pathsInUse: PersonaPaths = NO_PATHS,
  spell: Spelling = AS_IS,
): Map<string, string> {
  return toDistinctPaths(personas, pathsInUse, (name) => toStatePath(base, spell(name), spell));
}

/**
 * The event file of each persona: the template of `--events-file-template` with every `{persona}` replaced (Kijito spec 14.3).
 */
export function computeEventsPaths(
  template: string,
  personas: Iterable<string>,
  pathsInUse: PersonaPaths = NO_PATHS,
  spell: Spelling = AS_IS,
): Map<string, string> {
  return toDistinctPaths(personas, pathsInUse, (name) => template.replaceAll('{persona}', () => spell(name)));
}

type PersonaPaths = ReadonlyMap<string, string>;
const NO_PATHS: PersonaPaths = new Map();

/** How a name is written in a path: unchanged, or folded as the later monitor does (Kijito contract b). */
type Spelling = (name: string) => string;
const AS_IS: Spelling = (name) => name;

function toStatePath(base: string, name: string, spell: Spelling): string {
  const ext = extname(base);
  const root = ext === '' ? base : base.slice(0, -ext.length);
  for (const candidate of [base, root].map(spell))
    if (basename(candidate) === name || candidate.endsWith(`.${name}`)) return base;
  return `${root}.${name}${ext || '.json'}`;
}

/**
 * Makes paths distinct. When the paths of several personas are equal, also on a disk that ignores case or Unicode composition,
 * they get a short hash behind the name. The exceptions are the persona spelled like the folded name itself, and one whose path
 * is in use (trap 41, D21). So the result does not depend on the order in which a directory lists them.
 */
function toDistinctPaths(
  personas: Iterable<string>,
  pathsInUse: PersonaPaths,
  toPath: (name: string) => string,
): Map<string, string> {
  const names = [...new Set(personas)];
  const usedPaths = new Set([...pathsInUse.values()].map(foldPath));
  const claims = new Map<string, string[]>();
  for (const persona of names) {
    if (pathsInUse.has(persona)) continue;
    const key = foldPath(toPath(toSafeName(persona)));
    claims.set(key, [...(claims.get(key) ?? []), persona]);
  }
  const paths = new Map<string, string>();
  for (const persona of names) {
    const name = toSafeName(persona);
    const plain = toPath(name);
    const key = foldPath(plain);
    const rivals = (claims.get(key) ?? []).toSorted();
    const alone = rivals.length === 1 || persona === rivals.find((r) => r === toSafeName(r) && r === foldPath(r));
    const hashed = toPath(`${name}~${computeShortHash(persona)}`);
    paths.set(persona, pathsInUse.get(persona) ?? (alone && !usedPaths.has(key) ? plain : hashed));
  }
  return paths;
}

/** Characters other than Unicode letters, digits, `.`, `_` and `-` become `_`. */
function toSafeName(persona: string): string {
  const name = persona.replace(/[^\p{L}\p{N}._-]/gu, '_');
  if (/^\.*$/.test(name)) return `${name}~${computeShortHash(persona)}`; // an empty name, or a way out of the folder
  if (Buffer.byteLength(name) <= NAME_BYTES) return name;
  let cut = '';
  for (const char of name) {
    if (Buffer.byteLength(cut + char) > NAME_BYTES) break;
    cut += char;
  }
  return `${cut}~${computeShortHash(persona)}`;
}

/**
 * A path as a disk that ignores case and Unicode form sees it, or folded further: too much folding only costs a hash in a name.
 */
function foldPath(path: string): string {
  return path.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD');
}

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
function computeShortHash(name: string): string {
  // Lone surrogates all become the same bytes in UTF-8. Hashed as UTF-16, such names stay different.
  const bytes = Buffer.from(name, name.isWellFormed() ? 'utf8' : 'utf16le');
  return createHash('sha256').update(bytes).digest('hex').slice(0, 6);
}
