export { answerHook } from './answer.ts';
