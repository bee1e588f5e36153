import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { Fault } from '../../../core/model/index.ts';
import { AS_WRITTEN, parseNatsTarget, parseProxy, parseTarget } from '../../../core/net/index.ts';
import { checkSourceSettings, RESERVED_NAMES } from '../../../core/sources/derived.ts';
import { findBadUtf8 } from '../../../core/state/index.ts';
import { checkOpener } from '../../open/index.ts';
import { type JsonLocations, locateJson, toLineAndColumn } from './json-locations.ts';
import { SETTINGS, type Settings } from './settings.ts';

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
 * Checks what a JSON Schema cannot: that an address, and that of its proxy, can be used for requests.
 * @throws Fault `bad-url`, `blocked` or `usage`, naming the address
 */
export function checkAddress(address: string, proxy?: string): void {
  const target = parseTarget(address, AS_WRITTEN, SCOPE);
  if (proxy !== undefined) parseProxy(proxy, target, SCOPE);
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
  return repeated.map(({ pointer, offset }) => ({ offset, message: `${formatPointer(pointer)}: is there twice` }));
}

function findFindings(places: ParsedJson): readonly SettingsFinding[] {
  const { value, findOffset } = places;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const text = JSON.stringify(value).slice(0, 80);
    return [{ offset: 0, message: `it must hold an object, as {"port": 7475}, not ${text}` }];
  }
  if (!fits(value)) return removeDuplicates((fits.errors ?? []).map((error) => toFinding(error, findOffset)));
  const ofSources = checkSourceSettings(value, { reservedNames: RESERVED_NAMES, checkAddress }).map(
    ({ at, message }) => ({
      offset: findOffset(at),
      message: `${formatPointer(at)}: ${message}`,
    }),
  );
  return [...ofSources, ...checkNats(value.nats, findOffset), ...checkOpenerSetting(value, findOffset)];
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
      return { offset, message: `${name}: "is" has an unknown value` };
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
