import { Fault, type Scope } from '../model/index.ts';

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
type Host =
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
    throw new Fault('bad-url', `the URL of ${url.host} contains a user name or password`, scope);
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
    throw new Fault('usage', `${url.host} is this machine, which no proxy can reach`, scope);
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

/**
 * The kind of an IP address. `invalid`: not an address, or one with a zone (`fe80::1%eth0`); no policy allows it.
 * Ranges follow the IANA special-purpose registries; site-local `fec0::/10` counts as private.
 */
export type AddressClass =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared'
  | 'benchmarking'
  | 'documentation'
  | 'multicast'
  | 'unspecified'
  | 'reserved'
  | 'invalid';

type AddressRange = readonly [prefix: readonly number[], bits: number, is: AddressClass];

const IPV4: readonly AddressRange[] = [
  [[0, 0, 0, 0], 32, 'unspecified'],
  [[0], 8, 'reserved'],
  [[10], 8, 'private'],
  [[100, 64], 10, 'shared'],
  [[127], 8, 'loopback'],
  [[169, 254], 16, 'link-local'],
  [[172, 16], 12, 'private'],
  [[192, 0, 0], 24, 'reserved'],
  [[192, 0, 2], 24, 'documentation'],
  [[192, 88, 99], 24, 'reserved'], // the anycast relay of 6to4
  [[192, 168], 16, 'private'],
  [[198, 18], 15, 'benchmarking'],
  [[198, 51, 100], 24, 'documentation'],
  [[203, 0, 113], 24, 'documentation'],
  [[224], 4, 'multicast'],
  [[240], 4, 'reserved'],
];

const IPV6: readonly AddressRange[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 128, 'unspecified'],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128, 'loopback'],
  [[0x20, 0x01, 0x00, 0x02, 0x00, 0x00], 48, 'benchmarking'],
  [[0x20, 0x01, 0x00], 23, 'reserved'],
  [[0x20, 0x01, 0x0d, 0xb8], 32, 'documentation'],
  [[0x3f, 0xff], 20, 'documentation'],
  [[0x20], 3, 'public'],
  [[0xfc], 7, 'private'],
  [[0xfe, 0x80], 10, 'link-local'],
  [[0xfe, 0xc0], 10, 'private'],
  [[0xff], 8, 'multicast'],
];

/**
 * Where an IPv6 address contains the IPv4 address it leads to: the offset of its four bytes, and whether they are
 * inverted. The longest prefix comes first.
 */
const CARRIERS: readonly {
  readonly prefix: readonly number[];
  readonly bits: number;
  readonly at: readonly CarriedAddress[];
}[] = [
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], bits: 96, at: [{ offset: 12 }] }, // mapped
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], bits: 96, at: [{ offset: 12 }] }, // translated, RFC 2765
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], bits: 96, at: [{ offset: 12 }] }, // NAT64
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 1, 0, 0, 0, 0, 0, 0], bits: 96, at: [{ offset: 12 }] }, // NAT64, local use
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], bits: 96, at: [{ offset: 12 }] }, // compatible; :: and ::1 are handled before
  { prefix: [0x20, 0x01, 0, 0], bits: 32, at: [{ offset: 4 }, { offset: 12, inverted: true }] }, // Teredo: server, then client
  { prefix: [0x20, 0x02], bits: 16, at: [{ offset: 2 }] }, // 6to4
];

interface CarriedAddress {
  readonly offset: number;
  readonly inverted?: true;
}

/**
 * Returns the class of an IP literal without brackets. An address that contains an IPv4 address has the class of that
 * one, so that no spelling of 127.0.0.1 passes as public (Kijito contract f, loopback-and-files 2). It fails closed:
 * unparsable text is `invalid`, and space that no registry assigns is `reserved`.
 */
export function classifyAddress(address: string): AddressClass {
  const bytes = parseAddressBytes(address);
  if (bytes === null) return 'invalid';
  return isIPv4Text(address) ? findClass(IPV4, bytes.subarray(12)) : classifyIPv6(bytes);
}

function classifyIPv6(bytes: Uint8Array): AddressClass {
  const own = IPV6.slice(0, 2).find(([prefix, bits]) => isPrefixedWith(bytes, prefix, bits));
  if (own !== undefined) return own[2];
  const carrier = CARRIERS.find(({ prefix, bits }) => isPrefixedWith(bytes, prefix, bits));
  if (carrier === undefined) return findClass(IPV6, bytes);
  const classes = carrier.at.map(({ offset, inverted }) =>
    findClass(
      IPV4,
      bytes.subarray(offset, offset + 4).map((byte) => (inverted ? byte ^ 0xff : byte)),
    ),
  );
  return classes.find((is) => is !== 'public') ?? 'public';
}

/** Finds the first range that holds the bytes. Outside every range, IPv4 is public and IPv6 is not. */
function findClass(ranges: readonly AddressRange[], bytes: Uint8Array): AddressClass {
  const range = ranges.find(([prefix, bits]) => isPrefixedWith(bytes, prefix, bits));
  return range?.[2] ?? (ranges === IPV4 ? 'public' : 'reserved');
}

function isPrefixedWith(bytes: Uint8Array, prefix: readonly number[], bits: number): boolean {
  for (let bit = 0; bit < bits; bit += 8) {
    const at = bit / 8;
    const mask = bits - bit >= 8 ? 0xff : (0xff << (8 - (bits - bit))) & 0xff;
    if (((bytes[at] ?? 0) & mask) !== ((prefix[at] ?? 0) & mask)) return false;
  }
  return true;
}

function isIPv4Text(address: string): boolean {
  return !address.includes(':');
}

/**
 * Parses an IP literal into 16 bytes, IPv4 as `::ffff:a.b.c.d`; null when it is none. It is strict: four plain decimal
 * numbers, or the text forms of RFC 4291. The URL parser resolves shorthands such as `127.1` and `0x7f000001`.
 */
export function parseAddressBytes(address: string): Uint8Array | null {
  if (isIPv4Text(address)) {
    const four = parseIPv4Bytes(address);
    return four === null ? null : Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...four);
  }
  const sides = address.split('::');
  if (sides.length > 2) return null;
  const head = parseGroups(sides[0] ?? '', sides.length === 1);
  const tail = sides.length === 2 ? parseGroups(sides[1] ?? '', true) : [];
  if (head === null || tail === null) return null;
  const missing = 16 - head.length - tail.length;
  if (sides.length === 2 ? missing < 2 : missing !== 0) return null;
  return Uint8Array.of(...head, ...new Array<number>(missing).fill(0), ...tail);
}

/** Parses groups such as `7f00:1` into bytes. The last group may be a dotted IPv4 address if it ends the whole literal. */
function parseGroups(text: string, isEnd: boolean): number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      const four = isEnd && index === groups.length - 1 ? parseIPv4Bytes(group) : null;
      if (four === null) return null;
      bytes.push(...four);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return null;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

function parseIPv4Bytes(text: string): number[] | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}
