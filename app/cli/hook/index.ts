export { answerHook } from './run.ts';
