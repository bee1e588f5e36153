/** What a hook needs where persona daemons are installed, and only there: an agent waits for each file that it loads. */
export { createElsewhereCheck } from '../../hook/index.ts';
export { createBell, toBoundaryKind } from './doorbell.ts';
export { ringAtBoundary } from './doorbell-boundary.ts';
