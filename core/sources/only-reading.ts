import { Fault, type SourceId } from '../model/index.ts';
import { type Files, O } from '../ports/index.ts';

/** A disk on which nothing can be changed: all that a source which only watches may have of it. */
export function onlyReading(files: Files, source: SourceId): Files {
  const refused = (): never => {
    throw new Fault('internal', 'a watched store is never written', { is: 'source', key: source });
  };
  const writes = O.WRONLY | O.RDWR | O.CREAT | O.TRUNC | O.APPEND;
  return {
    open: (path, flags, mode) => ((flags & writes) === 0 ? files.open(path, flags, mode) : refused()),
    read: files.read,
    fstat: files.fstat,
    close: files.close,
    readdir: files.readdir,
    lstat: files.lstat,
    ...{ write: refused, fchmod: refused, ftruncate: refused, fsync: refused, fdatasync: refused },
    ...{ rename: refused, link: refused, unlink: refused, mkdirAll: refused },
  };
}
