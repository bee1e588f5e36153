import type { Board } from './board.ts';
import type { AgentInbox } from './mail.ts';
import type { SheetAgent } from './sheet.ts';

/** Names that brainclaw resolves before it makes a directory of them (brainclaw contract 5). */
const ALIASES: ReadonlyMap<string, string> = new Map([['copilot', 'github-copilot']]);

/** An agent as its inbox is called, however an item of the journal spells it (brainclaw contract 5). */
export function inboxNameOf(agent: string): string {
  const name = agent.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '_');
  return ALIASES.get(name) ?? name;
}

export interface AgentSources {
  /** Null: the journal is off. */
  readonly board: Board | null;
  /** Null: mail is switched off. A store without any mail has no inboxes, which is none and not unknown. */
  readonly mail: ReadonlyMap<string, AgentInbox> | null;
}

/** Everybody who has an inbox or something to do, by name (brainclaw contract 9). */
export function agentsOf({ board, mail }: AgentSources): readonly SheetAgent[] {
  const handoffs = board === null ? null : byInbox(board.openHandoffsPerAddressee);
  const assignments = board === null ? null : byInbox(board.openAssignmentsPerAgent);
  const actions = board === null ? null : byInbox(board.pendingActionsPerAgent);
  const names = new Set([handoffs, assignments, actions, mail].flatMap((all) => [...(all?.keys() ?? [])]));
  const of = (counts: ReadonlyMap<string, number> | null, agent: string): number | null =>
    counts === null ? null : (counts.get(agent) ?? 0);
  return [...names].sort().map((agent) => {
    const inbox = mail?.get(agent);
    const nothing = mail === null ? null : 0;
    return {
      agent,
      pending: inbox?.pending ?? nothing,
      actionable: inbox?.actionable ?? nothing,
      open_handoffs: of(handoffs, agent),
      assignments: of(assignments, agent),
      actions: of(actions, agent),
      skipped: inbox?.bad.length ?? nothing,
    };
  });
}

/** Two spellings of one agent are one. */
function byInbox(counts: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [agent, count] of Object.entries(counts)) {
    const name = inboxNameOf(agent);
    sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return sums;
}
