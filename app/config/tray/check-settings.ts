import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { Fault } from '../../../core/model/index.ts';
import { AS_WRITTEN, parseNatsTarget, parseProxy, parseTarget } from '../../../core/net/index.ts';
import { parseHiveUrl } from '../../../core/sources/index.ts';
import { findBadUtf8 } from '../../../core/state/index.ts';
import { checkOpener } from '../../open/index.ts';
import { type JsonLocations, locateJson, toLineAndColumn } from './json-locations.ts';
import { type FurtherHive, RESERVED_NAMES, SETTINGS, type Settings } from './settings.ts';

/** One thing that is wrong in a settings file. */
export interface SettingsProblem {
  /** Counts from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type SettingsCheck =
  | { readonly is: 'good'; readonly settings: Partial<Settings> }
  | { readonly is: 'bad'; readonly problems: readonly [SettingsProblem, ...SettingsProblem[]] };

const fits = new Ajv2020({ strict: true, allErrors: true, discriminator: true }).compile<Partial<Settings>>({
  ...SETTINGS,
  required: [], // the file lists only what differs from the defaults
});

/**
 * Checks the bytes of a settings file. Bytes that are not UTF-8 are refused, because writing them back would change the text.
 */
export function checkSettingsBytes(bytes: Uint8Array): SettingsCheck {
  const bad = findBadUtf8(bytes);
  if (bad === null) return checkSettings(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const { line, column, byte } = bad;
  const message = `the byte 0x${byte.toString(16).padStart(2, '0')} is not UTF-8: save the file as UTF-8`;
  return { is: 'bad', problems: [{ line, column, message }] };
}

/** Lists everything that is wrong with the text of a settings file, in the order of the file. */
export function checkSettings(text: string): SettingsCheck {
  const places = locateJson(text);
  if (places.is === 'broken')
    return createBadCheck(text, [{ offset: places.offset, message: `no JSON: ${places.message}` }]);
  const findings = [...findRepeats(places), ...findFindings(places)];
  const [first, ...rest] = findings.toSorted((a, b) => a.offset - b.offset);
  return first === undefined
    ? { is: 'good', settings: places.value as Partial<Settings> }
    : createBadCheck(text, [first, ...rest]);
}

const SCOPE = { is: 'machine', key: 'config' } as const;

/**
 * Checks what a JSON Schema cannot: that the address of a hive and the address of its proxy are usable.
 * @throws Fault `bad-url`, `blocked` or `usage`, naming the address
 */
export function checkHive(hive: Pick<FurtherHive, 'base' | 'proxy'>): void {
  checkBase(hive);
  checkProxy(hive);
}

function checkBase({ base }: Pick<FurtherHive, 'base'>): void {
  parseTarget(base, AS_WRITTEN, SCOPE);
  parseHiveUrl(base, SCOPE);
}

function checkProxy({ base, proxy }: Pick<FurtherHive, 'base' | 'proxy'>): void {
  if (proxy !== undefined) parseProxy(proxy, parseTarget(base, AS_WRITTEN, SCOPE), SCOPE);
}

interface SettingsFinding {
  readonly offset: number;
  readonly message: string;
}

type ParsedJson = JsonLocations & { readonly is: 'json' };

function createBadCheck(
  text: string,
  [first, ...rest]: readonly [SettingsFinding, ...SettingsFinding[]],
): SettingsCheck {
  const toProblem = ({ offset, message }: SettingsFinding): SettingsProblem => ({
    ...toLineAndColumn(text, offset),
    message,
  });
  return { is: 'bad', problems: [toProblem(first), ...rest.map(toProblem)] };
}

/** Finds keys that appear twice. `JSON.parse` silently takes the last one, while a person reads the first. */
function findRepeats({ repeated }: ParsedJson): readonly SettingsFinding[] {
  return repeated.map(({ pointer, offset }) => ({ offset, message: `${formatPointer(pointer)}: stands there twice` }));
}

function findFindings(places: ParsedJson): readonly SettingsFinding[] {
  const { value, findOffset } = places;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const text = JSON.stringify(value).slice(0, 80);
    return [{ offset: 0, message: `it must hold an object, as {"port": 7475}, not ${text}` }];
  }
  if (!fits(value)) return removeDuplicates((fits.errors ?? []).map((error) => toFinding(error, findOffset)));
  const primary = value.primary?.is === 'kijito' ? checkHiveFields(value.primary, '/primary', findOffset) : [];
  const hives = checkHives(value.hives ?? [], findOffset);
  return [...primary, ...hives, ...checkNats(value.nats, findOffset), ...checkOpenerSetting(value, findOffset)];
}

function checkNats(nats: Settings['nats'], findOffset: ParsedJson['findOffset']): readonly SettingsFinding[] {
  if (nats === undefined) return [];
  try {
    parseNatsTarget(nats.url, SCOPE);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ offset: findOffset('/nats/url'), message: `nats.url: ${error.message}` }];
  }
}

/** Checks the opener with the same function that fills it in at a click. */
function checkOpenerSetting(
  { opener, urlSchemes }: Partial<Settings>,
  findOffset: ParsedJson['findOffset'],
): readonly SettingsFinding[] {
  if (opener === undefined) return [];
  try {
    checkOpener(opener, urlSchemes ?? SETTINGS.properties.urlSchemes.default);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ offset: findOffset('/opener'), message: error.message }];
  }
}

function checkHives(hives: readonly FurtherHive[], findOffset: ParsedJson['findOffset']): readonly SettingsFinding[] {
  return hives.flatMap((hive, index): readonly SettingsFinding[] => {
    const at = `/hives/${index}`;
    const first = hives.findIndex(({ name }) => name === hive.name);
    if (first < index) {
      const message = `${formatPointer(`${at}/name`)}: ${hive.name} is the name of hives.${first} already`;
      return [{ offset: findOffset(`${at}/name`), message }];
    }
    return checkHiveFields(hive, at, findOffset);
  });
}

/** Returns at most one finding: when the address is not valid, a finding about the proxy would make no sense. */
function checkHiveFields(
  hive: Pick<FurtherHive, 'base' | 'proxy'>,
  at: string,
  findOffset: ParsedJson['findOffset'],
): readonly SettingsFinding[] {
  for (const [key, check] of [
    ['base', checkBase],
    ['proxy', checkProxy],
  ] as const) {
    try {
      check(hive);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [{ offset: findOffset(`${at}/${key}`), message: `${formatPointer(`${at}/${key}`)}: ${error.message}` }];
    }
  }
  return [];
}

function toFinding(error: ErrorObject, findOffset: ParsedJson['findOffset']): SettingsFinding {
  const { instancePath, keyword, params } = error as { instancePath: string; keyword: string; params: Params };
  if (params.additionalProperty !== undefined) {
    const pointer = `${instancePath}/${params.additionalProperty.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const reason = instancePath === '' ? 'there is no such setting' : 'there is no such key';
    return { offset: findOffset(pointer), message: `${formatPointer(pointer)}: ${reason}` };
  }
  const offset = findOffset(instancePath);
  const name = instancePath === '' ? 'settings' : formatPointer(instancePath);
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

function removeDuplicates(findings: readonly SettingsFinding[]): readonly SettingsFinding[] {
  return findings.filter(
    (finding, index) => findings.findIndex(({ message }) => message === finding.message) === index,
  );
}

/** Formats a JSON pointer as a person writes it: `hives.0.base`. */
function formatPointer(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}
