import { dirname } from 'node:path';
import { type Files, O, type Stat } from '../../core/ports/index.ts';

/** One call that reached the fake, in order. */
export interface Call {
  readonly name: keyof Files;
  /** The path, or the path the descriptor was opened by. */
  readonly path: string;
}

/** Decides what happens to a call: nothing, an error of node:fs with this code, or a write of only so many bytes. */
export type Mishap =
  | { readonly is: 'fails'; readonly code: string }
  | { readonly is: 'writes'; readonly bytes: number };
export type Mishaps = (call: Call, index: number) => Mishap | null;

interface Node {
  kind: Stat['kind'];
  bytes: Buffer;
  /** What a power cut leaves of the bytes: those at the last sync of the file. */
  durable: Buffer;
  mode: number;
  uid: number;
  readonly ino: number;
  target: string | null;
}

/** A disk in memory that fails on request and forgets on a power cut what was never synced. POSIX rules, one user. */
export interface FakeFiles extends Files {
  readonly calls: readonly Call[];
  readonly openDescriptors: number;
  /** Replaces what goes wrong from now on. `index` counts the calls from here; those outside of `within` go well and do not count. */
  mishaps(plan: Mishaps | null, within?: string): void;
  /** Every file as it is now. */
  text(path: string): string | null;
  list(directory: string): string[];
  put(path: string, text: string, how?: { mode?: number; uid?: number; kind?: Stat['kind'] }): void;
  symlink(path: string, target: string): void;
  /** Descriptors are gone; names and bytes are those of the last directory and file sync. */
  powerCut(): void;
}

export const UID = 1000;

