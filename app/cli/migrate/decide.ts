import type { Saved } from '../../../core/watch/index.ts';
import type { OldFile, OldIdentity } from '../deployed/index.ts';

/** Who watches an inbox here, and where its events are then. */
export interface Target {
  readonly persona: string;
  /** What an agent follows from now on. Null: events go elsewhere. */
  readonly events: string | null;
}

/** What stands here already of a persona. */
export type Here =
  | { readonly is: 'none' }
  | { readonly is: 'at'; readonly cursor: number | null }
  /** Of another inbox, or not to be read: it is for a person to decide. */
  | { readonly is: 'unclear'; readonly why: string };

export interface Places {
  /** A reason when nobody here watches that inbox. */
  targetOf(identity: OldIdentity): Target | { readonly why: string };
  hereOf(target: Target, identity: OldIdentity): Here;
}

export type Decision = { readonly path: string } & (
  | {
      readonly is: 'adopted';
      readonly target: Target;
      readonly from: number | null;
      readonly identity: OldIdentity;
      readonly saved: Saved & { readonly cursor: number };
      readonly keys: Readonly<Record<string, unknown>>;
    }
  /** The position here is the same, or newer: it stays. */
  | { readonly is: 'here'; readonly target: Target; readonly at: number; readonly old: number }
  /** It has no position yet. */
  | { readonly is: 'empty'; readonly target: Target }
  | { readonly is: 'left'; readonly why: string }
);

/** What becomes of each old file: of several of one inbox the furthest counts. No position is ever set back. */
export function decide(files: readonly OldFile[], places: Places): readonly Decision[] {
  const reached = new Map<string, number>();
  return files.toSorted((a, b) => cursorOf(b) - cursorOf(a)).map((file) => decided(file, places, reached));
}

function decided({ path, state }: OldFile, places: Places, reached: Map<string, number>): Decision {
  if (state.is === 'unusable') return { is: 'left', path, why: state.why };
  const { identity, saved, keys } = state;
  const target = places.targetOf(identity);
  if ('why' in target) return { is: 'left', path, why: target.why };
  const { cursor } = saved;
  if (cursor === null) return { is: 'empty', path, target };
  const here = places.hereOf(target, identity);
  if (here.is === 'unclear') return { is: 'left', path, why: here.why };
  const from = reached.get(target.persona) ?? (here.is === 'at' ? here.cursor : null);
  if (from !== null && from >= cursor) return { is: 'here', path, target, at: from, old: cursor };
  reached.set(target.persona, cursor);
  return { is: 'adopted', path, target, from, identity, saved: { ...saved, cursor }, keys };
}

function cursorOf({ state }: OldFile): number {
  return state.is === 'position' ? (state.saved.cursor ?? -1) : -1;
}
