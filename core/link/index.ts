export { type AskResult, askDaemon, isListening } from './client.node.ts';
export {
  type DaemonConfig,
  type DaemonInstallation,
  formatDaemonConfig,
  LOCAL,
  loadInstalledDaemons,
  parseDaemonConfig,
  readDaemonConfig,
  readDaemonToken,
  writeDaemonConfig,
  writeDaemonToken,
} from './config.ts';
export {
  formatDoorbellLine,
  formatDrainCommand,
  formatInboxDrainCommand,
  formatWorkNotice,
  readWake,
  toWakeFile,
  writeWake,
} from './lines.ts';
export { readMachineId } from './machine-id.node.ts';
export { findOwnDaemonPlaces, readOwnSurroundings } from './places.node.ts';
export {
  computeDaemonPlaces,
  type DaemonName,
  type DaemonPlaces,
  type DaemonSurroundings,
  isSlug,
  LONGEST_SOCKET,
  PREFIX,
  toDaemonsDir,
  toJoinedName,
  toSlug,
} from './places.ts';
export {
  type Answers,
  type DaemonStatus,
  type Doorbell,
  ERROR_CLASSES,
  type ErrorClass,
  type Fsm,
  type LinkRefusal,
  type LinkRequest,
  type LinkVerb,
  MOST_DEADLINE_MS,
  type RingAnswer,
  type RingWhy,
  type Taxonomy,
  type Transition,
  TURN_BOUNDARY_KINDS,
  type TurnBoundary,
  type TurnBoundaryKind,
  VERBS,
} from './protocol.ts';
export { type ControlSocket, type Handlers, openControlSocket } from './server.node.ts';
