export {
  type Alert,
  type History,
  type HistoryFact,
  type HistoryReader,
  type HistoryState,
  type LastState,
  type Overview,
  type PersonaHistory,
  SLOTS,
  type SlotHistory,
  UPTIME_HOURS,
  type Uptime,
  type UptimeSpan,
} from './history.ts';
export { type HistoryOptions, openHistory } from './open-history.ts';
export { addUptimes } from './uptime.ts';
