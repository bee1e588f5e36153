export { BUILT_INS, type GateTiming, isCheckedByHook, toGateTiming } from './built-ins.ts';
export { createGatesForDecisions, type GatesForDecisions, readGateOwners } from './decision-gates.ts';
export type { CheckAnswer, GateResult, GateVerdict, GitCheck, LetGoReason, Workplace } from './evaluate.ts';
export {
  type AgentToolCall,
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
  isGateCommand,
  isMatchingCall,
  type MarkProvenance,
  type Matcher,
  MODES,
  type Mode,
  NO_OPEN_DECISIONS,
  needsForce,
  type OpenDecisionLookup,
  type UnansweredDecision,
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
