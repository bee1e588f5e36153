import type { Doorbell } from '../../link/index.ts';
import { parseJson } from '../../model/index.ts';
import { DETAIL_CLASSES, type DetailClass, type SurfaceStatus } from '../surface-status.ts';

/** What a shim is asked: the calls of a plugin, a line each. */
export type ShimCall =
  | { readonly call: 'notify_surface'; readonly payload: Doorbell }
  | { readonly call: 'resume_surface' }
  | { readonly call: 'status' };

/** What it answered; `status` only where that was asked and said. */
export interface ShimAnswer {
  readonly id: number;
  readonly ok: boolean;
  readonly status: SurfaceStatus | null;
}

/** A longer line is not of this protocol: the shim is ended. */
export const LONGEST_LINE = 16 * 1024;

export function formatShimLine(id: number, call: ShimCall): string {
  return `${JSON.stringify({ id, ...call })}\n`;
}

/** Null: no answer, to be passed over. What it says beside the known fields is not looked at. */
export function parseShimLine(line: string): ShimAnswer | null {
  const fields = parseObject(line);
  if (fields === null || typeof fields.id !== 'number' || typeof fields.ok !== 'boolean') return null;
  const { id, ok, alive, accepting, detail_class } = fields;
  const hasStatus = typeof alive === 'boolean' && typeof accepting === 'boolean';
  return {
    id,
    ok,
    status: hasStatus ? { alive, accepting, detail_class: toDetailClass(detail_class, accepting) } : null,
  };
}

/** A class that is not known is told by what it means. */
function toDetailClass(value: unknown, accepting: boolean): DetailClass {
  return DETAIL_CLASSES.find((known) => known === value) ?? (accepting ? 'ready' : 'busy');
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // chatter of a library, say
  }
}

/** Whole lines out of pieces. `null` in the result: a line is too long, and nothing after it can be read. */
export function createLineSplitter(): (piece: string) => readonly (string | null)[] {
  let torn = '';
  let isOver = false;
  return (piece) => {
    if (isOver) return [];
    const lines: (string | null)[] = (torn + piece).split('\n');
    torn = lines.pop() ?? '';
    if (torn.length > LONGEST_LINE || lines.some((line) => (line?.length ?? 0) > LONGEST_LINE)) {
      isOver = true;
      return [null];
    }
    return lines;
  };
}
