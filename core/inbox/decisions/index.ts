export {
  type Decision,
  type DecisionOption,
  type DecisionReply,
  findOptionLabel,
  LIMITS,
  type NewDecision,
  type Outcome,
  PRESET,
  parseNewDecision,
  parseReply,
  toDecisionJson,
  URGENCIES,
} from './decision.ts';
export { CANCEL_FIELDS, DECISION_FIELDS, parseTimeout, toNewDecision } from './decision-fields.ts';
export {
  type DecisionGates,
  type DecisionResult,
  type Decisions,
  type DecisionsOptions,
  type DecisionWaitResult,
  openDecisions,
  waitForDecision,
} from './decisions.ts';
export { createOpenDecisionLookup, openDecisionCounter, removeDecisions } from './rows.ts';
