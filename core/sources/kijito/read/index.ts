export { answerOf, type Reading } from './answer.ts';
export { rollOf } from './directory.ts';
export { levelsOf } from './levels.ts';
export { type Page, pageOf } from './page.ts';
export { PART, trimmedAll } from './row.ts';
export { PAGE_BUDGET, walkBack, windowOf } from './walk.ts';
