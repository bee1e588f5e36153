import type { SavedState } from '../../../core/watcher/index.ts';
import type { OldFile, OldIdentity } from '../deployed/index.ts';

/** Who watches an inbox here, and where its events are. */
export interface MigrationTarget {
  readonly persona: string;
  /** The file that an agent follows from now on. Null: events go elsewhere. */
  readonly events: string | null;
}

/** The position that a persona already has here. */
export type CurrentPosition =
  | { readonly is: 'none' }
  | { readonly is: 'at'; readonly cursor: number | null }
  /** The position is of another inbox or cannot be read, so a person must decide. */
  | { readonly is: 'unclear'; readonly why: string };

export interface PositionLookup {
  /** Returns a reason when nobody here watches that inbox. */
  findTarget(identity: OldIdentity): MigrationTarget | { readonly why: string };
  findCurrent(target: MigrationTarget, identity: OldIdentity): CurrentPosition;
}

export type MigrationDecision = { readonly path: string } & (
  | {
      readonly is: 'adopted';
      readonly target: MigrationTarget;
      readonly from: number | null;
      readonly identity: OldIdentity;
      readonly saved: SavedState & { readonly cursor: number };
      readonly keys: Readonly<Record<string, unknown>>;
    }
  /** The position here is the same or newer, and stays. */
  | { readonly is: 'here'; readonly target: MigrationTarget; readonly at: number; readonly old: number }
  /** The old file has no position yet. */
  | { readonly is: 'empty'; readonly target: MigrationTarget }
  | { readonly is: 'left'; readonly why: string }
);

/** Decides about each old file. Of several files of one inbox the furthest position counts. No position is ever moved back. */
export function decide(files: readonly OldFile[], lookup: PositionLookup): readonly MigrationDecision[] {
  const reached = new Map<string, number>();
  return files.toSorted((a, b) => getCursor(b) - getCursor(a)).map((file) => decideFile(file, lookup, reached));
}

function decideFile({ path, state }: OldFile, lookup: PositionLookup, reached: Map<string, number>): MigrationDecision {
  if (state.is === 'unusable') return { is: 'left', path, why: state.why };
  const { identity, saved, keys } = state;
  const target = lookup.findTarget(identity);
  if ('why' in target) return { is: 'left', path, why: target.why };
  const { cursor } = saved;
  if (cursor === null) return { is: 'empty', path, target };
  const current = lookup.findCurrent(target, identity);
  if (current.is === 'unclear') return { is: 'left', path, why: current.why };
  const from = reached.get(target.persona) ?? (current.is === 'at' ? current.cursor : null);
  if (from !== null && from >= cursor) return { is: 'here', path, target, at: from, old: cursor };
  reached.set(target.persona, cursor);
  return { is: 'adopted', path, target, from, identity, saved: { ...saved, cursor }, keys };
}

function getCursor({ state }: OldFile): number {
  return state.is === 'position' ? (state.saved.cursor ?? -1) : -1;
}
