export { type AnswerReading, parseAnswerInTurns } from './answer.ts';
export { createListDefects } from './defects.ts';
export { parseDirectory } from './directory.ts';
export { type HivePage, parsePage, parseRawMessages } from './page.ts';
export { parsePendingCounts } from './pending-counts.ts';
export { PAGE_BUDGET, toNewestMessages, toWindow, walkBack } from './walk.ts';
