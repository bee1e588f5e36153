/** What the address names after its `#`, a part that no browser sends anywhere. */
export type Route = { readonly is: 'overview' } | { readonly is: 'persona'; readonly fragment: string };

/** Places of the overview that a `#` leads to as well. */
const PLACES: ReadonlySet<string> = new Set(['', 'personas']);

/** Parses `#persona=ID`, or `#ID` as in older links. The id stays encoded, to be compared with what `toFragment` returns. */
export function parseRoute(hash: string): Route {
  const raw = hash.replace(/^#/, '');
  if (PLACES.has(raw)) return { is: 'overview' };
  const named = parseFields(raw).get('persona');
  if (named !== undefined) return { is: 'persona', fragment: normalizeId(named) };
  return parseFields(raw).has('once') ? { is: 'overview' } : { is: 'persona', fragment: normalizeId(raw) };
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
  try {
    return encodeURIComponent(decodeURIComponent(encoded));
  } catch {
    return encodeURIComponent(encoded); // a stray % in a link typed by hand: used as it is
  }
}
