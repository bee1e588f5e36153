export type { Board } from './board.ts';
export { createBoard } from './create-board.ts';
export type { DaemonView } from './daemon-view.ts';
export type { Fact, Until } from './fact.ts';
export { type BoardState, EMPTY_BOARD, fold } from './fold.ts';
export type { MessagePreview } from './message-preview.ts';
export {
  areSameDecisions,
  type ByPriority,
  isPressing,
  type LocalView,
  type OpenDecision,
  type OpenGate,
} from './open-decisions.ts';
export type { CauseView, DatedValue, HiveView, PersonaView, ProjectView, Snapshot } from './snapshot.ts';
export { toSnapshot } from './to-snapshot.ts';
