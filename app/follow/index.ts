export { isReaderGone, openFifo } from './fifo.node.ts';
export { type FollowEnd, type FollowOutput, followInbox, isWaking } from './follow-inbox.ts';
export {
  createExecOutput,
  createFifoOutput,
  createMonitorOutput,
  createReaderOutput,
  createTurnOutput,
} from './program-output.ts';
