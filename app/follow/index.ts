export { openFifo } from './fifo.node.ts';
export { type FollowEnd, followInbox } from './follow-inbox.ts';
export type { Hand } from './hand.ts';
export { handToFifo } from './hand-to-fifo.ts';
export { handToMonitor } from './hand-to-monitor.ts';
export { handToExec, handToTurn } from './hand-to-program.ts';
export { handToReader } from './hand-to-reader.ts';
export { readerIsGone } from './kernel.node.ts';
export { wakes } from './wakes.ts';
