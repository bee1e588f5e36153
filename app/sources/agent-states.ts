import { type Board, followAgents } from '../../core/board/index.ts';
import type { HiveWatchers } from './hive-watchers.ts';

interface AgentStatesOptions {
  readonly board: Board;
  /** The watchers of all hives, which come and go. */
  readonly watchers: readonly Pick<HiveWatchers, 'hearAgent'>[];
}

/**
 * Hands what each agent does to the watcher of its persona, which makes events of it. The board alone chooses among the reports
 * (docs/contract/agent-state.md), so events say what a person sees. Works until it is disposed.
 */
export function followAgentStates({ board, watchers }: AgentStatesOptions): Disposable {
  return followAgents(board, ({ id, agentState }) => void watchers.some((hive) => hive.hearAgent(id, agentState)));
}
