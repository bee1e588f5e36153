export {
  type DrainLease,
  type DrainNeeds,
  type DrainRequest,
  type DrainText,
  drain,
  LEASE_MS,
  lend,
  MOST_ITEMS,
  selectFitting,
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
