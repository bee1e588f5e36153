import { Fault, LARGE_JSON, parseJson } from '../../model/index.ts';
import { type HookEvent, parseHookEvent } from './event.ts';

/** One call of a hook: the fields of the harness's input that Hivebar uses. */
export interface HookTurn {
  readonly event: HookEvent;
  /** The harness's name for the session; null: the harness gave none. */
  readonly session: string | null;
  readonly cwd: string | null;
  /** The harness's name for this turn; null: the harness gave none. */
  readonly id: string | null;
  /** The file in which the harness keeps the session; null: the harness names none. */
  readonly transcript: string | null;
  /** The persona that the harness names. No harness names one by default; somebody must configure it. */
  readonly persona: string | null;
  /** The turn goes on because of a hook. Null: the harness does not say, which counts as no. */
  readonly stopHookActive: boolean | null;
  /** The last message of the agent. */
  readonly lastMessage: string | null;
  /** Why the model could not be asked, which ended the turn: rate limit, authentication, credit. Null: the turn did not fail. */
  readonly failure: string | null;
  /** The tool that is called and its command; null: the event is not about a tool. */
  readonly tool: { readonly name: string; readonly command: string | null } | null;
  /** The event happens in a subagent, whose context is not the persona's. */
  readonly isSubagent: boolean;
  /** The id of the subagent; null: the event is the agent's own. */
  readonly agent: string | null;
  /** At a Notification: the agent asks its person for something, and goes on only after the answer. */
  readonly isAsking: boolean;
}

/** Names become file names and database rows, so a longer name is ignored. */
const LONGEST_NAME = 200;
const LONGEST_PATH = 4096;

/**
 * Parses what Claude Code and Codex both write to stdin: a JSON object with `session_id`, `cwd`, `hook_event_name` and more
 * (inbox and gates, contract 5). The event in the object takes precedence over `event`, because the harness reads the answer for
 * it.
 */
export function parseHookTurn(harness: string, stdin: string, event: string): HookTurn | Fault {
  const input = parseObject(stdin);
  if (input === null) return createHookFault(harness, `stdin is no JSON object: ${JSON.stringify(stdin.slice(0, 60))}`);
  const named = parseText(input.hook_event_name, LONGEST_NAME) ?? event;
  const known = parseHookEvent(named);
  if (known === null)
    return createHookFault(harness, `the event ${JSON.stringify(named.slice(0, 60))} is not known here`);
  const error = parseText(input.error, LONGEST_PATH);
  return {
    event: known,
    session: parseText(input.session_id, LONGEST_NAME),
    cwd: parseText(input.cwd, LONGEST_PATH),
    id: parseText(input.turn_id, LONGEST_NAME),
    transcript: parseText(input.transcript_path, LONGEST_PATH),
    persona: parseText(input.hivebar_persona, LONGEST_NAME),
    stopHookActive: typeof input.stop_hook_active === 'boolean' ? input.stop_hook_active : null,
    lastMessage: typeof input.last_assistant_message === 'string' ? input.last_assistant_message : null,
    failure: known === 'StopFailure' ? (error ?? 'unknown') : known === 'Stop' ? error : null,
    tool: parseTool(input),
    isSubagent: parseText(input.agent_id, LONGEST_NAME) !== null,
    agent: parseText(input.agent_id, LONGEST_NAME),
    isAsking: known === 'Notification' && isAsking(input),
  };
}

function parseTool({ tool_name, tool_input }: Readonly<Record<string, unknown>>): HookTurn['tool'] {
  const name = parseText(tool_name, LONGEST_NAME);
  if (name === null) return null;
  const toolInput =
    tool_input !== null && typeof tool_input === 'object' ? (tool_input as Record<string, unknown>) : {};
  const command = toolInput.command ?? toolInput.cmd;
  if (typeof command === 'string') return { name, command };
  const isArgv = Array.isArray(command) && command.every((word) => typeof word === 'string');
  return { name, command: isArgv ? command.join(' ') : null };
}

/** Notifications of Claude Code about an agent that is idle or done. Every other notification counts as a question. */
const RESTS: ReadonlySet<unknown> = new Set(['idle_prompt', 'agent_completed', 'auth_success']);

function isAsking({ notification_type, message }: Readonly<Record<string, unknown>>): boolean {
  // Older versions send no type.
  return !(
    RESTS.has(notification_type) ||
    (notification_type === undefined && message === 'Claude is waiting for your input')
  );
}

function parseObject(stdin: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(stdin, LARGE_JSON);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the caller reports the fault
  }
}

function parseText(value: unknown, longest: number): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longest ? value : null;
}

function createHookFault(harness: string, problem: string): Fault {
  return new Fault('usage', `${harness}: ${problem}`, { is: 'machine', key: 'hook' });
}
