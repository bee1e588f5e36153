export type { Reading } from './answer.ts';
export { namesOf } from './directory.ts';
export { levelsOf } from './levels.ts';
export { type Page, pageOf } from './page.ts';
export { newestRows, PAGE_BUDGET, walkBack, windowOf } from './walk.ts';
