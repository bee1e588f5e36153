export type { Click, Opener, Opens, OpenUrl } from './opener.ts';
export { isOurPage, pageOpener } from './page-opener.ts';
export type { OpenerSetting } from './plan.ts';
export { type Life, lifeOf, startKeyOf } from './process-life.node.ts';
export { type Announcement, type Pane, type Session, tmuxServerOf } from './session.ts';
export { type SessionOpenerNeeds, sessionOpener } from './session-opener.node.ts';
export { keptSessions, type Sessions } from './sessions.node.ts';
export { typeInto } from './tmux.node.ts';
export { urlOpener } from './url-opener.node.ts';
