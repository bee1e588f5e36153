/** What the address asks for behind its `#`, which no browser sends anywhere. */
export type Route = { readonly is: 'overview' } | { readonly is: 'persona'; readonly fragment: string };

/** Places of the overview that are reached by a `#` too. */
const PLACES: ReadonlySet<string> = new Set(['', 'personas']);

/** `#persona=ID`, or `#ID` as older links have it. The id stays encoded: what is compared is what `toFragment` gives. */
export function parseRoute(hash: string): Route {
  const raw = hash.replace(/^#/, '');
  if (PLACES.has(raw)) return { is: 'overview' };
  const named = parseFields(raw).get('persona');
  if (named !== undefined) return { is: 'persona', fragment: normalizeId(named) };
  return parseFields(raw).has('once') ? { is: 'overview' } : { is: 'persona', fragment: normalizeId(raw) };
}

/** The code of a one-time link, and the `#` without it. Null: this is none. */
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

/** One spelling of an id, however the link was written. */
function normalizeId(encoded: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(encoded));
  } catch {
    return encodeURIComponent(encoded); // a stray % in a link typed by hand: taken as it stands
  }
}
