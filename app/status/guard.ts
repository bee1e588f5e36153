/** Which of our listeners a request came in on. Only the user who owns it can open the owner-only socket. */
export type ListenerKind = { readonly is: 'loopback'; readonly port: number } | { readonly is: 'owner-socket' };

/** A request as it came, before anything was joined, decoded or defaulted. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Name, value, name, value ... as sent. */
  readonly rawHeaders: readonly string[];
}

export type GuardVerdict =
  | { readonly is: 'pass' }
  | {
      readonly is: 'refuse';
      readonly status: 403 | 405 | 415;
      readonly code: string;
      readonly message: string;
      readonly next: string;
    };

const PASS: GuardVerdict = { is: 'pass' };
const METHODS = ['GET', 'HEAD', 'POST'];
const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The first question of every request on every route, before token, route and body: may this sender ask at all? A page
 * of another site can make a browser send requests to loopback, by a name of its own (DNS rebinding), by a simple POST,
 * by a frame or an image; none of these passes. Loopback contract, section 1; field report S12.
 *
 * Names are compared whole and case-blind with our exact port; nothing is parsed, so no spelling of an address is
 * "almost" ours. The one thing another site may do is to link to the page.
 */
export function guard(request: RawRequest, place: ListenerKind): GuardVerdict {
  const host = findHeaderValues(request, 'host');
  const [name] = host;
  if (name === undefined || host.length > 1) {
    return refuse(403, 'bad-host', `the request has ${host.length} Host headers`, 'send exactly one Host header');
  }
  if (!request.target.startsWith('/')) {
    const target = JSON.stringify(request.target.slice(0, 200));
    return refuse(403, 'bad-target', `the request target ${target} is no path`, 'send the path only');
  }
  const own = listAllowedHosts(place);
  if (!own.includes(place.is === 'owner-socket' ? name.toLowerCase().replace(/:\d{1,5}$/, '') : name.toLowerCase())) {
    return refuse(403, 'bad-host', `Host ${JSON.stringify(name.slice(0, 200))} is not ours`, `use ${own.join(' or ')}`);
  }
  const origins = findHeaderValues(request, 'origin');
  if (origins.some((origin) => origin.toLowerCase() !== `http://${name.toLowerCase()}`) || origins.length > 1) {
    const origin = JSON.stringify(origins.join(', ').slice(0, 200));
    return refuse(403, 'bad-origin', `Origin ${origin} is not ours`, 'ask from the status page, or without a browser');
  }
  if (!METHODS.includes(request.method)) {
    return refuse(
      405,
      'bad-method',
      `method ${request.method.slice(0, 20)} is not served`,
      `use ${METHODS.join(', ')}`,
    );
  }
  if (isFromAnotherSite(request) && !isVisit(request)) {
    return refuse(403, 'cross-site', 'the request was made by another site', 'ask from the status page itself');
  }
  if (request.method === 'POST' && !isJson(findHeaderValues(request, 'content-type'))) {
    return refuse(415, 'not-json', 'the body is not declared as JSON', 'send Content-Type: application/json');
  }
  return PASS;
}

/** The Host values that are ours, lower case; the socket has no port. Port 80 is the one a browser leaves out. */
function listAllowedHosts(place: ListenerKind): string[] {
  if (place.is === 'owner-socket') return ['localhost'];
  const withPort = NAMES.map((name) => `${name}:${place.port}`);
  return place.port === 80 ? [...withPort, ...NAMES] : withPort;
}

/** A page on another port of localhost is the same site but not ours, so `same-site` is another site too. */
function isFromAnotherSite(request: RawRequest): boolean {
  return findHeaderValues(request, 'sec-fetch-site').some((site) => site !== 'same-origin' && site !== 'none');
}

/** Someone followed a link to the page; a frame, image, script, form or fetch of another site is no visit. */
function isVisit(request: RawRequest): boolean {
  const is = (header: string, value: string): boolean => findHeaderValues(request, header).join() === value;
  const page = request.method === 'GET' && /^\/(\?|$)/.test(request.target);
  return page && is('sec-fetch-mode', 'navigate') && is('sec-fetch-dest', 'document');
}

function isJson(types: readonly string[]): boolean {
  return types.length === 1 && /^application\/json\s*(;|$)/i.test(types[0] ?? '');
}

function findHeaderValues(request: RawRequest, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    if (request.rawHeaders[i]?.toLowerCase() === name) values.push(request.rawHeaders[i + 1] ?? '');
  }
  return values;
}

function refuse(status: 403 | 405 | 415, code: string, message: string, next: string): GuardVerdict {
  return { is: 'refuse', status, code, message, next };
}
