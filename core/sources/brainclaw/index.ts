export * from './act/index.ts';
export { PROJECT_ACTION_NAMES, type ProjectActionName, type ProjectActionRequest } from './action-schema.ts';
export { getActionClientOptions, resolveBrainclawPlaces } from './doctor.node.ts';
export { createActionsOffFault } from './open.ts';
export * from './read/index.ts';
export { createBrainclawSource } from './source.ts';
export {
  BOARD,
  type BrainclawOptions,
  type BrainclawSource,
  toSourceId,
} from './source-poll.ts';
