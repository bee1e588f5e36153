import { displayName } from '../../../format/index.ts';
import {
  type AttentionItem,
  countAttention,
  findAttentionItems,
  findRemarks,
  getStatus,
  type JournalView,
} from '../index.ts';
import type { BrainclawArgs } from './args.ts';
import {
  type BrainclawContext,
  formatTable,
  loadView,
  NOT_KNOWN,
  printJson,
  printRemarks,
} from './brainclaw-context.ts';

/** Prints the items that ask for a person, and why. */
export function showAttention(options: BrainclawArgs, context: BrainclawContext): number {
  const view = loadView(context, options);
  if (view === null) return NOT_KNOWN;
  const { projection } = view.replay;
  if (context.asJson) {
    const items = findAttentionItems(projection).map(toAttentionWire);
    printJson(context, { attention_required: countAttention(projection), items, remarks: findRemarks(view) });
    return 0;
  }
  const rows = listAttentionRows(view);
  if (rows.length > 0) context.io.out(formatTable(rows));
  context.io.out(
    `${rows.length === 0 ? 'nothing asks' : rows.length === 1 ? '1 asks' : `${rows.length} ask`} for attention\n`,
  );
  printRemarks(context, view);
  return 0;
}

/** Columns: why, item, status, agent, and the record since which it asks. */
function listAttentionRows({ replay }: JournalView): readonly (readonly string[])[] {
  return findAttentionItems(replay.projection).map((item) => {
    const { why, item_id, who: agent, from, title, status, seq } = toAttentionWire(item);
    const about = [agent, from === agent ? null : from].filter((name) => name !== null).join(' <- ');
    return [why, item_id, status, about, `${seq ?? '-'}`, title ?? ''].map(displayName);
  });
}

function toAttentionWire({ why, entity }: AttentionItem) {
  const { item_type, item_id, payload, seq, ts, agent: from } = entity;
  return {
    ...{
      why,
      item_type,
      item_id,
      status: getStatus(entity),
      who: formatTitle(payload.agent) ?? formatTitle(payload.author),
    },
    ...{
      from,
      seq,
      ts,
      title: formatTitle(payload.title) ?? formatTitle(payload.text) ?? formatTitle(payload.description),
    },
  };
}

const MOST = 120;

/** Shortens a title to one line; null when there is none. */
function formatTitle(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const line = value.trim().replaceAll(/\s+/g, ' ');
  return [...line].length > MOST ? `${[...line].slice(0, MOST - 1).join('')}…` : line;
}
