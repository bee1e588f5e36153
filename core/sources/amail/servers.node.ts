import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';

/** A process that listens on a TCP port and works on a store. */
export interface MailProcess {
  readonly pid: number;
  readonly listens: boolean;
}

/**
 * Lists the processes of this user that work on a store: they have a file below it open, or were started with it as STORAGE_ROOT.
 * Null where the system has no `/proc`.
 * @param database it may lie elsewhere
 */
export function listMailProcesses(store: string, database: string, proc = '/proc'): readonly MailProcess[] | null {
  const sockets = listListeningSockets(proc);
  if (sockets === null) return null;
  const found: MailProcess[] = [];
  for (const name of readdirSync(proc)) {
    if (!/^[1-9]\d*$/.test(name) || Number(name) === process.pid) continue;
    const links = listOpenFiles(`${proc}/${name}/fd`);
    const holds = links.some((path) => path.startsWith(store + sep) || path.startsWith(database));
    if (!holds && readVariable(`${proc}/${name}/environ`, 'STORAGE_ROOT') !== store) continue;
    found.push({ pid: Number(name), listens: links.some((path) => sockets.has(path)) });
  }
  return found;
}

/** The sockets that listen on TCP, as the links of open files name them: `socket:[INODE]`. */
function listListeningSockets(proc: string): ReadonlySet<string> | null {
  const sockets = new Set<string>();
  let isKnown = false;
  for (const table of ['tcp', 'tcp6']) {
    const text = readOwn(`${proc}/net/${table}`);
    if (text === null) continue;
    isKnown = true;
    for (const line of text.split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      if (fields[3] === '0A') sockets.add(`socket:[${fields[9]}]`);
    }
  }
  return isKnown ? sockets : null;
}

function listOpenFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory).flatMap((fd) => {
      try {
        return [readlinkSync(`${directory}/${fd}`)];
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return []; // it ended, or is another user's
  }
}

function readVariable(path: string, name: string): string | null {
  const entry = readOwn(path)
    ?.split('\0')
    .find((text) => text.startsWith(`${name}=`));
  return entry?.slice(name.length + 1) ?? null;
}

function readOwn(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // it ended, or is another user's
  }
}
