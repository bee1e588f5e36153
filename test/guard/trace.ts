import { readFileSync, statSync } from 'node:fs';

/** What a program did with files, by the log of `strace -f -y`. */
export interface FileUse {
  /** Files of ours that were opened: the package, its libraries and the home. */
  readonly opens: number;
  readonly flushes: number;
  /** Bytes that were written to files of the home. */
  readonly bytes: number;
}

/** The calls that {@link readFileUse} reads. */
export const TRACED = 'open,openat,openat2,fsync,fdatasync,write,pwrite64,writev,pwritev,pwritev2';

export const measureLog = (log: string): number => statSync(log).size;

/** Reads a log from an offset on. `folders`: where files count as ours. */
export function readFileUse(log: string, folders: readonly string[], offset = 0): FileUse {
  const text = readFileSync(log).subarray(offset).toString('latin1');
  /** Calls that were interrupted by those of another thread, by thread. */
  const unfinished = new Map<string, string>();
  const use = { opens: 0, flushes: 0, bytes: 0 };
  for (const line of text.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(thread, rest.replace(/\s*<unfinished \.\.\.>$/, ''));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const call = resumed === null ? rest : `${unfinished.get(thread) ?? ''}${resumed[1]}`;
    count(call, folders, use);
  }
  return use;
}

function count(call: string, folders: readonly string[], use: { opens: number; flushes: number; bytes: number }): void {
  const [, name = ''] = /^(\w+)\(/.exec(call) ?? [];
  const result = Number(/= (\d+)/.exec(call)?.[1] ?? -1);
  if (result < 0) return;
  const isOurs = (path: string | undefined): boolean =>
    path !== undefined && folders.some((folder) => path.startsWith(folder));
  if (name.startsWith('open')) {
    if (isOurs(/= \d+<([^>]*)>/.exec(call)?.[1])) use.opens += 1;
  } else if (name.endsWith('sync')) use.flushes += 1;
  else if (isOurs(/^\w+\(\d+<([^>]*)>/.exec(call)?.[1])) use.bytes += result;
}
