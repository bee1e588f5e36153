import { join } from 'node:path';
import { LOCAL_PREFIX } from '../../core/model/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { SOURCE_PREFIXES } from '../../core/sources/derived.ts';
import { readText } from '../../core/state/index.ts';

/** Where the mail of a persona is. */
export interface InboxLocation {
  /** Its name in the local hive. Items are pushed to it there, whatever system its mail is in. */
  readonly name: string;
  /** Whether its mail is in another system, and arrives through its event file. */
  readonly isFollowed: boolean;
}

/** The prefix of personas of the local hive where another hive is the primary. No name of a hive has this prefix on the board. */
export const LOCAL = LOCAL_PREFIX;

/**
 * Finds the inbox by the settings. They are only read here and not checked, because a hook has no time for that.
 * @param config the directory of the settings
 */
export function locateInbox(persona: string, config: string): InboxLocation {
  const { primary, hives } = readHiveSettings(join(config, 'config.json'));
  if (persona.startsWith(LOCAL) && persona !== LOCAL) return { name: persona.slice(LOCAL.length), isFollowed: false };
  const isForeign = [...SOURCE_PREFIXES, ...hives.map((name) => `${name}-`)].some((prefix) =>
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
    return { primary: 'local', hives: [] }; // no settings yet: there is only the local hive
  }
}
