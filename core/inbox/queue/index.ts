export {
  append,
  type EntryParseResult,
  formatEntryLine,
  parseEntry,
  type QueueEntry,
  type QueueMachine,
} from './entry.ts';
export {
  findStrayQueues,
  listQueueDirectories,
  type QueueSession,
  type TakeOverAllOptions,
  type TakeOverAllResult,
  takeOverAll,
  toQueuePath,
} from './queue-files.ts';
export { type Insert, type PersonaQueue, type TakeOverResult, takeOver } from './take-over.ts';
