/** What a hook needs where somebody keeps queue files, and only there. */
export { LOCK_WAIT_MS, queuesOf } from '../queues-of.ts';
