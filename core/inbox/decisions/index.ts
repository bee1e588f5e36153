export {
  type Decision,
  type DecisionOption,
  type DecisionReply,
  findOptionLabel,
  type NewDecision,
  type Outcome,
  toDecisionJson,
  URGENCIES,
} from './decision.ts';
export {
  type DecisionGates,
  type DecisionResult,
  type Decisions,
  type DecisionsOptions,
  openDecisions,
} from './decisions.ts';
export { createOpenDecisionLookup } from './rows.ts';
export { LIMITS, PRESET, parseNewDecision, parseReply } from './validation.ts';
export { type DecisionWaitResult, waitForDecision } from './wait.ts';
