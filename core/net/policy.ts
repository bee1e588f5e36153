import { Fault, type Scope } from '../model/index.ts';
import { type AddressClass, classifyAddress, parseAddressBytes } from './address.ts';

/**
 * Where a target may be.
 * - `only`: a `--url`. Public is always allowed; loopback and private each need their own flag, and neither allows the
 *   other. Link-local (such as 169.254.169.254, the metadata service of clouds), shared and reserved space have no flag.
 *   The reference monitor differs: its `--allow-private` allows loopback and link-local too (Kijito contract f, D14).
 * - `as-written`: a `--hive`. Allowed is the class that the user wrote; for a name, the class that first answered, for
 *   the life of the process. Neither DNS nor a redirect moves a hive to another class.
 */
export type AddressPolicy =
  | { readonly is: 'only'; readonly classes: ReadonlySet<AddressClass> }
  | { readonly is: 'as-written' };

export const AS_WRITTEN: AddressPolicy = { is: 'as-written' };

export function createPublicPolicy(allowed: { readonly loopback: boolean; readonly private: boolean }): AddressPolicy {
  const classes = new Set<AddressClass>(['public']);
  if (allowed.loopback) classes.add('loopback');
  if (allowed.private) classes.add('private');
  return { is: 'only', classes };
}

/** Classes that are never a target, whatever was written, because no server has such an address. */
const NEVER: ReadonlySet<AddressClass> = new Set(['multicast', 'unspecified', 'reserved', 'documentation', 'invalid']);

/** What a connection may lead to now. `first-seen`: no address of the name has answered yet; one class at a time. */
export type Admission =
  | { readonly is: 'classes'; readonly of: ReadonlySet<AddressClass> }
  | { readonly is: 'first-seen' };

/** The kind of host. `local` is localhost, which needs no resolver: both families are tried (RFC 6761). */
export type Host =
  | { readonly is: 'literal'; readonly address: string }
  | { readonly is: 'local' }
  | { readonly is: 'name'; readonly name: string };

export const LOCAL_ADDRESSES: readonly string[] = ['127.0.0.1', '::1'];

/** A checked URL: http or https, without a user name, and without a literal address of a class that the policy refuses. */
export interface HttpTarget {
  readonly url: URL;
  readonly host: Host;
  readonly admission: Admission;
}

/**
 * Checks what the user wrote, without a look-up.
 * @throws Fault `bad-url` when it is no http(s) URL or has a user name or password; `blocked` for a refused literal
 */
export function parseTarget(text: string, policy: AddressPolicy, scope: Scope): HttpTarget {
  const url = URL.parse(text);
  if (url === null) throw new Fault('bad-url', `${formatQuoted(text)} is not a URL`, scope);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Fault('bad-url', `${formatQuoted(`${url.protocol}...`)} is neither http nor https`, scope);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Fault('bad-url', `a user name or password stands in the URL of ${url.host}`, scope);
  }
  const host = toHost(url);
  const target: HttpTarget = { url, host, admission: toAdmission(policy, host) };
  const known = host.is === 'literal' ? [host.address] : host.is === 'local' ? LOCAL_ADDRESSES : [];
  if (known.length > 0) admit(target.admission, url.hostname, known, scope);
  return target;
}

/**
 * Checks the address of a proxy, without a look-up. The proxy is limited to its class as written, like a hive. The
 * proxy then resolves the name of the hive.
 * @throws Fault `bad-url` or `blocked` as for a hive; `usage` when it has a path or the hive is on this machine,
 * because that address would mean the proxy's own machine
 */
export function parseProxy(text: string, hive: HttpTarget, scope: Scope): HttpTarget {
  const proxy = parseTarget(text, AS_WRITTEN, scope);
  if (proxy.url.pathname !== '/' || proxy.url.search !== '' || proxy.url.hash !== '') {
    throw new Fault('usage', `a proxy is scheme, host and port only: ${formatQuoted(text)}`, scope);
  }
  const { host, url } = hive;
  if (host.is === 'local' || (host.is === 'literal' && classifyAddress(host.address) === 'loopback')) {
    throw new Fault('usage', `${url.host} is this machine, where no proxy leads to`, scope);
  }
  return proxy;
}

export function toHost(url: URL): Host {
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (parseAddressBytes(bare) !== null) return { is: 'literal', address: bare };
  if (/^(.*\.)?localhost\.?$/.test(bare)) return { is: 'local' };
  return { is: 'name', name: bare };
}

function toAdmission(policy: AddressPolicy, host: Host): Admission {
  if (policy.is === 'only') return { is: 'classes', of: policy.classes };
  switch (host.is) {
    case 'literal':
      return admitOnly(classifyAddress(host.address));
    case 'local':
      return admitOnly('loopback');
    case 'name':
      return { is: 'first-seen' };
  }
}

function admitOnly(is: AddressClass): Admission & { readonly is: 'classes' } {
  return { is: 'classes', of: new Set(NEVER.has(is) ? [] : [is]) };
}

/**
 * Checks every address of a host. One refused address refuses them all, so that a name cannot hide an inner address
 * behind a public one. Returns the admission for the next resolution.
 * @throws Fault `blocked` naming host, address and class; `dns` when there is no address at all
 */
export function admit(admission: Admission, host: string, addresses: readonly string[], scope: Scope): Admission {
  const [first] = addresses;
  if (first === undefined) throw new Fault('dns', `${host} has no address`, scope);
  const held = admission.is === 'classes' ? admission : admitOnly(classifyAddress(first));
  for (const address of addresses) {
    const is = classifyAddress(address);
    if (NEVER.has(is) || !held.of.has(is)) throw new Fault('blocked', formatRefusal(host, address, is, held.of), scope);
  }
  return held;
}

function formatRefusal(host: string, address: string, is: AddressClass, allowed: ReadonlySet<AddressClass>): string {
  const where = host === address || host === `[${address}]` ? host : `${host} (${address})`;
  const only = [...allowed].join(', ');
  return `${where} is a ${is} address${only === '' ? '' : `, and only ${only} is allowed here`}`;
}

function formatQuoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}...` : text);
}
