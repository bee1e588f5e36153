export {
  type DrainLease,
  type DrainNeeds,
  type DrainRequest,
  type DrainText,
  drain,
  lend,
  type TakeOver,
} from './drain.ts';
export {
  type DrainBlock,
  formatPendingCommand,
  MAX_TEXT,
  MIN_TEXT,
  type RenderOptions,
  render,
  toHarmless,
  toHarmlessName,
} from './render.ts';
