/** The query keys of the Kijito contract, whose values are no secrets. */
const PLAIN: ReadonlySet<string> = new Set(['persona', 'mark_read', 'before_id', 'limit', 'wait', 'cursor']);

/** Formats a URL for messages: without user name and fragment, and with the values of unknown query keys hidden. */
export function formatUrl(url: URL): string {
  const query = [...url.searchParams].map(
    ([key, value]) => `${encodeURIComponent(key)}=${PLAIN.has(key) ? encodeURIComponent(value) : '***'}`,
  );
  return `${url.origin}${url.pathname}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}
