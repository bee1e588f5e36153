import { Fault, type SourceId } from '../model/index.ts';
import { type Files, O } from '../ports/index.ts';

/** A disk on which nothing can be changed: all that a source which only watches may have of it. */
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
