/** The event name of a line that was broken off. */
export const TORN = 'torn';
/** When two keys are equal, JSON readers take the last one. */
const END = `, "event": "${TORN}"}\n`;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What may be missing of a number, a word or a member. The first entry that makes valid JSON is used. */
const MISSING = ['', ': 0', '0', 'e', 'ue', 'rue', 'se', 'lse', 'alse', 'l', 'll', 'ull', '"": 0'];

/**
 * The bytes that turn the beginning of a line into a whole line of JSON, newline included. The result is an object whose `event`
 * is `torn`, or, when only the newline is missing, the original line.
 * Null when the fragment is not the beginning of an object, or of no valid JSON.
 */
export function findClosing(fragment: Uint8Array): Uint8Array | null {
  const { text, open, inString } = scanFragment(fragment);
  if (fragment[0] === 0x7b && open.length === 0 && isJson(text)) return Buffer.from('\n');
  if (open[0] !== '}') return null;
  const missing = inString ? findStringEnds(text).flatMap((end) => [end, `${end}: 0`]) : MISSING;
  const rest = open.slice(1).reverse().join('');
  for (const candidate of missing) {
    const closing = `${candidate}${rest}${END}`;
    if (isJson(text + closing)) return Buffer.concat([findRestOfCharacter(fragment), Buffer.from(closing)]);
  }
  return null;
}

interface FragmentScan {
  /** The fragment once its last character is complete. */
  readonly text: string;
  /** The closing signs of each open object and array, the outermost first. */
  readonly open: readonly string[];
  readonly inString: boolean;
}

function scanFragment(fragment: Uint8Array): FragmentScan {
  const open: string[] = [];
  let inString = false;
  for (let at = 0; at < fragment.length; at += 1) {
    const byte = fragment[at];
    if (inString && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) inString = !inString;
    else if (!inString && byte === 0x7b) open.push('}');
    else if (!inString && byte === 0x5b) open.push(']');
    else if (!inString && (byte === 0x7d || byte === 0x5d)) open.pop();
  }
  return { text: Buffer.concat([fragment, findRestOfCharacter(fragment)]).toString('utf8'), open, inString };
}

/** A string may break off among the digits of an escape, or right after a backslash. */
function findStringEnds(text: string): readonly string[] {
  const digits = /\\u([0-9a-fA-F]{0,3})$/.exec(text)?.[1];
  return ['"', '\\"', ...(digits === undefined ? [] : [`${'0'.repeat(4 - digits.length)}"`])];
}

/** The bytes that are missing of the last UTF-8 character; any valid ones will do. */
function findRestOfCharacter(fragment: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, fragment.length); back += 1) {
    const byte = fragment[fragment.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    const rest = new Uint8Array(Math.max(0, length - back)).fill(0x80);
    // Directly after these two bytes, 0x80 would be an overlong spelling of a shorter character.
    if (back === 1 && (byte === 0xe0 || byte === 0xf0)) rest[0] = byte === 0xe0 ? 0xa0 : 0x90;
    return rest;
  }
  return new Uint8Array(0);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // the next candidate may be valid
  }
}
