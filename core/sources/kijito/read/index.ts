export { answerOf, type Reading } from './answer.ts';
export { createListDefects } from './defects.ts';
export { rollOf } from './directory.ts';
export { levelsOf } from './levels.ts';
export { type Page, pageOf, rowsOf } from './page.ts';
export { newestRows, PAGE_BUDGET, walkBack, windowOf } from './walk.ts';
