export {
  type Attention,
  type AttentionItem,
  attentionItems,
  attentionOf,
  statusOf,
  type Why,
  whyOf,
} from './attention.ts';
export { type Board, boardOf, type Counts, type Slot } from './board.ts';
export { type Base, type Bases, basesIn, type RefusedBase, type SeedItem } from './checkpoint.ts';
export { CLASSES, classOf, type EventClass, isKnownAction } from './classes.ts';
export { configOf, readConfig, type StoreConfig } from './config.ts';
export { type Cursor, cursorIn, identityOf } from './cursor.ts';
export { type Remark, remarksOn } from './health.ts';
export { type At, type Cases, type Inspected, type RevisionBreak, startInspection } from './inspection.ts';
export {
  type Journal,
  type JournalOptions,
  keepJournal,
  type Refresh,
  type Restart,
  type SegmentView,
  type View,
} from './journal.ts';
export type { Diagnosis, Skipped, Violation } from './ledger.ts';
export { MOST_LINE } from './lines.ts';
export type { Applied, JournalListener } from './listener.ts';
export { type AgentInbox, type AgentMail, type BadFile, keepAgentMail, MOST_MESSAGE } from './mail.ts';
export { type AgentMessage, isActionable, isPending, type MessageRead, messageOf } from './message.ts';
export { type Meta, type MetaRead, readMeta } from './meta.ts';
export { type Activity, type Effect, type Entity, MOST_ACTIVITY, type Projection } from './projection.ts';
export {
  distinctIds,
  type FoundProject,
  type FoundProjects,
  findProjects,
  MOST_FOLDERS,
  type Project,
  type ProjectPlaces,
  STORE,
  safeId,
} from './projects.ts';
export { type Fields, type JournalRecord, type RecordRead, type Refusal, recordOf } from './record.ts';
export { FAR, type Replay } from './replay.ts';
export { type Section, sectionsOf } from './sections.ts';
export { type Seed, seedOf } from './seed.ts';
export {
  type Sheet,
  type SheetAgent,
  type SheetCount,
  type SheetRow,
  type SheetSection,
  type SheetSectionId,
  type SheetSources,
  sheetOf,
} from './sheet.ts';
export { type AgentSources, agentsOf, inboxNameOf } from './sheet-agents.ts';
export { MOST_ROWS, type SheetPage } from './sheet-rows.ts';
export type { ReadFiles } from './shelf.ts';
