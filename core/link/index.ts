export { type DaemonConfig, daemonConfigText, isUpstream, LOCAL, parseDaemonConfig } from './config.ts';
export {
  type Installed,
  installedDaemons,
  readDaemonConfig,
  readDaemonToken,
  writeDaemonConfig,
  writeDaemonToken,
} from './config-file.ts';
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
  runtimeDir,
  slugOf,
} from './places.ts';
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
