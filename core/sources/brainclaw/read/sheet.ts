import { type BoardSummary, toBoardSummary } from './board.ts';
import { findRemarks } from './health.ts';
import type { JournalView } from './journal.ts';
import type { AgentInbox } from './mail.ts';
import type { ProjectSheet, SheetCount } from './project-sheet.ts';
import type { Seed } from './seed.ts';
import { toSheetAgents } from './sheet-agents.ts';
import { type SheetPage, toSections } from './sheet-rows.ts';

export interface SheetSources {
  /** Null: the journal is off. */
  readonly view: JournalView | null;
  /** Null: mail is switched off. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
  /** Null when nobody was asked, or nobody answered. */
  readonly seed: Seed | null;
  /** One page of one section. Absent: the first rows of each section. */
  readonly page?: SheetPage;
}

const COUNTS = ['plans', 'claims', 'assignments', 'runs', 'actions', 'failedRuns', 'agents', 'sessions'] as const;
/** The journal never holds these. */
const NEVER_JOURNALED: ReadonlySet<SheetCount> = new Set<SheetCount>(['agents', 'sessions']);
/** These are correct in a journal that holds every registry item, and too low in any other. */
const REGISTRY_COUNTS: ReadonlySet<SheetCount> = new Set<SheetCount>([
  ...(['claims', 'assignments', 'runs', 'actions', 'failedRuns'] as const),
]);
const KNOWLEDGE = ['plan', 'handoff', 'constraint', 'decision', 'trap'] as const;

/**
 * Builds the sheet of a project from what was read. It is pure. Numbers come from the journal wherever the journal can be
 * trusted.
 */
export function toProjectSheet({ view, mail, seed, page }: SheetSources): ProjectSheet {
  const projection = view?.replay.projection ?? null;
  const board = projection === null ? null : toBoardSummary(projection);
  const counts = toSheetCounts(board, seed);
  return {
    remarks: findRemarks(view),
    seq: view?.replay.cursor?.seq ?? null,
    ts: view?.replay.head?.record.ts ?? null,
    counts: Object.fromEntries(counts.map(({ name, value }) => [name, value])) as ProjectSheet['counts'],
    attention: board?.attention_required ?? null,
    system: board && Object.fromEntries(KNOWLEDGE.map((itemType) => [itemType, board.byType[itemType] ?? 0])),
    agents: toSheetAgents({ board, mail }),
    sections: projection === null ? [] : toSections(projection, page),
    seeded: counts.filter(({ isSeeded }) => isSeeded).map(({ name }) => name),
  };
}

interface SheetCountValue {
  readonly name: SheetCount;
  readonly value: number | null;
  readonly isSeeded: boolean;
}

function toSheetCounts(board: BoardSummary | null, seed: Seed | null): readonly SheetCountValue[] {
  return COUNTS.map((name) => {
    const read = board === null || NEVER_JOURNALED.has(name) ? null : board.counts[name];
    const isTrusted = read !== null && (board?.registryAuthoritative === true || !REGISTRY_COUNTS.has(name));
    const seededCount = isTrusted ? null : (seed?.[name] ?? null);
    return { name, value: seededCount ?? read, isSeeded: seededCount !== null };
  });
}
