export { runBrainclaw } from './run.ts';
