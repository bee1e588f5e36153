/** Code that hooks need only where persona daemons are installed. An agent waits for each file that a hook loads. */
export { createElsewhereCheck } from '../../hook/index.ts';
export { createBell, toTurnBoundaryKind } from './doorbell.ts';
export { ringAtTurnBoundary } from './doorbell-turn-boundary.ts';
