import { join } from 'node:path';
import { displayName } from '../../../format/index.ts';
import {
  type BoardSummary,
  createAgentMailReader,
  findRemarks,
  type JournalView,
  type ProjectSheet,
  type ProjectSheetRow,
  type ProjectSheetSection,
  type Remark,
  toBoardSummary,
  toProjectSheet,
} from '../index.ts';
import type { BrainclawArgs } from './args.ts';
import { type BrainclawContext, formatTable, loadView, NOT_KNOWN, printJson } from './brainclaw-context.ts';

/** The board of a project, with the keys of the reference (brainclaw contract 9). */
export interface BoardJson extends BoardSummary {
  readonly applied: number;
  readonly cursor: { readonly seq: number; readonly checkpoint_seq: number };
  readonly affectedTypes: readonly string[];
  readonly remarks: readonly Remark[];
}

/** Prints the items that ask for attention, then the rest of the board. */
export function showBoard(options: BrainclawArgs, context: BrainclawContext): number {
  const view = loadView(context, options);
  if (view === null) return NOT_KNOWN;
  if (context.asJson) {
    printJson(context, toBoardJson(view));
    return 0;
  }
  const inbox = join(context.project.store, 'coordination', 'inbox');
  const mail = createAgentMailReader(context.disk.files, inbox, () => '').read();
  context.io.out(formatBoard(context.project.id, toProjectSheet({ view, mail, seed: null })));
  return 0;
}

function toBoardJson(view: JournalView): BoardJson {
  const { replay, base } = view;
  return {
    applied: replay.applied,
    cursor: { seq: replay.cursor?.seq ?? 0, checkpoint_seq: base?.seq ?? 0 },
    affectedTypes: [...replay.affectedTypes].sort(),
    ...toBoardSummary(replay.projection),
    remarks: findRemarks(view),
  };
}

function formatBoard(id: string, { remarks, seq, attention, counts, agents, sections }: ProjectSheet): string {
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${formatCount(count)}`);
  const first = sections.toSorted((a, b) => Number(b.id === 'attention') - Number(a.id === 'attention'));
  return [
    `${displayName(id)}  attention ${formatCount(attention?.total ?? null)}, at record ${formatCount(seq)}\n`,
    ...(remarks.length === 0 ? [] : [`${remarks.join(', ')}\n`]),
    `${numbers.join(', ')}\n`,
    ...first.map(formatSection),
    ...(agents.length === 0 ? [] : [`\nagents\n${formatTable(formatAgentRows(agents))}`]),
  ].join('');
}

function formatSection({ id, total, rows, rest }: ProjectSheetSection): string {
  if (total === 0) return '';
  return `\n${id} ${total}\n${formatTable(rows.map(formatCells))}${rest > 0 ? `  and ${rest} more\n` : ''}`;
}

function formatCells({ id, itemType, status, agent, seq, why, title }: ProjectSheetRow): readonly string[] {
  const cells = [id ?? itemType, why ?? status, agent ?? '-', `${seq ?? '-'}`, title];
  return cells.map((cell, column) => `${column === 0 ? '  ' : ''}${displayName(cell)}`);
}

function formatAgentRows(agents: ProjectSheet['agents']): readonly (readonly string[])[] {
  const head = ['  AGENT', 'PENDING', 'ACTIONABLE', 'HANDOFFS', 'ASSIGNMENTS', 'ACTIONS', 'SKIPPED'];
  const rows = agents.map((entry) => [
    `  ${displayName(entry.agent)}`,
    ...[entry.pending, entry.actionable, entry.open_handoffs, entry.assignments, entry.actions, entry.skipped].map(
      formatCount,
    ),
  ]);
  return [head, ...rows];
}

/** An unknown count is not shown as 0. */
const formatCount = (count: number | null): string => (count === null ? '?' : `${count}`);
