export {
  type Attention,
  type AttentionItem,
  type AttentionReason,
  type BoardSection,
  countAttention,
  findAttentionItems,
  findAttentionReason,
  findSections,
  getStatus,
} from './attention.ts';
export {
  type Base,
  type Bases,
  type Cursor,
  parseCursor,
  type RefusedBase,
  readBases,
  type SeedItem,
  toRecordIdentity,
} from './checkpoint.ts';
export {
  type Cases,
  type InspectionReport,
  type RecordPosition,
  type RevisionBreak,
  startInspection,
} from './inspection.ts';
export {
  createJournalReader,
  type JournalReader,
  type JournalReaderOptions,
  type JournalView,
  type RefreshResult,
  type ReplayReason,
  type SegmentView,
} from './journal.ts';
export type { AppliedRecord, Diagnosis, JournalListener, SkippedLine, Violation } from './ledger.ts';
export {
  type AgentInbox,
  type AgentMailReader,
  type AgentMessage,
  type BadFile,
  createAgentMailReader,
  isActionable,
  isPending,
  type MessageRead,
  MOST_MESSAGE,
  parseAgentMessage,
} from './mail.ts';
export {
  type ActivityRecord,
  CLASSES,
  type Entity,
  type EventClass,
  findEventClass,
  isKnownAction,
  MOST_ACTIVITY,
  type Projection,
  type RecordEffect,
} from './projection.ts';
export {
  assignIds,
  type FoundProject,
  findProjects,
  MOST_FOLDERS,
  type Project,
  type ProjectPlaces,
  type ProjectSearchResult,
  parseConfig,
  readConfig,
  STORE,
  type StoreConfig,
  toSafeId,
} from './projects.ts';
export type { ReadFiles } from './read-files.ts';
export {
  type JournalRecord,
  type JsonFields,
  type Meta,
  type MetaRead,
  parseRecord,
  type RecordRead,
  type RecordRefusal,
  readMeta,
} from './record.ts';
export { FAR, type JournalReplay, MOST_LINE } from './replay.ts';
export {
  type AgentSources,
  type BoardSlot,
  type BoardSummary,
  type ProjectCounts,
  parseSeed,
  type Seed,
  type SheetSources,
  toBoardSummary,
  toInboxName,
  toProjectSheet,
  toSheetAgents,
} from './sheet.ts';
export {
  findRemarks,
  MOST_ROWS,
  type ProjectSheet,
  type ProjectSheetAgent,
  type ProjectSheetRow,
  type ProjectSheetSection,
  type Remark,
  type SheetCount,
  type SheetPage,
  type SheetSectionId,
} from './sheet-rows.ts';
