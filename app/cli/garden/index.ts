export { runGarden } from './run.ts';
