export { GARDEN_SCHEMA } from './args.ts';
export { runGarden } from './run.ts';
