import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { Fault } from '../../../core/model/index.ts';
import { AS_WRITTEN, natsTarget, proxyOf, targetOf } from '../../../core/net/index.ts';
import { hiveAt } from '../../../core/sources/index.ts';
import { findBadUtf8 } from '../../../core/state/index.ts';
import { checkOpener } from '../../open/index.ts';
import { lineAndColumn, type Places, placesIn } from './json-places.ts';
import { type FurtherHive, RESERVED_NAMES, SETTINGS, type Settings } from './settings.ts';

/** One thing that is wrong in a settings file. */
export interface Problem {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type Checked =
  | { readonly is: 'good'; readonly given: Partial<Settings> }
  | { readonly is: 'bad'; readonly problems: readonly [Problem, ...Problem[]] };

const fits = new Ajv2020({ strict: true, allErrors: true, discriminator: true }).compile<Partial<Settings>>({
  ...SETTINGS,
  required: [], // a file says only what is not the default
});

/** The same of a file as it is on the disk. What is not UTF-8 is refused: written back, it would be another text. */
export function checkSettingsBytes(bytes: Uint8Array): Checked {
  const bad = findBadUtf8(bytes);
  if (bad === null) return checkSettings(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const { line, column, byte } = bad;
  const message = `the byte 0x${byte.toString(16).padStart(2, '0')} is not UTF-8: save the file as UTF-8`;
  return { is: 'bad', problems: [{ line, column, message }] };
}

/** Everything that is wrong with the text of a settings file, in the order of the file. */
export function checkSettings(text: string): Checked {
  const places = placesIn(text);
  if (places.is === 'broken') return bad(text, [{ offset: places.offset, message: `no JSON: ${places.message}` }]);
  const found = [...repeats(places), ...wrongIn(places)];
  const [first, ...rest] = found.toSorted((a, b) => a.offset - b.offset);
  return first === undefined ? { is: 'good', given: places.value as Partial<Settings> } : bad(text, [first, ...rest]);
}

const SCOPE = { is: 'machine', key: 'config' } as const;

/**
 * Checks a hive as far as no schema can: that its address can be a hive's, and its proxy a proxy's.
 * @throws Fault `bad-url`, `blocked` or `usage`, naming the address
 */
export function checkHive(hive: Pick<FurtherHive, 'base' | 'proxy'>): void {
  checkBase(hive);
  checkProxy(hive);
}

function checkBase({ base }: Pick<FurtherHive, 'base'>): void {
  targetOf(base, AS_WRITTEN, SCOPE);
  hiveAt(base, SCOPE);
}

function checkProxy({ base, proxy }: Pick<FurtherHive, 'base' | 'proxy'>): void {
  if (proxy !== undefined) proxyOf(proxy, targetOf(base, AS_WRITTEN, SCOPE), SCOPE);
}

interface Found {
  readonly offset: number;
  readonly message: string;
}

type Json = Places & { readonly is: 'json' };

function bad(text: string, [first, ...rest]: readonly [Found, ...Found[]]): Checked {
  const placed = ({ offset, message }: Found): Problem => ({ ...lineAndColumn(text, offset), message });
  return { is: 'bad', problems: [placed(first), ...rest.map(placed)] };
}

/** `JSON.parse` takes the last in silence, and the person looks at the first. */
function repeats({ repeated }: Json): readonly Found[] {
  return repeated.map(({ pointer, offset }) => ({ offset, message: `${nameOf(pointer)}: stands there twice` }));
}

function wrongIn(places: Json): readonly Found[] {
  const { value, offsetOf } = places;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const shown = JSON.stringify(value).slice(0, 80);
    return [{ offset: 0, message: `it must hold an object, as {"port": 7475}, not ${shown}` }];
  }
  if (!fits(value)) return distinct((fits.errors ?? []).map((error) => foundOf(error, offsetOf)));
  const primary = value.primary?.is === 'kijito' ? hiveFaults(value.primary, '/primary', offsetOf) : [];
  const hives = hivesIn(value.hives ?? [], offsetOf);
  return [...primary, ...hives, ...natsFaults(value.nats, offsetOf), ...openerFaults(value, offsetOf)];
}

function natsFaults(nats: Settings['nats'], offsetOf: Json['offsetOf']): readonly Found[] {
  if (nats === undefined) return [];
  try {
    natsTarget(nats.url, SCOPE);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ offset: offsetOf('/nats/url'), message: `nats.url: ${error.message}` }];
  }
}

/** By the same function that fills it in at a click. */
function openerFaults({ opener, urlSchemes }: Partial<Settings>, offsetOf: Json['offsetOf']): readonly Found[] {
  if (opener === undefined) return [];
  try {
    checkOpener(opener, urlSchemes ?? SETTINGS.properties.urlSchemes.default);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ offset: offsetOf('/opener'), message: error.message }];
  }
}

function hivesIn(hives: readonly FurtherHive[], offsetOf: Json['offsetOf']): readonly Found[] {
  return hives.flatMap((hive, index): readonly Found[] => {
    const at = `/hives/${index}`;
    const first = hives.findIndex(({ name }) => name === hive.name);
    if (first < index) {
      const message = `${nameOf(`${at}/name`)}: ${hive.name} is the name of hives.${first} already`;
      return [{ offset: offsetOf(`${at}/name`), message }];
    }
    return hiveFaults(hive, at, offsetOf);
  });
}

/** At most one: an address that is none makes nonsense of the proxy before it. */
function hiveFaults(
  hive: Pick<FurtherHive, 'base' | 'proxy'>,
  at: string,
  offsetOf: Json['offsetOf'],
): readonly Found[] {
  for (const [key, check] of [
    ['base', checkBase],
    ['proxy', checkProxy],
  ] as const) {
    try {
      check(hive);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [{ offset: offsetOf(`${at}/${key}`), message: `${nameOf(`${at}/${key}`)}: ${error.message}` }];
    }
  }
  return [];
}

function foundOf(error: ErrorObject, offsetOf: Json['offsetOf']): Found {
  const { instancePath, keyword, params } = error as { instancePath: string; keyword: string; params: Params };
  if (params.additionalProperty !== undefined) {
    const pointer = `${instancePath}/${params.additionalProperty.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const what = instancePath === '' ? 'there is no such setting' : 'there is no such key';
    return { offset: offsetOf(pointer), message: `${nameOf(pointer)}: ${what}` };
  }
  const offset = offsetOf(instancePath);
  const name = instancePath === '' ? 'settings' : nameOf(instancePath);
  switch (keyword) {
    case 'enum':
      return { offset, message: `${name}: must be one of ${(params.allowedValues ?? []).join(', ')}` };
    case 'discriminator':
      return { offset, message: `${name}: "is" says nothing that is known here` };
    case 'not':
      return { offset, message: `${name}: must be none of ${RESERVED_NAMES.join(', ')}` };
    default:
      return { offset, message: `${name}: ${error.message ?? keyword}` };
  }
}

interface Params {
  readonly additionalProperty?: string;
  readonly allowedValues?: readonly unknown[];
}

function distinct(found: readonly Found[]): readonly Found[] {
  return found.filter((one, index) => found.findIndex(({ message }) => message === one.message) === index);
}

/** A JSON pointer as a person writes it: `hives.0.base`. */
function nameOf(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
