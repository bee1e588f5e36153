/** Where the two calls of a daemon go (persona daemon, contract 2). */
export interface UpstreamUrls {
  /** `wss:`, or `ws:` to this machine. */
  readonly stream: string;
  /** `https:`, or `http:` to this machine. */
  readonly pending: string;
}

/**
 * Where an upstream is called, from its base: an http(s) or ws(s) URL, with or without a path. Null: a token may not be
 * sent there, since it is neither encrypted nor on this machine, or it is no such URL at all.
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

/** Of a host as a URL has it, which writes every form of an IPv4 address in one way. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
