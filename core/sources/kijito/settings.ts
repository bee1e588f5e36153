import type { XStatic } from 'typebox/schema';
import { Fault } from '../../model/index.ts';
import type { SettingProblem, SettingsRules } from '../module.ts';
import { parseHiveUrl } from './http-hive.ts';

/** The name of this source, and of its hive that owns the bare names. */
export const KIJITO = 'kijito';

/** The variable with the token of the primary hive. */
export const TOKEN_VARIABLE = 'KIJITOMON_TOKEN';

const ADDRESS = {
  base: { type: 'string', minLength: 1 },
  /** `http://HOST:PORT`. Only this setting is used; environment variables are ignored. */
  proxy: { type: 'string', minLength: 1 },
} as const;

/**
 * Which hive owns the bare persona names. The first run decides it, and it never changes on its own, because file names depend
 * on it.
 */
const PRIMARY = {
  type: 'object',
  discriminator: { propertyName: 'is' },
  oneOf: [
    { type: 'object', properties: { is: { const: 'local' } }, required: ['is'], additionalProperties: false },
    {
      type: 'object',
      properties: { is: { const: KIJITO }, ...ADDRESS },
      required: ['is', 'base'],
      additionalProperties: false,
    },
  ],
  atNextStart: true,
  description: 'the hive whose personas have bare names; decided on the first run',
} as const;

/**
 * A further hive. Its name is the prefix of the ids of its personas, `NAME-PERSONA`. It holds no hyphen, because `a-b` and `a`
 * could both own `a-b-c`.
 */
const HIVE = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^[a-z0-9]{1,32}$' },
    base: ADDRESS.base,
    tokenFile: { type: 'string', minLength: 1 },
    proxy: ADDRESS.proxy,
  },
  required: ['name', 'base'],
  additionalProperties: false,
} as const;

export const KIJITO_SETTINGS = {
  primary: PRIMARY,
  tokenFile: { type: 'string', minLength: 1, description: "file with the primary hive's token" },
  hives: { type: 'array', items: HIVE, default: [], description: 'further hives to watch' },
} as const;

export type PrimarySetting = XStatic<typeof PRIMARY>;
export type FurtherHive = XStatic<typeof HIVE>;

export interface KijitoSettings {
  readonly primary?: PrimarySetting;
  readonly tokenFile?: string;
  readonly hives: readonly FurtherHive[];
}

/** A hive that the settings name. */
export interface ConfiguredHive extends FurtherHive {
  /** Only the token of the primary hive may come from the environment variable. */
  readonly isPrimary: boolean;
}

/** Lists the hives that the settings name, the primary first. */
export function listConfiguredHives({
  primary,
  hives = [],
  tokenFile,
}: Partial<KijitoSettings>): readonly ConfiguredHive[] {
  const further = hives.map((hive) => ({ ...hive, isPrimary: false }));
  if (primary?.is !== KIJITO) return further;
  const { is: name, ...address } = primary;
  return [{ name, ...address, ...(tokenFile === undefined ? {} : { tokenFile }), isPrimary: true }, ...further];
}

type HiveAddress = Pick<FurtherHive, 'base' | 'proxy'>;

const SCOPE = { is: 'machine', key: 'config' } as const;

/**
 * Checks that the address of a hive and the address of its proxy are usable.
 * @throws Fault `bad-url`, `blocked` or `usage`, naming the address
 */
export function checkHive(hive: HiveAddress, rules: Pick<SettingsRules, 'checkAddress'>): void {
  checkBase(hive, rules);
  rules.checkAddress(hive.base, hive.proxy);
}

function checkBase({ base }: HiveAddress, { checkAddress }: Pick<SettingsRules, 'checkAddress'>): void {
  checkAddress(base);
  parseHiveUrl(base, SCOPE);
}

/** Lists hives that have the name of another, or an address that cannot be used. */
export function checkKijitoSettings(
  { primary, hives = [] }: Partial<KijitoSettings>,
  rules: SettingsRules,
): readonly SettingProblem[] {
  const problems = hives.flatMap((hive, index): readonly SettingProblem[] => {
    const at = `/hives/${index}`;
    const first = hives.findIndex(({ name }) => name === hive.name);
    if (first < index) return [{ at: `${at}/name`, message: `${hive.name} is already the name of hives.${first}` }];
    const names = rules.reservedNames;
    const reserved = names.includes(hive.name)
      ? [{ at: `${at}/name`, message: `must be none of ${names.join(', ')}` }]
      : [];
    return [...reserved, ...checkAddressSettings(hive, at, rules)];
  });
  return primary?.is === KIJITO ? [...checkAddressSettings(primary, '/primary', rules), ...problems] : problems;
}

/** Returns at most one problem: when the address is not valid, one about the proxy would make no sense. */
function checkAddressSettings(hive: HiveAddress, at: string, rules: SettingsRules): readonly SettingProblem[] {
  for (const [key, check] of [
    ['base', checkBase],
    ['proxy', checkHive],
  ] as const) {
    try {
      check(hive, rules);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [{ at: `${at}/${key}`, message: error.message }];
    }
  }
  return [];
}
