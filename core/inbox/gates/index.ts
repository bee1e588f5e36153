export { BUILT_INS, type GateTiming, isCheckedByHook, toGateTiming } from './built-ins.ts';
export type { GitCheck, Workplace } from './checks.ts';
export { createGatesForDecisions, type GatesForDecisions } from './decision-gates.ts';
export type { CheckAnswer, GateResult, GateVerdict, LetGoReason } from './evaluate.ts';
export {
  type Asker,
  CHECKS,
  type CheckName,
  DECISION,
  DECISION_WAITING,
  explainInvalidId,
  findHook,
  findTerminal,
  type Gate,
  type GateMark,
  type GateState,
  HOOKS,
  type Hook,
  holds,
  type MarkProvenance,
  MODES,
  type Mode,
  needsForce,
} from './gate.ts';
export type { AllGates, OddGateFile } from './gate-files.ts';
export {
  type CheckRequest,
  type GateMarkRequest,
  type GateStatus,
  type Gates,
  type GatesOptions,
  openGates,
} from './gates.ts';
export { createGitCheck } from './git.node.ts';
export { type AgentToolCall, isGateCommand, isMatchingCall, type Matcher } from './matcher.ts';
export { NO_OPEN_DECISIONS, type OpenDecisionLookup, type UnansweredDecision } from './open-decisions.ts';
export { readGateOwners } from './owners.ts';
