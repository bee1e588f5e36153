export { createAtomically, sweepTemps, writeAtomically } from './atomic-write.ts';
export { crc32 } from './crc32.node.ts';
export {
  type Database,
  isDamage,
  migrate,
  openDatabase,
  runLaterTransaction,
  runTransaction,
  type SqlValue,
  type Statement,
} from './database.node.ts';
export { findCurrentFolder, findOwnDirs, findOwnHome, requireCurrentFolder } from './dirs.node.ts';
export { computeDirs, type Dirs, type Surroundings } from './dirs.ts';
export { createRealDisk } from './disk.node.ts';
export type { Disk } from './disk.ts';
export { type CommitSchedule, createCommitSchedule, createGroupCommit, type GroupCommit } from './group-commit.node.ts';
export { createRefusal, getErrno, toIoFault } from './io-fault.ts';
export type { JsonValue } from './json-value.ts';
export { computeEventsPaths, computeStatePaths } from './kijito-path.ts';
export { type Lock, type LockWay, lockFile } from './lock.node.ts';
export { type LockedFile, type LockResult, openLocked } from './locked-file.node.ts';
export { isTemp, sweepOldTemps } from './old-temps.node.ts';
export { isLocked, takeOthersLock } from './others-lock.node.ts';
export type { SavedBaseline, SavedPin } from './pin-keys.ts';
export { ensurePrivateDir, syncDirectory } from './private-dir.ts';
export { readPrivate } from './read-private.ts';
export { findBadUtf8, readRegular, readText } from './read-regular.ts';
export { refuseWrites } from './refuse-writes.ts';
export { openDeletionLimit, openRetentionClock, type RetentionClock } from './retention-clock.ts';
export { type OpenedFile, openForAppend, openForRead } from './safe-open.ts';
export { probeSpace } from './space.ts';
export { clearStamps, removeStamp, STAMP_IN_MAKING, toPendingDir } from './stamps.node.ts';
export {
  openStateFile,
  type SavedWatcherState,
  type StateFile,
  type StateFileOptions,
  type StateRead,
} from './state-file.ts';
export { toStem } from './stem.ts';
export {
  COPIED_HERE_BYTES,
  copyStore,
  formatStoreReport,
  markSuspect,
  openStore,
  readStoreReport,
  type StoreReport,
  toCopyPath,
  writeStoreReport,
} from './store.node.ts';
