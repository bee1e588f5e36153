export { openFifo } from './fifo.node.ts';
export { createFifoOutput } from './fifo-output.ts';
export { type FollowEnd, followInbox } from './follow-inbox.ts';
export type { FollowOutput } from './follow-output.ts';
export { isReaderGone } from './kernel.node.ts';
export { createMonitorOutput } from './monitor-output.ts';
export { createExecOutput, createTurnOutput } from './program-output.ts';
export { createReaderOutput } from './reader-output.ts';
export { isWaking } from './wake-rules.ts';
