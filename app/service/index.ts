export { holderOf, holderPid, isHeld, type Target } from './daemon-holder.node.ts';
export type { DaemonService } from './daemon-service.ts';
export { type DaemonEnd, endDaemon } from './end-daemon.ts';
export { createHeadlessService, type HeadlessLook, type HeadlessNeeds, type HeadlessService } from './headless.ts';
export { HEADLESS_LABEL, HEADLESS_LOG, HEADLESS_UNIT } from './headless-units.ts';
export { createLoginStart, type LoginLook, type LoginNeeds, type LoginStart } from './login-start.ts';
export { daemonService, headlessService, type LoginMachine, loginStart, ownStart } from './own.node.ts';
