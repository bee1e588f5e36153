/** Query keys of the Kijito contract: none of their values is a secret. */
const PLAIN: ReadonlySet<string> = new Set(['persona', 'mark_read', 'before_id', 'limit', 'wait', 'cursor']);

/** A URL as messages may show it: no user name, no fragment, and the values of unknown query keys hidden. */
export function formatUrl(url: URL): string {
  const query = [...url.searchParams].map(
    ([key, value]) => `${encodeURIComponent(key)}=${PLAIN.has(key) ? encodeURIComponent(value) : '***'}`,
  );
  return `${url.origin}${url.pathname}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}
