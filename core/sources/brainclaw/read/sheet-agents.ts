import type { BoardSummary } from './board.ts';
import type { AgentInbox } from './mail.ts';
import type { ProjectSheetAgent } from './project-sheet.ts';

/** Names that brainclaw resolves before it uses them as directory names (brainclaw contract 5). */
const ALIASES: ReadonlyMap<string, string> = new Map([['copilot', 'github-copilot']]);

/** The inbox name of an agent, for any spelling of the agent in the journal (brainclaw contract 5). */
export function toInboxName(agent: string): string {
  const name = agent.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '_');
  return ALIASES.get(name) ?? name;
}

export interface AgentSources {
  /** Null: the journal is off. */
  readonly board: BoardSummary | null;
  /** Null when mail is switched off. A store without mail has no inboxes, so its counts are 0 and not unknown. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
}

/** All agents that have an inbox or something to do, sorted by name (brainclaw contract 9). */
export function toSheetAgents({ board, mail }: AgentSources): readonly ProjectSheetAgent[] {
  const handoffs = board === null ? null : sumByInbox(board.openHandoffsPerAddressee);
  const assignments = board === null ? null : sumByInbox(board.openAssignmentsPerAgent);
  const actions = board === null ? null : sumByInbox(board.pendingActionsPerAgent);
  const names = new Set([handoffs, assignments, actions, mail].flatMap((counts) => [...(counts?.keys() ?? [])]));
  const getCount = (counts: ReadonlyMap<string, number> | null, agent: string): number | null =>
    counts === null ? null : (counts.get(agent) ?? 0);
  return [...names].sort().map((agent) => {
    const inbox = mail?.get(agent);
    const nothing = mail === null ? null : 0;
    return {
      agent,
      pending: inbox?.pending ?? nothing,
      actionable: inbox?.actionable ?? nothing,
      open_handoffs: getCount(handoffs, agent),
      assignments: getCount(assignments, agent),
      actions: getCount(actions, agent),
      skipped: inbox?.bad.length ?? nothing,
    };
  });
}

/** Adds up the counts of different spellings of one agent. */
function sumByInbox(counts: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [agent, count] of Object.entries(counts)) {
    const name = toInboxName(agent);
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return sums;
}
