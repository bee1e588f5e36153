export {
  AGENT_STATE_NOT_REPORTED,
  type AgentState,
  type AgentStateReason,
  type CitizenReason,
  type DaemonReason,
  type ProjectReason,
} from './agent-state.ts';
export { addCounts, type Count, exactly, isSameCount, UNKNOWN } from './count.ts';
export { FAULTS, Fault, type FaultCode, type Scope, toFault, toRemovedFolderFault } from './fault.ts';
export { type Health, type HealthLabel, toHealthLabel } from './health.ts';
export { LOCAL_PREFIX, type PersonaId, type SourceId } from './ids.ts';
export { formatIso, type Instant, parseIso, parseTimestamp } from './instant.ts';
export { checkJson, findStringEnd, JSON_LIMITS, type JsonLimits, JsonRefusal, LARGE_JSON, parseJson } from './json.ts';
export type { ChangeName, Extra, KnownItem, KnownSet, MailName } from './known-set.ts';
export { foldName, isSameName } from './name.ts';
export { findSpan, mergeSpans, type Span } from './span.ts';