export function fakeFiles(): FakeFiles {
  const names = new Map<string, Node>();
  let durableNames = new Map<string, Node>();
  const open = new Map<number, { node: Node; path: string; flags: number }>();
  let calls: Call[] = [];
  let plan: Mishaps | null = null;
  let within = '';
  let nextFd = 100;
  let nextIno = 1;

  const newNode = (kind: Stat['kind'], mode: number, uid = UID): Node => {
    const empty = Buffer.alloc(0);
    return { kind, bytes: empty, durable: empty, mode, uid, ino: nextIno++, target: null };
  };
  for (const path of ['/', '/d']) names.set(path, newNode('directory', 0o700));
  durableNames = new Map(names);

  const findOpen = (fd: number): { node: Node; path: string; flags: number } => open.get(fd) ?? fail('EBADF', `${fd}`);
  const at = (path: string): Node => names.get(path) ?? fail('ENOENT', path);
  const stat = (n: Node): Stat => ({
    kind: n.kind,
    size: n.bytes.length,
    mode: n.mode,
    uid: n.uid,
    dev: 1,
    ino: n.ino,
    ctimeMs: 0,
  });

  /** Notes the call; returns how many bytes a write may write. */
  const meet = (name: keyof Files, path: string): number => {
    if (!path.startsWith(within)) return Number.POSITIVE_INFINITY;
    const call: Call = { name, path };
    calls.push(call);
    const mishap = plan?.(call, calls.length - 1) ?? null;
    if (mishap?.is === 'fails') fail(mishap.code, path);
    return mishap?.is === 'writes' ? mishap.bytes : Number.POSITIVE_INFINITY;
  };

  return {
    get calls() {
      return calls;
    },
    get openDescriptors() {
      return open.size;
    },
    mishaps(next, only = '') {
      plan = next;
      within = only;
      calls = [];
    },
    text: (path) => names.get(path)?.bytes.toString('utf8') ?? null,
    list: (directory) => [...names.keys()].filter((path) => path !== '/' && dirname(path) === directory).sort(),
    put(path, text, { mode = 0o600, uid = UID, kind = 'file' } = {}) {
      const node = newNode(kind, mode, uid);
      node.bytes = Buffer.from(text, 'utf8');
      node.durable = node.bytes;
      names.set(path, node);
      durableNames.set(path, node);
    },
    symlink(path, target) {
      const node = newNode('symlink', 0o777);
      node.target = target;
      names.set(path, node);
      durableNames.set(path, node);
    },
    powerCut() {
      open.clear();
      names.clear();
      for (const [path, node] of durableNames) {
        node.bytes = node.durable;
        names.set(path, node);
      }
    },

    open(path, flags, mode) {
      meet('open', path);
      let node = names.get(path);
      const has = (flag: number): boolean => flag !== 0 && (flags & flag) === flag;
      if (node?.kind === 'symlink') {
        if (has(O.NOFOLLOW) || has(O.EXCL)) fail(has(O.EXCL) ? 'EEXIST' : 'ELOOP', path);
        node = at(node.target ?? '');
      }
      if (node === undefined) {
        if (!has(O.CREAT)) fail('ENOENT', path);
        at(dirname(path));
        node = newNode('file', mode);
        names.set(path, node);
      } else {
        if (has(O.CREAT | O.EXCL)) fail('EEXIST', path);
        const writes = has(O.WRONLY) || has(O.RDWR);
        if (node.kind === 'directory' && writes) fail('EISDIR', path);
        if (node.kind !== 'directory' && has(O.DIRECTORY)) fail('ENOTDIR', path);
        if (has(O.TRUNC)) node.bytes = Buffer.alloc(0);
      }
      const fd = nextFd++;
      open.set(fd, { node, path, flags });
      return fd;
    },
    read(fd, into, position) {
      meet('read', findOpen(fd).path);
      return findOpen(fd).node.bytes.copy(into, 0, position, position + into.length);
    },
    write(fd, bytes) {
      const { node, path, flags } = findOpen(fd);
      const most = meet('write', path);
      if ((flags & (O.WRONLY | O.RDWR)) === 0) fail('EBADF', path);
      const part = bytes.subarray(0, Math.min(bytes.length, most));
      node.bytes = Buffer.concat([node.bytes, part]); // every writer here appends
      return part.length;
    },
    fstat(fd) {
      meet('fstat', findOpen(fd).path);
      return stat(findOpen(fd).node);
    },
    fchmod(fd, mode) {
      meet('fchmod', findOpen(fd).path);
      findOpen(fd).node.mode = mode;
    },
    ftruncate(fd, size) {
      const { node, path, flags } = findOpen(fd);
      meet('ftruncate', path);
      if ((flags & (O.WRONLY | O.RDWR)) === 0) fail('EINVAL', path);
      node.bytes = Buffer.concat([node.bytes.subarray(0, size), Buffer.alloc(Math.max(0, size - node.bytes.length))]);
    },
    fsync(fd) {
      const { node, path } = findOpen(fd);
      meet('fsync', path);
      if (node.kind !== 'directory') {
        node.durable = node.bytes;
        return;
      }
      const inside = (name: string): boolean => name !== path && dirname(name) === path;
      for (const name of [...durableNames.keys()].filter(inside)) durableNames.delete(name);
      for (const [name, child] of names) if (inside(name)) durableNames.set(name, child);
    },
    fdatasync(fd) {
      meet('fdatasync', findOpen(fd).path);
      findOpen(fd).node.durable = findOpen(fd).node.bytes;
    },
    close(fd) {
      const { path } = findOpen(fd);
      open.delete(fd); // also when it reports an error, as Linux does
      meet('close', path);
    },
    rename(from, to) {
      meet('rename', from);
      const node = at(from);
      if (names.get(to)?.kind === 'directory') fail('EISDIR', to);
      names.delete(from);
      names.set(to, node);
    },
    link(from, to) {
      meet('link', from);
      const node = at(from);
      at(dirname(to));
      if (names.has(to)) fail('EEXIST', to);
      names.set(to, node);
    },
    unlink(path) {
      meet('unlink', path);
      at(path);
      names.delete(path);
    },
    mkdirAll(path, mode) {
      meet('mkdirAll', path);
      const missing: string[] = [];
      for (let p = path; !names.has(p); p = dirname(p)) missing.unshift(p);
      for (const p of missing) names.set(p, newNode('directory', mode));
      for (const p of missing) durableNames.set(p, at(p)); // as journaling file systems do within seconds
    },
    readdir(path) {
      meet('readdir', path);
      at(path);
      return [...names.keys()]
        .filter((p) => p !== path && dirname(p) === path)
        .map((p) => p.slice(dirname(p).length + 1));
    },
    lstat(path) {
      meet('lstat', path);
      const node = names.get(path);
      return node === undefined ? null : stat(node);
    },
  };
}

function fail(code: string, path: string): never {
  throw Object.assign(new Error(`${code}: fake, '${path}'`), { code });
}
