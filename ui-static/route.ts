/** What the address names after its `#`, a part that no browser sends anywhere. */
export type Route =
  | { readonly is: 'overview' }
  /** `message`: the one to open in its list; null for none. */
  | { readonly is: 'persona'; readonly fragment: string; readonly message: number | null }
  | { readonly is: 'feed' | 'decisions' | 'settings' }
  | { readonly is: 'search'; readonly words: string };

/** Parts of the overview that a `#` leads to as well. */
const PARTS: ReadonlySet<string> = new Set(['', 'personas']);
const NAMES = ['feed', 'decisions', 'settings'] as const;

/**
 * Parses `#persona=ID`, `#persona=ID&message=N`, or `#ID` as in older links, `#feed`, `#decisions`, `#settings` and `#search=WORDS`. The id stays encoded, to be
 * compared with what `toFragment` returns.
 */
export function parseRoute(hash: string): Route {
  const raw = hash.replace(/^#/, '');
  if (PARTS.has(raw)) return { is: 'overview' };
  const is = NAMES.find((name) => name === raw);
  if (is !== undefined) return { is };
  const fields = parseFields(raw);
  const named = fields.get('persona');
  const message = Number(fields.get('message')) || null;
  if (named !== undefined) return { is: 'persona', fragment: normalizeId(named), message };
  const words = fields.get('search');
  if (words !== undefined) return { is: 'search', words: decode(words) };
  return fields.has('once') ? { is: 'overview' } : { is: 'persona', fragment: normalizeId(raw), message: null };
}

/** Formats the `#` of a search. */
export function formatSearch(words: string): string {
  return `#search=${encodeURIComponent(words.toWellFormed())}`;
}

/** Returns the code of a one-time link, and the rest of the `#` without it. Null when it is not such a link. */
export function parseOnceLink(hash: string): { readonly code: string; readonly rest: string } | null {
  const fields = parseFields(hash.replace(/^#/, ''));
  const code = fields.get('once');
  if (code === undefined) return null;
  fields.delete('once');
  return { code, rest: [...fields].map(([key, value]) => `${key}=${value}`).join('&') };
}

function parseFields(raw: string): Map<string, string> {
  return new Map(
    raw.split('&').flatMap((field) => {
      const at = field.indexOf('=');
      return at > 0 ? [[field.slice(0, at), field.slice(at + 1)] as const] : [];
    }),
  );
}

/** Gives an id one spelling, however the link was written. */
function normalizeId(encoded: string): string {
  return encodeURIComponent(decode(encoded));
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // a stray % in a link typed by hand: used as it is
  }
}
