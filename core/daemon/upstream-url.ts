/** The URLs of the two calls of a daemon (persona daemon, contract 2). */
export interface UpstreamUrls {
  /** `wss:`, or `ws:` to this machine. */
  readonly stream: string;
  /** `https:`, or `http:` to this machine. */
  readonly pending: string;
}

/**
 * Computes the URLs of an upstream from its base: an http(s) or ws(s) URL, with or without a path. Null: it is not such a URL, or
 * a token must not be sent there, because the connection is neither encrypted nor on this machine.
 */
export function parseUpstreamUrls(base: string): UpstreamUrls | null {
  const url = URL.parse(base);
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return null;
  const scheme = /^(?:http|ws)(s?):$/.exec(url.protocol);
  if (scheme === null) return null;
  const [, s = ''] = scheme;
  if (s === '' && !isLoopback(url.hostname)) return null;
  const rest = `${url.host}${url.pathname.replace(/\/+$/, '')}/v1`;
  return { stream: `ws${s}://${rest}/session/stream`, pending: `http${s}://${rest}/signals/pending` };
}

/** Expects a host as a URL gives it, which writes every form of an IPv4 address in one way. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
