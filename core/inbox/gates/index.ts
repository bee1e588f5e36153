export { type Asked, type LookAtAsked, NOTHING_ASKED } from './asked.ts';
export { BUILT_INS, isAsked, type When, whenOf } from './built-ins.ts';
export type { LookAtGit, Place } from './checks.ts';
export type { CheckAnswer, LetGo, Result, Verdict } from './evaluate.ts';
export { type GatesForDecisions, gatesForDecisions } from './for-decisions.ts';
export {
  type Asker,
  CHECKS,
  type CheckName,
  DECISION,
  DECISION_WAITING,
  type Gate,
  HOOKS,
  type Hook,
  holds,
  hookNamed,
  type Mark,
  MODES,
  type Mode,
  needsForce,
  type Provenance,
  type Standing,
  terminalOf,
  whyNoId,
} from './gate.ts';
export type { AllGates, Odd } from './gate-files.ts';
export { type CheckRequest, type Gates, type GatesOptions, type MarkRequest, openGates, type Stand } from './gates.ts';
export { realGit } from './git.node.ts';
export { type Matcher, matchesCall, settlesGates, type ToolCall } from './matcher.ts';
export { gateOwners } from './owners.ts';
