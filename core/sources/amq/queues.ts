import { basename, dirname, join, resolve } from 'node:path';
import type { Files } from '../../ports/index.ts';
import { readRegular } from '../../state/index.ts';
import { toOneLine } from '../source-tools.ts';
import { parseObject } from './message.ts';

/** One queue: a folder that holds `agents`. */
export interface FoundQueue {
  readonly path: string;
  /** The folder of the project that it belongs to. */
  readonly project: string;
  /** What tells it from others: the session, else the project. */
  readonly name: string;
}

const DEFAULT_ROOT = '.agent-mail';
const RULES_FILE = '.amqrc';
const MOST_BYTES = 64 * 1024;

/**
 * Finds the queues in and below these folders: each is a queue, or holds one queue per session, or is a project that has such a
 * folder (AMQ contract 1). A queue that several of them lead to is found once.
 */
export function findQueues(files: Files, folders: readonly string[]): readonly FoundQueue[] {
  const byPath = new Map<string, FoundQueue>();
  for (const folder of folders)
    for (const queue of findIn(files, folder)) if (!byPath.has(queue.path)) byPath.set(queue.path, queue);
  return [...byPath.values()];
}

function findIn(files: Files, folder: string): readonly FoundQueue[] {
  const own = findInRoot(files, folder, null);
  if (own.length > 0) return own;
  const { root, project } = readRules(files, folder);
  return findInRoot(files, root === null ? join(folder, DEFAULT_ROOT) : resolve(folder, root), {
    folder,
    name: project,
  });
}

function findInRoot(
  files: Files,
  root: string,
  owner: { readonly folder: string; readonly name: string | null } | null,
): readonly FoundQueue[] {
  const project = owner?.folder ?? (basename(root).startsWith('.') ? dirname(root) : root);
  if (isQueue(files, root)) return [{ path: root, project, name: owner?.name ?? basename(project) }];
  return listFolder(files, root)
    .filter((name) => !name.startsWith('.') && isQueue(files, join(root, name)))
    .sort()
    .map((name) => ({ path: join(root, name), project, name }));
}

/** A folder that cannot be searched counts as a queue, so that its fault is shown. */
export function isQueue(files: Files, path: string): boolean {
  try {
    return files.lstat(join(path, 'agents'))?.kind === 'directory';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES';
  }
}

function listFolder(files: Files, path: string): readonly string[] {
  try {
    return files.readdir(path);
  } catch {
    return []; // it is not there, or it is no folder
  }
}

/** What a project says of its queue: another folder, and its own name. */
function readRules(files: Files, folder: string): { readonly root: string | null; readonly project: string | null } {
  const rules = readText(files, join(folder, RULES_FILE));
  const { root, project } = (rules === null ? null : parseObject(rules)) ?? {};
  return {
    root: typeof root === 'string' && root !== '' && !root.includes('\0') ? root : null,
    project: typeof project === 'string' && project !== '' ? project : null,
  };
}

function readText(files: Files, path: string): string | null {
  try {
    if (files.lstat(path)?.kind !== 'file') return null;
    const bytes = readRegular(files, path, MOST_BYTES);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  } catch {
    return null; // without its rules a project has the usual folder
  }
}

/** A queue, and what follows the handle in the ids of its personas. */
export interface NamedQueue {
  readonly path: string;
  readonly suffix: string;
}

const NAME_CHARS = 40;

/**
 * Gives each queue its suffix: none where there is one queue, else `@NAME` (AMQ contract 3). A queue that had a suffix before
 * has it again, so that another queue does not rename its personas.
 */
export function nameQueues(
  queues: readonly Pick<FoundQueue, 'path' | 'name'>[],
  before: readonly NamedQueue[],
): readonly NamedQueue[] {
  const known = new Map(before.map((queue) => [queue.path, queue]));
  const used = new Set(before.map(({ suffix }) => suffix));
  return queues.map(({ path, name }) => {
    const old = known.get(path);
    if (old !== undefined) return old;
    const plain = toOneLine(name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-'), NAME_CHARS) || 'queue';
    let suffix = queues.length === 1 && before.length === 0 ? '' : `@${plain}`;
    for (let n = 2; used.has(suffix); n += 1) suffix = `@${plain}-${n}`;
    used.add(suffix);
    return { path, suffix };
  });
}
