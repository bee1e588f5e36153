export { type Board, createBoard } from './board.ts';
export { isSameValue } from './equality.ts';
export type { Fact } from './fact.ts';
export { type BoardState, EMPTY_BOARD, fold } from './fold.ts';
export type { MessagePreview } from './message-preview.ts';
export { type ByPriority, PERSONA_REPORT, type PersonaReport, pickReport } from './persona-report.ts';
export {
  type CauseView,
  type DaemonView,
  type HiveView,
  isPressing,
  NOTHING_REPORTED,
  type OpenDecision,
  type OpenGate,
  type PersonaView,
  type ProjectView,
  type ReportedValues,
  type Snapshot,
  type Until,
} from './snapshot.ts';
export { toSnapshot } from './to-snapshot.ts';
