import { Fault, type SourceId } from '../model/index.ts';
import { type Files, O } from '../ports/index.ts';

/** The file access of a source that only watches. Every call that would change something throws a Fault. */
export function toReadOnlyFiles(files: Files, source: SourceId): Files {
  const refuse = (): never => {
    throw new Fault('internal', 'a watched store is never written', { is: 'source', key: source });
  };
  const writes = O.WRONLY | O.RDWR | O.CREAT | O.TRUNC | O.APPEND;
  return {
    open: (path, flags, mode) => ((flags & writes) === 0 ? files.open(path, flags, mode) : refuse()),
    read: files.read,
    fstat: files.fstat,
    close: files.close,
    readdir: files.readdir,
    lstat: files.lstat,
    ...{ write: refuse, fchmod: refuse, ftruncate: refuse, fsync: refuse, fdatasync: refuse },
    ...{ rename: refuse, link: refuse, unlink: refuse, mkdirAll: refuse },
  };
}
