import { type Finding, ok, skipped, warn } from '../module.ts';

/** A project as its watcher would see it. */
export interface ProjectProbe {
  readonly id: string;
  /** Reservations about its numbers. */
  readonly remarks: readonly string[];
  /** Defects of its store, one line each. */
  readonly flaws: readonly string[];
  /** How many items ask for a person; null: unknown. */
  readonly attention: number | null;
}

export type BrainclawProbe =
  | { readonly is: 'off' }
  | {
      readonly is: 'projects';
      readonly projects: readonly ProjectProbe[];
      /** Folders that the settings name and that hold no project. */
      readonly missing: readonly string[];
      /** Problems with folders that could not be read. */
      readonly troubles: readonly string[];
    };

export function judgeBrainclaw(result: BrainclawProbe): Finding {
  if (result.is === 'off') return skipped('switched off in the settings');
  const { projects, missing, troubles } = result;
  const summary = `${projects.length} project${projects.length === 1 ? '' : 's'}`;
  const problems = [
    ...missing.map((path) => `${path} holds no project`),
    ...troubles,
    ...projects.flatMap(({ id, remarks, flaws }) =>
      remarks.length + flaws.length === 0 ? [] : [`${id}: ${[...remarks, ...flaws].join(', ')}`],
    ),
  ];
  const [first, ...rest] = problems;
  if (first === undefined) {
    const asks = projects.map(({ id, attention }) => `${id} ${attention ?? '?'}`).join(', ');
    return ok(projects.length === 0 ? summary : `${summary}; asking for a person: ${asks}`);
  }
  const remainder = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return warn(`${summary}; ${first}${remainder}`, 'hivebar brainclaw doctor --project DIR says what it is about');
}
