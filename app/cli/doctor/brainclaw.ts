import { type Finding, ok, skipped, warn } from './finding.ts';

/** A project as its watch would see it. */
export interface ProjectFound {
  readonly id: string;
  /** What must be said beside its numbers. */
  readonly remarks: readonly string[];
  /** What is wrong in its store, a line each. */
  readonly flaws: readonly string[];
  /** Null: not known. */
  readonly attention: number | null;
}

export type BrainclawSeen =
  | { readonly is: 'off' }
  | {
      readonly is: 'projects';
      readonly projects: readonly ProjectFound[];
      /** Named in the settings, and not there. */
      readonly missing: readonly string[];
      /** What could not be looked into. */
      readonly troubles: readonly string[];
    };

export function judgeBrainclaw(seen: BrainclawSeen): Finding {
  if (seen.is === 'off') return skipped('switched off in the settings');
  const { projects, missing, troubles } = seen;
  const who = `${projects.length} project${projects.length === 1 ? '' : 's'}`;
  const all = [
    ...missing.map((path) => `${path} holds no project`),
    ...troubles,
    ...projects.flatMap(({ id, remarks, flaws }) =>
      remarks.length + flaws.length === 0 ? [] : [`${id}: ${[...remarks, ...flaws].join(', ')}`],
    ),
  ];
  const [first, ...rest] = all;
  if (first === undefined) {
    const asks = projects.map(({ id, attention }) => `${id} ${attention ?? '?'}`).join(', ');
    return ok(projects.length === 0 ? who : `${who}; asking for a person: ${asks}`);
  }
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return warn(`${who}; ${first}${more}`, 'hivebar brainclaw doctor --project DIR says what it is about');
}
