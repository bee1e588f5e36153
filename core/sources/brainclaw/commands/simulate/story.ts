/** The contents of a made-up journal. The same story gives the same bytes. */
export interface SimulationStory {
  /** How many records the journal has in total; at least `countLeastRecords` of the story. */
  readonly records: number;
  readonly agents: number;
  /** How many items ask for a person at the end. */
  readonly attention: number;
  /** How many handoffs are open at the end. */
  readonly handoffs: number;
  /** Bytes of the snapshot in each handoff. */
  readonly handoffBytes: number;
  readonly seed: number;
  /** Size in bytes at which a new segment begins (brainclaw contract 2). */
  readonly roll: number;
}

export const STORY: SimulationStory = {
  records: 500,
  agents: 4,
  attention: 5,
  handoffs: 10,
  handoffBytes: 1000,
  seed: 1,
  roll: 10 * 1024 * 1024,
};

/** Counts two notes, and one record for each requested item. */
export const countLeastRecords = ({ attention, handoffs }: Pick<SimulationStory, 'attention' | 'handoffs'>): number =>
  2 + attention + handoffs;

const NAMED = ['claude-code', 'codex', 'github-copilot', 'hermes'] as const;

export const listAgents = ({ agents }: Pick<SimulationStory, 'agents'>): readonly string[] =>
  Array.from({ length: agents }, (_, index) => NAMED[index] ?? `agent-${index + 1}`);

export const formatProjectId = ({ seed }: Pick<SimulationStory, 'seed'>): string => `prj_sim${seed}`;
