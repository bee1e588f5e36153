/** The sections of a board, by the names of the reference (observer protocol 6.2). */
export type BoardSection =
  | 'attention'
  | 'in-progress'
  | 'sprints'
  | 'backlog'
  | 'system'
  | 'agents'
  | 'candidates'
  | 'activity'
  | 'actions'
  | 'handoffs'
  | 'traps';

const KNOWLEDGE: readonly BoardSection[] = ['system', 'traps'];

const BY_TYPE: ReadonlyMap<string, readonly BoardSection[]> = new Map<string, readonly BoardSection[]>([
  ['plan', ['in-progress', 'sprints', 'backlog', 'attention', 'system']],
  ['claim', ['in-progress', 'agents']],
  ['assignment', ['in-progress', 'attention']],
  ['agent_run', ['in-progress', 'attention', 'agents']],
  ['candidate', ['attention', 'candidates']],
  ['state', ['attention', 'actions']],
  ['constraint', KNOWLEDGE],
  ['decision', KNOWLEDGE],
  ['trap', KNOWLEDGE],
  ['handoff', ['activity', 'handoffs', 'system']],
  ['sequence', ['sprints']],
]);

/** The sections that change with an item of this type (brainclaw contract 4). Empty for a type that no section shows. */
export const findSections = (itemType: string): readonly BoardSection[] => BY_TYPE.get(itemType) ?? [];
