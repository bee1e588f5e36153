import { Fault, LARGE_JSON, parseJson } from '../../model/index.ts';
import { type HookEvent, hookEventOf } from './event.ts';

/** One call of a hook, as far as it concerns us: what a harness says of this moment. */
export interface Turn {
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
export function turnOf(harness: string, stdin: string, event: string): Turn | Fault {
  const input = objectIn(stdin);
  if (input === null) return fault(harness, `stdin is no JSON object: ${JSON.stringify(stdin.slice(0, 60))}`);
  const named = text(input.hook_event_name, LONGEST_NAME) ?? event;
  const known = hookEventOf(named);
  if (known === null) return fault(harness, `the event ${JSON.stringify(named.slice(0, 60))} is not known here`);
  const error = text(input.error, LONGEST_PATH);
  return {
    event: known,
    session: text(input.session_id, LONGEST_NAME),
    cwd: text(input.cwd, LONGEST_PATH),
    id: text(input.turn_id, LONGEST_NAME),
    transcript: text(input.transcript_path, LONGEST_PATH),
    persona: text(input.hivebar_persona, LONGEST_NAME),
    stopHookActive: typeof input.stop_hook_active === 'boolean' ? input.stop_hook_active : null,
    lastMessage: typeof input.last_assistant_message === 'string' ? input.last_assistant_message : null,
    failure: known === 'StopFailure' ? (error ?? 'unknown') : known === 'Stop' ? error : null,
    tool: toolIn(input),
    isSubagent: text(input.agent_id, LONGEST_NAME) !== null,
    agent: text(input.agent_id, LONGEST_NAME),
    isAsking: known === 'Notification' && isAsking(input),
  };
}

function toolIn({ tool_name, tool_input }: Readonly<Record<string, unknown>>): Turn['tool'] {
  const name = text(tool_name, LONGEST_NAME);
  if (name === null) return null;
  const given = tool_input !== null && typeof tool_input === 'object' ? (tool_input as Record<string, unknown>) : {};
  const command = given.command ?? given.cmd;
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

function objectIn(stdin: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(stdin, LARGE_JSON);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the caller says what it is not
  }
}

function text(value: unknown, longest: number): string | null {
  return typeof value === 'string' && value.trim() !== '' && value.length <= longest ? value : null;
}

function fault(harness: string, what: string): Fault {
  return new Fault('usage', `${harness}: ${what}`, { is: 'machine', key: 'hook' });
}
