export { type Count, exactly, sameCount, sumOf, UNKNOWN } from './count.ts';
export { FAULTS, Fault, type FaultCode, faultOf, removedFolderFault, type Scope } from './fault.ts';
export type { PersonaId, SourceId } from './ids.ts';
export { type Instant, instantOfIso, isoOf, parseTimestamp } from './instant.ts';
export { checkJson, findStringEnd, JSON_LIMITS, type JsonLimits, JsonRefusal, LARGE_JSON, parseJson } from './json.ts';
export type { ChangeName, Extra, Known, KnownSet, MailName } from './known.ts';
export { foldedName, sameName } from './name.ts';
export { type Reach, type Standing, standing } from './reach.ts';
export { type PrefixedSource, RESERVED_PREFIXES, SOURCE_PREFIXES } from './source-prefix.ts';
export { merged, type Span, spanAround } from './span.ts';
export {
  type CitizenReason,
  type DaemonReason,
  type ProjectReason,
  VITAL_NOT_REPORTED,
  type Vital,
  type VitalReason,
} from './vital.ts';
