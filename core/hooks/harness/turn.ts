import { Fault, LARGE_JSON, parseJson } from '../../model/index.ts';
import { type HookEvent, parseHookEvent } from './event.ts';

/** One call of a hook, as far as it concerns us: what a harness says of this moment. */
export interface HookTurn {
  readonly event: HookEvent;
  /** The harness's own name for the session; null: it gave none. */
  readonly session: string | null;
  readonly cwd: string | null;
  /** What the harness calls this turn; null where it does not. */
  readonly id: string | null;
  /** The file in which the harness keeps the session; null: it names none. */
  readonly transcript: string | null;
  /** Whom the harness says it is, where somebody taught it; none does by itself. */
  readonly persona: string | null;
  /** The turn goes on because a hook said so. Null: not said, which counts as no. */
  readonly stopHookActive: boolean | null;
  /** What the agent said last. */
  readonly lastMessage: string | null;
  /** The turn ended because the model could not be asked: rate limit, authentication, credit. Null: it did not. */
  readonly failure: string | null;
  /** The tool that is called, and what it is to run; null: the event is not about one. */
  readonly tool: { readonly name: string; readonly command: string | null } | null;
  /** It happens in a helper of the agent, whose context is not the persona's. */
  readonly isSubagent: boolean;
  /** Which helper; null: the agent itself. */
  readonly agent: string | null;
  /** At a Notification: the agent asks its person for something, and goes on only when that is answered. */
  readonly isAsking: boolean;
}

/** Names become files and rows: longer ones are nobody's. */
const LONGEST_NAME = 200;
const LONGEST_PATH = 4096;

/**
 * What Claude Code and Codex have in common on stdin: a JSON object with `session_id`, `cwd`, `hook_event_name` and more
 * (inbox and gates, contract 5). The event it names is the one that the answer is read for, so it goes before `event`.
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

/** What Claude Code tells of an agent that rests, or of one that is done: everything else is a question. */
const RESTS: ReadonlySet<unknown> = new Set(['idle_prompt', 'agent_completed', 'auth_success']);

function isAsking({ notification_type, message }: Readonly<Record<string, unknown>>): boolean {
  // Older versions name no type.
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
    return null; // the caller says what it is not
  }
}

function parseText(value: unknown, longest: number): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longest ? value : null;
}

function createHookFault(harness: string, problem: string): Fault {
  return new Fault('usage', `${harness}: ${problem}`, { is: 'machine', key: 'hook' });
}
