export { createDaemonHandle, type DaemonHandle, findHolderPid, isHeld } from './daemon-holder.node.ts';
export type { DaemonService } from './daemon-service.ts';
export { type DaemonEnd, endDaemon } from './end-daemon.ts';
export {
  createHeadlessService,
  type HeadlessNeeds,
  type HeadlessService,
  type HeadlessStatus,
} from './headless-service.ts';
export { HEADLESS_LABEL, HEADLESS_LOG, HEADLESS_UNIT } from './headless-units.ts';
export { createLoginStart, type LoginNeeds, type LoginStart, type LoginStartStatus } from './login-start.ts';
export {
  createOwnDaemonService,
  createOwnHeadlessService,
  createOwnLoginStart,
  getOwnStart,
  type LoginMachine,
} from './own.node.ts';
