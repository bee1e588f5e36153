import type { Attention, AttentionReason } from './attention.ts';
import type { Remark } from './health.ts';
import type { BoardSection } from './sections.ts';

/**
 * What every surface shows of a project, in plain values that are valid JSON. Texts come from anybody who writes to the store.
 * They are cut and hold no control characters, and every surface still has to escape them.
 */
export interface ProjectSheet {
  /** What has to be shown beside the numbers. */
  readonly remarks: readonly Remark[];
  /** The highest seq that was applied; null when the journal is off or empty. */
  readonly seq: number | null;
  /** When the last record was written, as its writer states it; null when it does not, or there is no record. */
  readonly ts: string | null;
  /** Null means unknown, not zero. */
  readonly counts: Readonly<Record<SheetCount, number | null>>;
  /** Null means unknown: the journal is off. */
  readonly attention: Attention | null;
  /** How many items make up the project's knowledge, by item type; null means unknown. */
  readonly system: Readonly<Record<string, number>> | null;
  /** Sorted by name. */
  readonly agents: readonly ProjectSheetAgent[];
  /** In the order of the protocol (observer protocol 6.2); empty while the journal is off. */
  readonly sections: readonly ProjectSheetSection[];
  /** Counts that do not come from the journal but from brainclaw's one answer (brainclaw contract 9). */
  readonly seeded: readonly SheetCount[];
}

export type SheetCount = 'plans' | 'claims' | 'assignments' | 'runs' | 'actions' | 'failedRuns' | 'agents' | 'sessions';

/** `recently-terminal` is shown below `in-progress`; `system` and `agents` are separate fields of the sheet. */
export type SheetSectionId = Exclude<BoardSection, 'system' | 'agents'> | 'recently-terminal';

export interface ProjectSheetSection {
  readonly id: SheetSectionId;
  /** How many items the section has. */
  readonly total: number;
  /** The first rows, or those of the requested page. */
  readonly rows: readonly ProjectSheetRow[];
  /** How many items follow that are left out. */
  readonly rest: number;
}

export interface ProjectSheetRow {
  /** `item_type:item_id`, or for an activity record `seq:` and its number. Unique in a section. */
  readonly key: string;
  readonly itemType: string;
  /** Null for an activity record that is about no item. */
  readonly id: string | null;
  /** Short and on one line; empty when the item has no text. */
  readonly title: string;
  /** The text beside the title, on one line, such as what an action asks. Null when there is none. */
  readonly text: string | null;
  /** The status of an item, or the action of an activity record. Empty when there is none. */
  readonly status: string;
  /** The agent it is about or addressed to; for an activity record the one who wrote it. Null for nobody. */
  readonly agent: string | null;
  /** Who wrote or sent it; null when unknown. */
  readonly from: string | null;
  /** UTC, as the writer states it; null when unknown. */
  readonly ts: string | null;
  /** The seq of the record that last changed it; null when it comes from a checkpoint. */
  readonly seq: number | null;
  /** In the attention section, why the item is listed; null in all others. */
  readonly why: AttentionReason | null;
}

/** An agent of a project. Null means unknown, because mail is switched off or the journal is off. */
export interface ProjectSheetAgent {
  /** The name of its inbox. */
  readonly agent: string;
  /** How many messages nobody has read. */
  readonly pending: number | null;
  /** How many messages ask for something. */
  readonly actionable: number | null;
  readonly open_handoffs: number | null;
  readonly assignments: number | null;
  readonly actions: number | null;
  /** How many files in its inbox are no messages; null when mail is switched off. */
  readonly skipped: number | null;
}
