export {
  type Attention,
  type AttentionItem,
  type AttentionReason,
  countAttention,
  findAttentionItems,
  findAttentionReason,
  getStatus,
} from './attention.ts';
export { type BoardSlot, type BoardSummary, type ProjectCounts, toBoardSummary } from './board.ts';
export { type Base, type Bases, type RefusedBase, readBases, type SeedItem } from './checkpoint.ts';
export { CLASSES, type EventClass, findEventClass, isKnownAction } from './classes.ts';
export { parseConfig, readConfig, type StoreConfig } from './config.ts';
export { type Cursor, parseCursor, toRecordIdentity } from './cursor.ts';
export { findRemarks, type Remark } from './health.ts';
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
export type { Diagnosis, SkippedLine, Violation } from './ledger.ts';
export { MOST_LINE } from './lines.ts';
export type { AppliedRecord, JournalListener } from './listener.ts';
export { type AgentInbox, type AgentMailReader, type BadFile, createAgentMailReader, MOST_MESSAGE } from './mail.ts';
export { type AgentMessage, isActionable, isPending, type MessageRead, parseAgentMessage } from './message.ts';
export { type Meta, type MetaRead, readMeta } from './meta.ts';
export type {
  ProjectSheet,
  ProjectSheetAgent,
  ProjectSheetRow,
  ProjectSheetSection,
  SheetCount,
  SheetSectionId,
} from './project-sheet.ts';
export { type ActivityRecord, type Entity, MOST_ACTIVITY, type Projection, type RecordEffect } from './projection.ts';
export {
  assignIds,
  type FoundProject,
  findProjects,
  MOST_FOLDERS,
  type Project,
  type ProjectPlaces,
  type ProjectSearchResult,
  STORE,
  toSafeId,
} from './projects.ts';
export type { ReadFiles } from './read-files.ts';
export { type JournalRecord, type JsonFields, parseRecord, type RecordRead, type RecordRefusal } from './record.ts';
export { FAR, type JournalReplay } from './replay.ts';
export { type BoardSection, findSections } from './sections.ts';
export { parseSeed, type Seed } from './seed.ts';
export { type SheetSources, toProjectSheet } from './sheet.ts';
export { type AgentSources, toInboxName, toSheetAgents } from './sheet-agents.ts';
export { MOST_ROWS, type SheetPage } from './sheet-rows.ts';
