export { createDaemonHandle, type DaemonHandle, findHolderPid, isHeld } from './daemon-holder.node.ts';
export { type DaemonEnd, type DaemonService, endDaemon } from './daemon-service.ts';
export {
  createHeadlessService,
  HEADLESS_LABEL,
  HEADLESS_LOG,
  HEADLESS_UNIT,
  type HeadlessNeeds,
  type HeadlessService,
  type HeadlessStatus,
} from './headless-service.ts';
export { removeLauncher } from './launcher.ts';
export {
  createLoginStart,
  type LoginNeeds,
  type LoginStart,
  type LoginStartStatus,
  type LoginSupervisor,
} from './login-start.ts';
export {
  createOwnDaemonService,
  createOwnHeadlessService,
  createOwnLoginStart,
  getOwnStart,
  type LoginMachine,
} from './own.node.ts';
