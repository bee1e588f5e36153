/** The listener that a request came in on. Only the user who owns the owner-only socket can open it. */
export type ListenerKind = { readonly is: 'loopback'; readonly port: number } | { readonly is: 'owner-socket' };

/** A request as it was sent, before anything was joined, decoded or filled in. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Name, value, name, value and so on, as sent. */
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
 * Decides for every request on every route whether this sender may ask at all. This comes before token, route and body. A page of
 * another site can make a browser send requests to loopback: by a name of its own (DNS rebinding), by a simple POST, by a frame
 * or an image. None of these passes. Loopback contract, section 1; field report S12.
 *
 * Names are compared whole and without case, together with our exact port. Nothing is parsed, so no spelling of an address is
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
    return refuse(403, 'bad-target', `the request target ${target} is not a path`, 'send the path only');
  }
  const own = listAllowedHosts(place);
  if (!own.includes(place.is === 'owner-socket' ? name.toLowerCase().replace(/:\d{1,5}$/, '') : name.toLowerCase())) {
    return refuse(
      403,
      'bad-host',
      `Host ${JSON.stringify(name.slice(0, 200))} is not allowed`,
      `use ${own.join(' or ')}`,
    );
  }
  const origins = findHeaderValues(request, 'origin');
  if (origins.some((origin) => origin.toLowerCase() !== `http://${name.toLowerCase()}`) || origins.length > 1) {
    const origin = JSON.stringify(origins.join(', ').slice(0, 200));
    return refuse(
      403,
      'bad-origin',
      `Origin ${origin} is not allowed`,
      'ask from the status page, or without a browser',
    );
  }
  if (!METHODS.includes(request.method)) {
    return refuse(
      405,
      'bad-method',
      `method ${request.method.slice(0, 20)} is not supported`,
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

/** Lists the Host values that are ours, in lower case. The socket has no port. A browser leaves out port 80. */
function listAllowedHosts(place: ListenerKind): string[] {
  if (place.is === 'owner-socket') return ['localhost'];
  const withPort = NAMES.map((name) => `${name}:${place.port}`);
  return place.port === 80 ? [...withPort, ...NAMES] : withPort;
}

/** A page on another port of localhost is the same site but not ours, so `same-site` counts as another site, too. */
function isFromAnotherSite(request: RawRequest): boolean {
  return findHeaderValues(request, 'sec-fetch-site').some((site) => site !== 'same-origin' && site !== 'none');
}

/** Returns whether someone followed a link to the page. A frame, image, script, form or fetch of another site is not a visit. */
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
