/** Code that hooks need only where queue files are used. */
export { createTakeOver, LOCK_WAIT_MS } from '../queue-takeover.ts';
