import { LOCAL_PREFIX, type OwnIds, type PersonaId } from '../model/index.ts';
import type {
  SettingProblem,
  SettingsRules,
  SourceAction,
  SourceCheck,
  SourceEnvironment,
  SourceModule,
  SourcePlaces,
} from './module.ts';
import { SOURCES } from './registry.ts';

export type SourceName = keyof typeof SOURCES;

type Intersection<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;
type Modules = (typeof SOURCES)[SourceName];

/** The settings of all sources, as `config.json` has them with its defaults. */
export type SourceSettings = Intersection<Parameters<Modules['open']>[0]>;
export type Primary = NonNullable<SourceSettings['primary']>;
type SourceSettingsSchemas = Intersection<Modules['settings']>;

type AnySource = Omit<SourceModule<SourceSettings>, 'name' | 'settings'> & {
  readonly name: SourceName;
  readonly settings: object;
};

/** Every source, in the order of the registry. */
export const SOURCE_LIST: readonly AnySource[] = Object.values(SOURCES);

/** How the ids of personas of each source begin, where its hives do not give the prefix. */
export const SOURCE_PREFIXES: readonly string[] = SOURCE_LIST.flatMap(({ prefix }) => prefix ?? []);

/** The ids that sources make of their own. */
export const SOURCE_IDS: readonly OwnIds[] = SOURCE_LIST.flatMap(({ prefix, ids }) => ids ?? prefix ?? []);

/** The relay pushes under this name. */
const RELAY_NAME = 'nats';

/** Names that a hive cannot have: of the local hive, prefixes and names of sources, and the name of the relay. */
export const RESERVED_NAMES: readonly string[] = [
  LOCAL_PREFIX.slice(0, -1),
  ...SOURCE_LIST.map(({ name, prefix }) => prefix?.slice(0, -1) ?? name),
  RELAY_NAME,
];

/** The setting that allows a person to act through the source of this persona. Null when its source has no such setting. */
export function findActionSetting(persona: PersonaId): string | null {
  const source = SOURCE_LIST.find(
    ({ prefix, ids }) => prefix !== null && (ids?.test(persona.toLowerCase()) ?? persona.startsWith(prefix)),
  );
  if (source === undefined) return null;
  const schema = (source.settings as Readonly<Record<string, { readonly properties?: object }>>)[source.name];
  return 'actions' in (schema?.properties ?? {}) ? source.name : null;
}

/** Every action of a source, with the name of its source. */
export function listSourceActions(): readonly (SourceAction & { readonly source: SourceName })[] {
  return SOURCE_LIST.flatMap(({ name, actions = [] }) => actions.map((action) => ({ ...action, source: name })));
}

/** Everything that the sources say of the settings: a schema for each key. */
export const SOURCE_SETTINGS = Object.assign(
  {},
  ...SOURCE_LIST.map(({ settings }) => settings),
) as SourceSettingsSchemas;

/** Lists what a schema cannot say of the settings of the sources. */
export function checkSourceSettings(
  settings: Partial<SourceSettings>,
  rules: SettingsRules,
): readonly SettingProblem[] {
  return SOURCE_LIST.flatMap((source) => source.checkSettings?.(settings, rules) ?? []);
}

/** Ids that no bare name of a hive may have: of the local hive, of each source, and of what the settings name. */
export function listReservedIds(settings: Partial<SourceSettings>): readonly OwnIds[] {
  return [LOCAL_PREFIX, ...SOURCE_IDS, ...SOURCE_LIST.flatMap((source) => source.listPrefixes?.(settings) ?? [])];
}

/** The addresses that the settings have sources send requests to. */
export function listAddresses(settings: SourceSettings): readonly string[] {
  return SOURCE_LIST.flatMap((source) => source.listAddresses?.(settings) ?? []);
}

/** The checks of all sources, in the order of the registry. */
export function listSourceChecks(settings: SourceSettings): readonly SourceCheck[] {
  return SOURCE_LIST.flatMap((source) => source.doctor?.(settings) ?? []);
}

/** What a person reads of a reason of an agent state. Null when the reason says it by itself. */
export function findReasonText(reason: string | null): string | null {
  if (reason === null) return null;
  return SOURCE_LIST.map(({ texts = {} }) => texts[reason]).find((text) => text !== undefined) ?? null;
}

/** Sources that have projects. The status server has routes for each. */
export const PROJECT_SOURCES: readonly SourceName[] = SOURCE_LIST.flatMap(({ name, hasProjects }) =>
  hasProjects ? [name] : [],
);

/** Variables of the environment with a secret for one source. */
export const SECRET_VARIABLES: readonly string[] = SOURCE_LIST.flatMap(({ secrets = [] }) => secrets);

/** Finds the hive that gets the bare names on the first start. Null when no source has one. */
export async function findPrimaryHive(host: SourceEnvironment): Promise<Primary | null> {
  for (const source of SOURCE_LIST) {
    const primary = await source.findPrimary?.(host);
    if (primary != null) return primary as Primary;
  }
  return null;
}

/** Where each source looks, and what is there. One that cannot say it says so in its place. */
export async function findSourcePlaces(
  settings: SourceSettings,
  host: SourceEnvironment,
): Promise<readonly SourcePlaces[]> {
  return await Promise.all(
    SOURCE_LIST.map(async ({ name, prefix, listPrefixes, findPlaces }) => {
      const prefixes = prefix === null ? (listPrefixes?.(settings) ?? []) : [prefix];
      try {
        return { name, prefixes, places: (await findPlaces?.(settings, host)) ?? [] };
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return { name, prefixes, places: [{ what: 'nothing can be said', where: why, found: null }] };
      }
    }),
  );
}
