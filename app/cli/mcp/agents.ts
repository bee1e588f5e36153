import type { Io } from '../../../core/command/index.ts';
import { openLocalHive } from '../../../core/inbox/index.ts';
import { parseJson } from '../../../core/model/index.ts';
import { realClock } from '../../../core/ports/index.ts';
import { askTray } from '../tray-request.node.ts';
import { formatLine } from './mail-text.ts';
import { createMcpLog, openMcpStore, type ToolResult } from './tool-call.ts';

interface McpAgent {
  readonly id: string;
  /** What it does: working, waiting, idle, live, stalled, gone; unknown while the tray process is closed. */
  readonly state: string;
  readonly doing: string | null;
  /** Null: unknown. */
  readonly unread: number | null;
  readonly since: string | null;
}

const MOST_AGENTS = 100;
const DOING_CHARS = 120;

/** Lists the agents that the tray process knows, else those that have an inbox in the local hive. */
export async function listAgents(io: Io): Promise<ToolResult> {
  const status = await readStatus(io);
  const all = status === null ? await listLocalAgents(io) : status.personas.map(toAgent);
  const agents = all.slice(0, MOST_AGENTS);
  const rest = all.length - agents.length;
  const lines = agents.map(({ id, state, doing, unread }) => {
    const mail = unread === null || unread === 0 ? '' : `, ${unread} unread`;
    return `${id}: ${state}${doing === null ? '' : ` (${doing})`}${mail}`;
  });
  const notes = status === null ? ['Hivebar is not running, so nobody knows what they do.'] : [];
  const text = [
    ...notes,
    ...(lines.length === 0 ? ['Nobody has an inbox yet.'] : lines),
    ...(rest === 0 ? [] : [`[${rest} more]`]),
  ];
  return { text: text.join('\n'), structured: { ...(status === null ? { note: notes.join(' ') } : {}), agents } };
}

/** The status JSON, as far as agents need it. Null while the tray process is closed. */
export async function readStatus(io: Io): Promise<StatusJson | null> {
  const response = await askTray({ method: 'GET', path: '/status.json', body: null }, io.env);
  if (response.is === 'not-running' || response.status !== 200) return null;
  return parseJson(response.body) as StatusJson;
}

interface StatusJson {
  readonly personas: readonly {
    readonly id: string;
    readonly agent: string;
    readonly agentReason: string | null;
    readonly agentText: string | null;
    readonly agentSince: string | null;
    readonly unread: number | null;
  }[];
}

function toAgent(persona: StatusJson['personas'][number]): McpAgent {
  const { id, agent, agentReason, agentText, agentSince, unread } = persona;
  const doing = agentText ?? agentReason;
  return {
    ...{ id: formatLine(id), state: agent, doing: doing === null ? null : formatLine(doing, DOING_CHARS) },
    ...{ unread, since: agentSince },
  };
}

/** The personas of the local hive with their unread mail. */
export async function listLocalAgents(io: Io): Promise<readonly McpAgent[]> {
  using db = openMcpStore(io);
  using hive = openLocalHive({ db, clock: realClock, log: createMcpLog(io), contentChars: null });
  const { byAddress } = await hive.pending(null, new AbortController().signal);
  return hive.personas().map(({ name }) => {
    const level = byAddress.get(name)?.unread;
    const unread = level === undefined ? 0 : level.is === 'exact' ? level.n : null;
    return { id: formatLine(name), state: 'unknown', doing: null, unread, since: null };
  });
}
