import { join } from 'node:path';
import { RESERVED_PREFIXES, SOURCE_PREFIXES } from '../../core/model/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { readText } from '../../core/state/index.ts';

/** Where mail of a persona is. */
export interface InboxLocation {
  /** Its name in the local hive: items are pushed to it there, whatever system its mail is in. */
  readonly name: string;
  /** Its mail is in another system, and comes with its event file. */
  readonly isFollowed: boolean;
}

/** Before the name of a persona of the local hive where another one is the primary; no name of a hive begins so on the board. */
export const LOCAL = SOURCE_PREFIXES.local;
const OTHER_PREFIXES = RESERVED_PREFIXES.filter((prefix) => prefix !== LOCAL);

/**
 * By the settings, which are only read here: they are checked by who runs on them, and a hook has no time for that.
 * @param config the directory of the settings
 */
export function locateInbox(persona: string, config: string): InboxLocation {
  const { primary, hives } = readHiveSettings(join(config, 'config.json'));
  if (persona.startsWith(LOCAL) && persona !== LOCAL) return { name: persona.slice(LOCAL.length), isFollowed: false };
  const isForeign = [...OTHER_PREFIXES, ...hives.map((name) => `${name}-`)].some((prefix) =>
    persona.startsWith(prefix),
  );
  return { name: persona, isFollowed: primary !== 'local' || isForeign };
}

function readHiveSettings(path: string): { readonly primary: 'local' | 'other'; readonly hives: readonly string[] } {
  try {
    const { primary, hives } = JSON.parse(readText(realFiles, path) ?? '{}') as {
      readonly primary?: { readonly is?: unknown };
      readonly hives?: readonly { readonly name?: unknown }[];
    };
    const names = Array.isArray(hives) ? hives.flatMap(({ name }) => (typeof name === 'string' ? name : [])) : [];
    return { primary: primary === undefined || primary.is === 'local' ? 'local' : 'other', hives: names };
  } catch {
    return { primary: 'local', hives: [] }; // no settings yet: the local hive is all there is
  }
}
