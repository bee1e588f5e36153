export { BRAINCLAW_SCHEMA } from './args.ts';
export { runBrainclaw } from './run.ts';
