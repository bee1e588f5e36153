export { askedIn } from './asked.ts';
export { LIMITS, newDecisionOf, PRESET, replyOf } from './check.ts';
export {
  type Decision,
  type NewDecision,
  type Option,
  type Outcome,
  type Reply,
  URGENCIES,
} from './decision.ts';
export { type DecisionGates, type Decisions, type DecisionsOptions, type Done, openDecisions } from './decisions.ts';
export { decisionJson } from './json.ts';
export { labelOf } from './told.ts';
export { type Waited, waitForDecision } from './wait.ts';
