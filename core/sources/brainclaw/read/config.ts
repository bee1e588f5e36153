import { type ReadFiles, readFile } from './read-files.ts';

/** The values of a store's `config.yaml` that are used. */
export interface StoreConfig {
  /** The project's id; null when it cannot be read. */
  readonly projectId: string | null;
  /** `store.journal.mode`; null when it is missing, which means off (brainclaw contract 1). */
  readonly journalMode: string | null;
}

const MOST_CONFIG = 1024 * 1024;

/**
 * @param path `config.yaml` of a store
 * @throws Fault `unreadable` for a failure that is not about this file
 */
export function readConfig(files: ReadFiles, path: string): StoreConfig {
  const file = readFile(files, path, MOST_CONFIG);
  return parseConfig(file.is === 'bytes' ? file.bytes.toString('utf8') : '');
}

/** Parses only plain keys and words, each on a line of its own, as the writer leaves them. The rest of YAML is ignored. */
export function parseConfig(text: string): StoreConfig {
  const values = new Map<string, string>();
  const above: { indent: number; key: string }[] = [];
  for (const line of text.split('\n')) {
    const [, space = '', key, rest = ''] = /^( *)([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?\s*$/.exec(line) ?? [];
    if (key === undefined) continue;
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= space.length) above.pop();
    above.push({ indent: space.length, key });
    const word = parseWord(rest);
    if (word !== '') values.set(above.map((level) => level.key).join('.'), word);
  }
  return { projectId: values.get('project_id') ?? null, journalMode: values.get('store.journal.mode') ?? null };
}

function parseWord(text: string): string {
  const quoted = /^(["'])(.*?)\1/.exec(text);
  return quoted?.[2] ?? text.replace(/(^|\s)#.*$/, '').trim();
}
