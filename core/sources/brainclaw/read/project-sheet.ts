import type { Attention, AttentionReason } from './attention.ts';
import type { Remark } from './health.ts';
import type { BoardSection } from './sections.ts';

/**
 * What every surface shows of a project: plain values, so that they are JSON as they are. Texts come from whoever writes
 * to the store: they are cut and hold no control characters, and are still to be escaped for where they are shown.
 */
export interface ProjectSheet {
  /** What must be said beside the numbers. */
  readonly remarks: readonly Remark[];
  /** The highest seq that was applied; null: the journal is off, or empty. */
  readonly seq: number | null;
  /** When the last record was written, as its writer says; null: it does not say, or there is none. */
  readonly ts: string | null;
  /** Null: not known, which is not none. */
  readonly counts: Readonly<Record<SheetCount, number | null>>;
  /** Null: not known, since the journal is off and nobody was asked. */
  readonly attention: Attention | null;
  /** How many there are of what makes up the project's knowledge, by item type; null: not known. */
  readonly system: Readonly<Record<string, number>> | null;
  /** By name. */
  readonly agents: readonly ProjectSheetAgent[];
  /** In the order of the protocol (observer protocol 6.2); none while the journal is off and nobody was asked. */
  readonly sections: readonly ProjectSheetSection[];
  /** What does not come from the journal but was asked of brainclaw, once (brainclaw contract 9). */
  readonly seeded: readonly SheetCount[];
}

export type SheetCount = 'plans' | 'claims' | 'assignments' | 'runs' | 'actions' | 'failedRuns' | 'agents' | 'sessions';

/** `recently-terminal` stands below `in-progress`; `system` and `agents` are values of their own. */
export type SheetSectionId = Exclude<BoardSection, 'system' | 'agents'> | 'recently-terminal';

export interface ProjectSheetSection {
  readonly id: SheetSectionId;
  /** Items there are. */
  readonly total: number;
  /** The first of them. */
  readonly rows: readonly ProjectSheetRow[];
  /** Those that are left out. */
  readonly rest: number;
}

export interface ProjectSheetRow {
  /** `item_type:item_id`, and of a record of the activity `seq:` and its number: unique in a section. */
  readonly key: string;
  readonly itemType: string;
  /** Null: a record of the activity is about no item. */
  readonly id: string | null;
  /** Short, and one line; empty when the item has no text. */
  readonly title: string;
  /** What it says beside its title, on one line: what an action asks. Null: nothing. */
  readonly text: string | null;
  /** Of an item its status; of a record of the activity its action. Empty: it says none. */
  readonly status: string;
  /** Whom it is about or addressed to; of a record of the activity who wrote it. Null: nobody. */
  readonly agent: string | null;
  /** Who wrote it or sent it; null: not said. */
  readonly from: string | null;
  /** UTC as the writer says it; null: not said. */
  readonly ts: string | null;
  /** Of the record that made it what it is; null: it comes from a checkpoint, or from a seed. */
  readonly seq: number | null;
  /** In the section of attention, why it is there; null in all others. */
  readonly why: AttentionReason | null;
}

/** An agent of a project. Null: not known, since mail is switched off or the journal is. */
export interface ProjectSheetAgent {
  /** As its inbox is called. */
  readonly agent: string;
  /** Messages that nobody has read. */
  readonly pending: number | null;
  /** Messages that ask for something. */
  readonly actionable: number | null;
  readonly open_handoffs: number | null;
  readonly assignments: number | null;
  readonly actions: number | null;
  /** Files in its inbox that are no messages; null: mail is switched off. */
  readonly skipped: number | null;
}
