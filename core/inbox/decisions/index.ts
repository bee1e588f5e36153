export { LIMITS, PRESET, parseNewDecision, parseReply } from './check.ts';
export {
  type Decision,
  type DecisionOption,
  type DecisionReply,
  type NewDecision,
  type Outcome,
  URGENCIES,
} from './decision.ts';
export {
  type DecisionGates,
  type DecisionResult,
  type Decisions,
  type DecisionsOptions,
  openDecisions,
} from './decisions.ts';
export { toDecisionJson } from './json.ts';
export { createOpenDecisionLookup } from './open-decisions.ts';
export { findOptionLabel } from './outcome-item.ts';
export { type DecisionWaitResult, waitForDecision } from './wait.ts';
