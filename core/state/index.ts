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
  isUnusable,
  migrate,
  openDatabase,
  runLaterTransaction,
  runTransaction,
  type SqlValue,
  type Statement,
} from './database.node.ts';
export {
  computeDirs,
  type Dirs,
  findCacheHome,
  findCurrentFolder,
  findOwnDirs,
  findOwnHome,
  findWorkFolder,
  requireCurrentFolder,
  type Surroundings,
} from './dirs.node.ts';
export { createRealDisk, isTemp, sweepOldTemps } from './disk.node.ts';
export { type CommitSchedule, createCommitSchedule, createGroupCommit, type GroupCommit } from './group-commit.node.ts';
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
export { isFlocked, readLockTable } from './lock-table.node.ts';
export { refuseWrites } from './refuse-writes.ts';
export { openDeletionLimit, openRetentionClock, type RetentionClock } from './retention-clock.ts';
export {
  createRefusal,
  type Disk,
  findBadUtf8,
  getErrno,
  type OpenedFile,
  openForAppend,
  openForRead,
  readPrivate,
  readRegular,
  readText,
  toIoFault,
} from './safe-open.ts';
export { noteOwner, removeOwners, toOwnersDir } from './session-owners.node.ts';
export {
  type PeekedDatabase,
  type PeekOptions,
  peekSqlite,
  readDatabaseStamp,
  type SqlitePeek,
  toPeekAddress,
  toPeekFault,
} from './sqlite-peek.node.ts';
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
export { dismissWaiter, listWaitingSessions, ringWaiters, toWaitersDir } from './waiters.node.ts';
