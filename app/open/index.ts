export { checkOpener, checkUrl, type OpenerSetting } from './placeholders.ts';
export {
  checkLiveness,
  createLivenessCheck,
  isProcessGone,
  type ProcessLiveness,
  readStartKey,
} from './process-liveness.node.ts';
export { type Pane, parseTmuxServer, type Session, type SessionAnnouncement, type SessionProcess } from './session.ts';
export { createSessionOpener, type SessionOpenerNeeds } from './session-opener.node.ts';
export { openSessionStore, type SessionStore } from './session-store.node.ts';
export { finishWords, pasteWords, readPane } from './tmux.node.ts';
export {
  type Click,
  type ClickTarget,
  createPageOpener,
  createUrlOpener,
  isOurPage,
  type Opener,
  type OpenResult,
  type OpenUrl,
  openRedirectFiles,
  type RedirectFiles,
} from './url-opener.node.ts';
