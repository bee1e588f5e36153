export { createAtomically, sweepTemps, writeAtomically } from './atomic-write.ts';
export { crc32 } from './crc32.node.ts';
export {
  type Database,
  isDamage,
  laterTransaction,
  migrate,
  openDatabase,
  type Statement,
  transaction,
  type Value,
} from './database.node.ts';
export { currentFolder, ownDirs, ownHome, startFolder } from './dirs.node.ts';
export { type Dirs, dirsOf, type Surroundings } from './dirs.ts';
export { realDisk } from './disk.node.ts';
export type { Disk } from './disk.ts';
export { atOnceOrAfterInput, type GroupCommit, groupCommit, type Later } from './group-commit.node.ts';
export { errnoOf, ioFault, refusal } from './io-fault.ts';
export { kijitoEventsPaths, kijitoStatePaths } from './kijito-path.ts';
export { type Lock, type LockWay, lockFile } from './lock.node.ts';
export { type Locked, type LockedFile, openLocked } from './locked-file.node.ts';
export { isTemp, sweepOldTemps } from './old-temps.node.ts';
export { isLocked, lockOfOthers } from './others-lock.node.ts';
export type { SavedBaseline, SavedPin } from './pin-keys.ts';
export { ensurePrivateDir, syncDirectory } from './private-dir.ts';
export { readPrivate } from './read-private.ts';
export { findBadUtf8, readRegular, readText } from './read-regular.ts';
export { refuseWrites } from './refuse-writes.ts';
export { openDeletionLimit, openRetentionClock, type RetentionClock } from './retention-clock.ts';
export { type Opened, openForAppend, openForRead } from './safe-open.ts';
export { probeSpace } from './space.ts';
export { clearStamps, pendingDirOf, removeStamp, STAMP_IN_MAKING } from './stamps.node.ts';
export {
  type Json,
  openStateFile,
  type SavedWatch,
  type StateFile,
  type StateFileOptions,
  type StateRead,
} from './state-file.ts';
export { stemOf } from './stem.ts';
export {
  COPIED_HERE_BYTES,
  copyPathOf,
  copyStore,
  formatStoreReport,
  markSuspect,
  openStore,
  readStoreReport,
  type StoreReport,
  writeStoreReport,
} from './store.node.ts';
