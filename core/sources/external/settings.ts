import type { XStatic } from 'typebox/schema';
import type { SettingProblem, SettingsRules } from '../module.ts';

/** The name of this module. Each source that it runs has a name of its own. */
export const EXTERNAL = 'external';

const NAME_PATTERN = '^[a-z0-9]{1,32}$';
const TEXT = { type: 'string', minLength: 1 } as const;

/** One source outside of Hivebar. What each transport needs is checked by `checkExternalSettings`. */
const SOURCE = {
  type: 'object',
  properties: {
    /** The prefix of its personas. */
    name: { type: 'string', pattern: NAME_PATTERN },
    is: { enum: ['exec', 'poll', 'maildir', 'file', 'http'] },
    /** The program and its arguments. The program is an absolute path. */
    argv: { type: 'array', items: { type: 'string' }, minItems: 1 },
    cwd: TEXT,
    env: { type: 'object', additionalProperties: { type: 'string' } },
    /** A file, or a folder of mailboxes. */
    path: TEXT,
    layout: { enum: ['amq', 'maildir', 'flat'] },
    url: TEXT,
    /** Seconds between polls. Default: 30. */
    every: { type: 'number', minimum: 5, maximum: 3600 },
    /** Seconds after which a file is too old to be believed. */
    stale: { type: 'number', minimum: 1 },
    /** Seconds after which mail that nobody takes makes its agent stalled. */
    stalledAfter: { type: 'number', minimum: 1 },
    /** Whether a click may have it mark mail as read, or reply. Default: false. */
    acts: { type: 'boolean' },
    /** Whether a click may run what it names. Default: false. */
    opens: { type: 'boolean' },
  },
  required: ['name', 'is'],
  additionalProperties: false,
} as const;

export const EXTERNAL_SETTINGS = {
  sources: {
    type: 'array',
    items: SOURCE,
    maxItems: 16,
    default: [],
    description: 'programs, files and mailboxes of your own that are watched; hivebar source changes it',
  },
} as const;

export type ExternalSource = XStatic<typeof SOURCE>;

export interface ExternalSettings {
  readonly sources: readonly ExternalSource[];
}

/** How often a source is polled when it does not say that something changed. */
export const DEFAULT_EVERY_S = 30;

/** What each transport cannot be without. */
const NEEDED = { exec: 'argv', poll: 'argv', maildir: 'path', file: 'path', http: 'url' } as const satisfies Record<
  ExternalSource['is'],
  keyof ExternalSource
>;

const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

/** Lists names that are used already, and what a transport lacks. */
export function checkExternalSettings(
  settings: Partial<ExternalSettings>,
  rules: SettingsRules,
): readonly SettingProblem[] {
  const { sources = [] } = settings;
  const { hives = [] } = settings as { readonly hives?: readonly { readonly name: string }[] };
  return sources.flatMap((source, index): readonly SettingProblem[] => {
    const at = `/sources/${index}`;
    const { name } = source;
    const problems: SettingProblem[] = [];
    const add = (key: string, message: string): void => void problems.push({ at: `${at}/${key}`, message });
    const first = sources.findIndex((other) => other.name === name);
    if (first < index) add('name', `${name} is already the name of sources.${first}`);
    if (rules.reservedNames.includes(name)) add('name', `must be none of ${rules.reservedNames.join(', ')}`);
    if (hives.some((hive) => hive.name === name)) add('name', `${name} is already the name of a hive`);
    const needed = NEEDED[source.is];
    if (source[needed] === undefined)
      problems.push({ at, message: `${name} needs ${needed}, because it is ${source.is}` });
    for (const key of ['cwd', 'path'] as const)
      if (source[key] !== undefined && !ABSOLUTE.test(source[key])) add(key, 'must be an absolute path');
    const program = source.argv?.[0];
    if (program !== undefined && !ABSOLUTE.test(program)) add('argv', 'must begin with the absolute path of a program');
    if (source.url !== undefined) {
      try {
        rules.checkAddress(source.url);
      } catch (error) {
        add('url', error instanceof Error ? error.message : String(error));
      }
    }
    return problems;
  });
}

/** The actions of this module. */
export const ACTIONS = {
  changed: 'sources-changed',
  restart: 'source-restart',
  report: 'source-report',
  reply: 'source-reply',
} as const;

/** Where a source is, as a text for a person. */
export function formatAddress({ argv, path, url }: Pick<ExternalSource, 'argv' | 'path' | 'url'>): string {
  return argv?.join(' ') ?? path ?? url ?? '';
}
