export {
  checkHooks,
  createElsewhereCheck,
  findDeafness,
  findDistrust,
  findHookTrouble,
  findPersonaDaemons,
  type HookCheck,
  hasRunningDaemon,
  isInstalled,
  isReadable,
} from './daemon-hooks.ts';
export {
  createSessionFinder,
  findPersonaOfSession,
  handOverEnded,
  listPersonaForms,
  type SessionHandover,
  toNamedSessions,
} from './ended-sessions.ts';
export { BACKUP } from './harness-settings-file.node.ts';
export type { HookInstaller, HookScope, HookStatus } from './hook-installer.ts';
export { refuseMisspelled } from './misspelled.ts';
export { formatWakeWords, isFollowed, openNudgeClaims } from './nudge-claims.ts';
export { createNudger, type NudgerNeeds, type NudgeWays } from './nudger.ts';
export { createHookInstaller } from './own-installer.node.ts';
export { createPendingStamper, type StamperNeeds } from './pending-stamper.ts';
export {
  CONTINUED,
  followPrompts,
  getActivityDir,
  isPrompted,
  noteActivity,
  readActivity,
  readHarnessState,
} from './prompts.node.ts';
export { HARNESSES, type HarnessName, RECIPES } from './recipe.ts';
export { PROBE, PROBE_ANSWER } from './script.ts';
export {
  isPromptOpen,
  openSessionReports,
  reportAnswered,
  reportSession,
  type SessionReports,
  watchSessionReports,
} from './session-reports.node.ts';
export { findQuietMoments, PASSABLE, type Passable, type PendingWork } from './stamp-text.ts';
export {
  type InboxLocation,
  isWaiterAllowed,
  locateInbox,
  noteChanged,
  openWakeStore,
  type StampFacts,
  type StampPlace,
  type StampResult,
  stampPending,
  type WakeStore,
  watchChanged,
} from './stamps.node.ts';
export { type NudgeResult, WAKE_WAYS, type WakeWay } from './wake-ways.ts';
