export {
  createAtomically,
  ensurePrivateDir,
  probeSpace,
  sweepTemps,
  syncDirectory,
  writeAtomically,
} from './atomic-write.ts';
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
export { findCurrentFolder, findOwnDirs, findOwnHome, findWorkFolder, requireCurrentFolder } from './dirs.node.ts';
export { computeDirs, type Dirs, type Surroundings } from './dirs.ts';
export { createRealDisk } from './disk.node.ts';
export { type CommitSchedule, createCommitSchedule, createGroupCommit, type GroupCommit } from './group-commit.node.ts';
export { createRefusal, getErrno, toIoFault } from './io-fault.ts';
export {
  isLocked,
  type Lock,
  type LockedFile,
  type LockResult,
  type LockWay,
  lockFile,
  openLocked,
  takeOthersLock,
} from './lock.node.ts';
export { isTemp, sweepOldTemps } from './old-temps.node.ts';
export { refuseWrites } from './refuse-writes.ts';
export { openDeletionLimit, openRetentionClock, type RetentionClock } from './retention-clock.ts';
export {
  type Disk,
  findBadUtf8,
  type OpenedFile,
  openForAppend,
  openForRead,
  readPrivate,
  readRegular,
  readText,
} from './safe-open.ts';
export { clearStamps, removeStamp, STAMP_IN_MAKING, toPendingDir } from './stamps.node.ts';
export {
  type JsonValue,
  openStateFile,
  type SavedBaseline,
  type SavedPin,
  type SavedWatcherState,
  type StateFile,
  type StateFileOptions,
  type StateRead,
} from './state-file.ts';
export { computeEventsPaths, computeStatePaths, toStem } from './stem.ts';
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
