export {
  type ByPriority,
  isPressing,
  type LocalView,
  type OpenDecision,
  type OpenGate,
  sameDecisions,
} from './asked.ts';
export type { Board } from './board.ts';
export { createBoard } from './create-board.ts';
export type { DaemonView } from './daemon.ts';
export type { Fact, Until } from './fact.ts';
export { type BoardState, EMPTY_BOARD, fold } from './fold.ts';
export type { Letter } from './letter.ts';
export type { CauseView, HiveView, PersonaView, ProjectView, Seen, Snapshot } from './snapshot.ts';
export { view } from './view.ts';
