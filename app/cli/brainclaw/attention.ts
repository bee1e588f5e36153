import {
  type AttentionItem,
  attentionItems,
  attentionOf,
  remarksOn,
  statusOf,
  type View,
} from '../../../core/sources/brainclaw/index.ts';
import { printable } from '../../printable.ts';
import type { BrainclawArgs } from './args.ts';
import { aligned, type Ground, NOT_KNOWN, sayJson, sayRemarks, viewOf } from './ground.ts';

/** What asks for a person, and why. */
export function showAttention(asked: BrainclawArgs, ground: Ground): number {
  const view = viewOf(ground, asked);
  if (view === null) return NOT_KNOWN;
  const { projection } = view.replay;
  if (ground.asJson) {
    const items = attentionItems(projection).map(wireOf);
    sayJson(ground, { attention_required: attentionOf(projection), items, remarks: remarksOn(view) });
    return 0;
  }
  const rows = attentionRows(view);
  if (rows.length > 0) ground.io.out(aligned(rows));
  ground.io.out(
    `${rows.length === 0 ? 'nothing asks' : rows.length === 1 ? '1 asks' : `${rows.length} ask`} for attention\n`,
  );
  sayRemarks(ground, view);
  return 0;
}

/** Why, what, who, and since which record. */
function attentionRows({ replay }: View): readonly (readonly string[])[] {
  return attentionItems(replay.projection).map((item) => {
    const { why, item_id, who, from, title, status, seq } = wireOf(item);
    const about = [who, from === who ? null : from].filter((one) => one !== null).join(' <- ');
    return [why, item_id, status, about, `${seq ?? '-'}`, title ?? ''].map(printable);
  });
}

function wireOf({ why, entity }: AttentionItem) {
  const { item_type, item_id, payload, seq, ts, agent: from } = entity;
  return {
    ...{ why, item_type, item_id, status: statusOf(entity), who: textOf(payload.agent) ?? textOf(payload.author) },
    ...{ from, seq, ts, title: textOf(payload.title) ?? textOf(payload.text) ?? textOf(payload.description) },
  };
}

const MOST = 120;

/** Short, and of one line; null when it is not said. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const line = value.trim().replaceAll(/\s+/g, ' ');
  return [...line].length > MOST ? `${[...line].slice(0, MOST - 1).join('')}…` : line;
}
