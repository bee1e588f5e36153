import { join } from 'node:path';
import { parseJson } from '../../../model/index.ts';
import { formatJson } from '../../text.ts';
import { type ReadFiles, readFile } from './read-files.ts';
import { isCount, isObject } from './record.ts';

/** The writer's own note of the journal's position. It is a cache, and nothing here depends on it (brainclaw contract 1, 7). */
export interface Meta {
  readonly nextSeq: number;
  readonly activeSegment: string | null;
  /** By item id. */
  readonly revisions: ReadonlyMap<string, number>;
}

export type MetaRead =
  | { readonly is: 'absent' }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'meta'; readonly meta: Meta };

const MOST_META = 64 * 1024 * 1024;

/**
 * @param directory the `events` of a store
 * @throws Fault `unreadable` for a failure that is not about this file
 */
export function readMeta(files: ReadFiles, directory: string): MetaRead {
  const file = readFile(files, join(directory, 'meta.json'), MOST_META);
  if (file.is !== 'bytes') return file;
  let value: unknown;
  try {
    value = parseJson(file.bytes.toString('utf8'));
  } catch (error) {
    return { is: 'refused', why: `is not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!isObject(value)) return { is: 'refused', why: 'is no object' };
  const { next_seq, active_segment, entity_revs } = value;
  if (!isCount(next_seq)) return { is: 'refused', why: `has next_seq ${formatJson(next_seq)}` };
  const revisions = new Map<string, number>();
  if (isObject(entity_revs)) {
    for (const [id, revision] of Object.entries(entity_revs)) if (isCount(revision)) revisions.set(id, revision);
  }
  const activeSegment = typeof active_segment === 'string' ? active_segment : null;
  return { is: 'meta', meta: { nextSeq: next_seq, activeSegment, revisions } };
}
