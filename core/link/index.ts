export type { Answers, LinkRefusal } from './answers.ts';
export { type AskResult, askDaemon, isListening } from './client.node.ts';
export { type DaemonConfig, formatDaemonConfig, LOCAL, parseDaemonConfig } from './config.ts';
export {
  type DaemonInstallation,
  loadInstalledDaemons,
  readDaemonConfig,
  readDaemonToken,
  writeDaemonConfig,
  writeDaemonToken,
} from './config-file.ts';
export type { Handlers } from './connection.node.ts';
export { formatDoorbellLine, formatDrainCommand, formatInboxDrainCommand, formatWorkNotice } from './doorbell-line.ts';
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
  type DaemonStatus,
  type Doorbell,
  ERROR_CLASSES,
  type ErrorClass,
  type Fsm,
  type LinkVerb,
  type RingAnswer,
  type RingWhy,
  type Taxonomy,
  type Transition,
  TURN_BOUNDARY_KINDS,
  type TurnBoundary,
  type TurnBoundaryKind,
  VERBS,
} from './protocol.ts';
export { type LinkRequest, MOST_DEADLINE_MS } from './request.ts';
export { type ControlSocket, openControlSocket } from './server.node.ts';
export { readWake, toWakeFile, writeWake } from './wake-file.ts';
