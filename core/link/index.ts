export type { Answers, Refusal } from './answers.ts';
export { type Asked, askLink, isThere } from './ask.node.ts';
export { type DaemonConfig, daemonConfigText, LOCAL, parseDaemonConfig } from './config.ts';
export {
  type Installed,
  installedDaemons,
  readDaemonConfig,
  readDaemonToken,
  writeDaemonConfig,
  writeDaemonToken,
} from './config-file.ts';
export type { Handlers } from './conversation.node.ts';
export { doorbellLine, drainOf, inboxDrain, workWaits } from './doorbell-line.ts';
export { ownDaemonPlaces, ownSurroundings } from './places.node.ts';
export {
  type DaemonName,
  type DaemonPlaces,
  type DaemonSurroundings,
  daemonPlaces,
  daemonsDir,
  isSlug,
  joinedName,
  LONGEST_SOCKET,
  PREFIX,
  slugOf,
} from './places.ts';
export { type LinkRequest, MOST_DEADLINE_MS } from './request.ts';
export { type Link, openLink } from './server.node.ts';
export { noteWake, wakeAt, wakeFile } from './wake-file.ts';
export {
  BOUNDARY_KINDS,
  type Boundary,
  type BoundaryKind,
  type DaemonStatus,
  type Doorbell,
  ERROR_CLASSES,
  type ErrorClass,
  type Fsm,
  type RingAnswer,
  type RingWhy,
  type Taxonomy,
  type Transition,
  VERBS,
  type Verb,
} from './words.ts';
