/** What a made-up journal holds. The same story gives the same bytes. */
export interface SimulationStory {
  /** Of the journal, all in all; at least `countLeastRecords` of it. */
  readonly records: number;
  readonly agents: number;
  /** Items that ask for a person, at the end. */
  readonly attention: number;
  /** Open ones, at the end. */
  readonly handoffs: number;
  /** Of the snapshot in each of them. */
  readonly handoffBytes: number;
  readonly seed: number;
  /** Bytes from which on a segment is followed by another (brainclaw contract 2). */
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

/** Two notes, and one record for each thing that is asked for. */
export const countLeastRecords = ({ attention, handoffs }: Pick<SimulationStory, 'attention' | 'handoffs'>): number =>
  2 + attention + handoffs;

const NAMED = ['claude-code', 'codex', 'github-copilot', 'hermes'] as const;

export const listAgents = ({ agents }: Pick<SimulationStory, 'agents'>): readonly string[] =>
  Array.from({ length: agents }, (_, index) => NAMED[index] ?? `agent-${index + 1}`);

export const formatProjectId = ({ seed }: Pick<SimulationStory, 'seed'>): string => `prj_sim${seed}`;
