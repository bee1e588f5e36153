export { formatPendingCommand } from './commands.ts';
export {
  type DrainLease,
  type DrainNeeds,
  type DrainRequest,
  type DrainText,
  drain,
  lend,
  type TakeOver,
} from './drain.ts';
export { toHarmless, toHarmlessName } from './harmless-text.ts';
export { type DrainBlock, MAX_TEXT, MIN_TEXT, type RenderOptions, render } from './render.ts';
