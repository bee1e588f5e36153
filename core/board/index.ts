export { type Board, createBoard, toSnapshot } from './board.ts';
export type { Fact } from './fact.ts';
export { type BoardState, EMPTY_BOARD, fold } from './fold.ts';
export { followAgents } from './follow-agents.ts';
export { type ByPriority, PERSONA_REPORT, type PersonaReport, pickReport } from './persona-report.ts';
export {
  type CauseView,
  type DaemonView,
  type HiveView,
  isPressing,
  isSameValue,
  type MessagePreview,
  NOTHING_REPORTED,
  type OpenDecision,
  type OpenGate,
  type OpenPermission,
  type PersonaView,
  type ProjectView,
  type ReportedValues,
  type Snapshot,
  type Until,
} from './snapshot.ts';
