import type { Doorbell } from '../../link/index.ts';
import { parseJson } from '../../model/index.ts';
import { DETAIL_CLASSES, type DetailClass, type SurfaceStatus } from '../surface-status.ts';

/** A call to a shim: the calls of a plugin, one per line. */
export type ShimCall =
  | { readonly call: 'notify_surface'; readonly payload: Doorbell }
  | { readonly call: 'resume_surface' }
  | { readonly call: 'status' };

/** The answer of a shim. `status` is set only if it was asked for and given. */
export interface ShimAnswer {
  readonly id: number;
  readonly ok: boolean;
  readonly status: SurfaceStatus | null;
}

/** A longer line does not belong to this protocol, and the shim is ended. */
export const LONGEST_LINE = 16 * 1024;

export function formatShimLine(id: number, call: ShimCall): string {
  return `${JSON.stringify({ id, ...call })}\n`;
}

/** Parses an answer; null: the line is not an answer and is ignored. Unknown fields are ignored. */
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

/** An unknown class is replaced by one that matches `accepting`. */
function toDetailClass(value: unknown, accepting: boolean): DetailClass {
  return DETAIL_CLASSES.find((known) => known === value) ?? (accepting ? 'ready' : 'busy');
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // for example output of a library
  }
}

/** Splits pieces of text into whole lines. `null` in the result: a line is too long, and nothing after it is read. */
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
