export { pendingCommand } from './commands.ts';
export {
  type Drained,
  type DrainNeeds,
  type DrainRequest,
  drain,
  type Lent,
  lend,
  type TakeOver,
} from './drain.ts';
export { harmless, harmlessName } from './harmless.ts';
export { MAX_TEXT, MIN_TEXT, type Rendered, type RenderOptions, render } from './render.ts';
