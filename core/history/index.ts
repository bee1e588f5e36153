export {
  type Alert,
  type History,
  type HistoryFact,
  type HistoryReader,
  type HistoryState,
  type Overview,
  type PersonaHistory,
  SLOTS,
  type SlotHistory,
} from './history.ts';
export { type HistoryOptions, openHistory } from './open-history.ts';
