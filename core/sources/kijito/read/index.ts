export { type AnswerReading, type HivePage, parseAnswerInTurns, parsePage, parseRawMessages } from './page.ts';
export { createListDefects, parseDirectory, parsePendingCounts } from './pending-counts.ts';
export { PAGE_BUDGET, toNewestMessages, toWindow, walkBack } from './walk.ts';
