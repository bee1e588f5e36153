export { append } from './append.ts';
export { type Entry, type EntryRead, entryOf, lineOf } from './entry.ts';
export type { QueueMachine } from './machine.ts';
export { type QueueSession, queueDirectories, queueOf, strayQueues } from './places.ts';
export { type Insert, type Queue, type TakenOver, takeOver } from './take-over.ts';
export { type AllTakenOver, type TakeOverAll, takeOverAll } from './take-over-all.ts';
