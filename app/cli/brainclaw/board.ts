import { join } from 'node:path';
import {
  type Board,
  boardOf,
  keepAgentMail,
  type Remark,
  remarksOn,
  type Sheet,
  type SheetRow,
  type SheetSection,
  sheetOf,
  type View,
} from '../../../core/sources/brainclaw/index.ts';
import { printable } from '../../printable.ts';
import type { BrainclawArgs } from './args.ts';
import { aligned, type Ground, NOT_KNOWN, sayJson, viewOf } from './ground.ts';

/** The board of a project, by the keys of the reference (brainclaw contract 9). */
export interface BoardJson extends Board {
  readonly applied: number;
  readonly cursor: { readonly seq: number; readonly checkpoint_seq: number };
  readonly affectedTypes: readonly string[];
  readonly remarks: readonly Remark[];
}

/** What asks for attention first, then the rest of the board. */
export function showBoard(asked: BrainclawArgs, ground: Ground): number {
  const view = viewOf(ground, asked);
  if (view === null) return NOT_KNOWN;
  if (ground.asJson) {
    sayJson(ground, boardJson(view));
    return 0;
  }
  const inbox = join(ground.project.store, 'coordination', 'inbox');
  const mail = keepAgentMail(ground.disk.files, inbox, () => '').look();
  ground.io.out(textOf(ground.project.id, sheetOf({ view, mail, seed: null })));
  return 0;
}

function boardJson(view: View): BoardJson {
  const { replay, base } = view;
  return {
    applied: replay.applied,
    cursor: { seq: replay.cursor?.seq ?? 0, checkpoint_seq: base?.seq ?? 0 },
    affectedTypes: [...replay.affectedTypes].sort(),
    ...boardOf(replay.projection),
    remarks: remarksOn(view),
  };
}

function textOf(id: string, { remarks, seq, attention, counts, agents, sections }: Sheet): string {
  const numbers = Object.entries(counts).map(([name, count]) => `${name} ${known(count)}`);
  const first = sections.toSorted((a, b) => Number(b.id === 'attention') - Number(a.id === 'attention'));
  return [
    `${printable(id)}  attention ${known(attention?.total ?? null)}, at record ${known(seq)}\n`,
    ...(remarks.length === 0 ? [] : [`${remarks.join(', ')}\n`]),
    `${numbers.join(', ')}\n`,
    ...first.map(sectionText),
    ...(agents.length === 0 ? [] : [`\nagents\n${aligned(agentRows(agents))}`]),
  ].join('');
}

function sectionText({ id, total, rows, rest }: SheetSection): string {
  if (total === 0) return '';
  return `\n${id} ${total}\n${aligned(rows.map(cellsOf))}${rest > 0 ? `  and ${rest} more\n` : ''}`;
}

function cellsOf({ id, itemType, status, agent, seq, why, title }: SheetRow): readonly string[] {
  const cells = [id ?? itemType, why ?? status, agent ?? '-', `${seq ?? '-'}`, title];
  return cells.map((cell, column) => `${column === 0 ? '  ' : ''}${printable(cell)}`);
}

function agentRows(agents: Sheet['agents']): readonly (readonly string[])[] {
  const head = ['  AGENT', 'PENDING', 'ACTIONABLE', 'HANDOFFS', 'ASSIGNMENTS', 'ACTIONS', 'SKIPPED'];
  const rows = agents.map((one) => [
    `  ${printable(one.agent)}`,
    ...[one.pending, one.actionable, one.open_handoffs, one.assignments, one.actions, one.skipped].map(known),
  ]);
  return [head, ...rows];
}

/** What is not known is not 0. */
const known = (count: number | null): string => (count === null ? '?' : `${count}`);
