/** What a hook needs where somebody keeps queue files, and only there. */
export { createTakeOver, LOCK_WAIT_MS } from '../queue-takeover.ts';
