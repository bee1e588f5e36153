/** What a hook needs where persona daemons are installed, and only there: an agent waits for each file that it loads. */
export { listensElsewhere } from '../../hook/index.ts';
export { bellOf, boundaryAt } from './doorbell.ts';
export { rungBoundary } from './rung.ts';
