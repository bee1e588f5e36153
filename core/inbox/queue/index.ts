export { append } from './append.ts';
export { type EntryParseResult, formatEntryLine, parseEntry, type QueueEntry } from './entry.ts';
export type { QueueMachine } from './machine.ts';
export { findStrayQueues, listQueueDirectories, type QueueSession, toQueuePath } from './queue-files.ts';
export { type Insert, type PersonaQueue, type TakeOverResult, takeOver } from './take-over.ts';
export { type TakeOverAllOptions, type TakeOverAllResult, takeOverAll } from './take-over-all.ts';
