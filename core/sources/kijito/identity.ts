/** `[scheme, host, port, path, [[key, value], ... sorted]]`: which inbox a saved cursor belongs to. */
export type InboxIdentity = readonly [
  scheme: string,
  host: string,
  port: number,
  path: string,
  query: readonly (readonly [key: string, value: string])[],
];

/**
 * The canonical identity of an inbox URL, before any DNS (Kijito spec 7.3, contract d). Scheme and host are in lower case and the
 * port is filled in. The path has no slash at its end, and query pairs are sorted by code point.
 * `mark_read`, user name and fragment are left out. The identity survives a JSON round trip.
 */
export function toInboxIdentity(url: URL): InboxIdentity {
  const query = [...url.searchParams].filter(([key]) => key !== 'mark_read').sort(compareByCodePoint);
  return [
    url.protocol.slice(0, -1),
    url.hostname.replace(/^\[(.*)\]$/, '$1'),
    url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    url.pathname.replace(/\/+$/, ''),
    query,
  ];
}

/** UTF-8 bytes sort as code points do; UTF-16 units, which `<` compares, do not. */
function compareByCodePoint(a: readonly [string, string], b: readonly [string, string]): number {
  return Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])) || Buffer.compare(Buffer.from(a[1]), Buffer.from(b[1]));
}

export function formatIdentity(identity: InboxIdentity): string {
  return JSON.stringify(identity);
}

/** `saved` is the value from a state file, of any shape. */
export function isSameIdentity(identity: InboxIdentity, saved: unknown): boolean {
  return JSON.stringify(saved) === formatIdentity(identity);
}
