export type { HistoryFact } from './fact.ts';
export {
  type Alert,
  type History,
  type HistoryReader,
  type Overview,
  type PersonaHistory,
  SLOTS,
  type SlotHistory,
} from './history.ts';
export { type HistoryOptions, openHistory } from './open-history.ts';
export type { HistoryState } from './point.ts';
