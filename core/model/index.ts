export {
  AGENT_STATE_NOT_REPORTED,
  type AgentDetails,
  type AgentReporter,
  type AgentReports,
  type AgentState,
  chooseAgentState,
  type DecisionReport,
  isFailure,
  isSameWait,
  type WaitReason,
} from './agent-state.ts';
export { FAULTS, Fault, type FaultCode, type Scope, toFault, toRemovedFolderFault } from './fault.ts';
export {
  addCounts,
  type Count,
  exactly,
  type Health,
  type HealthLabel,
  isSameCount,
  type PersonaCounts,
  toHealthLabel,
  UNKNOWN,
} from './health.ts';
export {
  foldName,
  isOwnId,
  isSameName,
  LOCAL_PREFIX,
  type OwnIds,
  type PersonaId,
  type SourceId,
} from './ids.ts';
export { formatIso, type Instant, parseIso, parseTimestamp } from './instant.ts';
export { checkJson, findStringEnd, JSON_LIMITS, type JsonLimits, JsonRefusal, LARGE_JSON, parseJson } from './json.ts';
export {
  type ChangeName,
  type Extra,
  findSpan,
  type KnownItem,
  type KnownSet,
  type MailName,
  mergeSpans,
  type Span,
} from './known-set.ts';
