import { Fault, LARGE_JSON, parseJson } from '../../model/index.ts';

/** The answer to an agent at a turn boundary. Texts are complete: frames are closed, and nothing is added to them. */
export type HookAnswer =
  /** The agent goes on. `note` is for the person at the harness, if the harness can show a note. */
  | { readonly is: 'allow'; readonly note: string | null }
  /** Content for the model. */
  | { readonly is: 'inject'; readonly text: string }
  /** Says that something waits and how to fetch it. */
  | { readonly is: 'ring'; readonly text: string }
  /** The agent must not go on now. The model reads the reason; at UserPromptSubmit the person reads it. */
  | { readonly is: 'block'; readonly reason: string };

/** What a hook prints, and its exit code. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

/** Which answers reach the model at an event. Other answers are never printed, so nothing undelivered counts as delivered. */
export interface Carries {
  /** Whether `inject` and `ring` reach the model. At Stop they do, and the turn goes on. */
  readonly text: boolean;
  readonly block: boolean;
  /** The text arrives as the words of the person, so it says that something waits and holds no text of others. */
  readonly onlyRings?: boolean;
  /** Nothing is shown with a prompt, so what can wait until the next prompt is shown here too. */
  readonly everything?: boolean;
}

/** Everything Hivebar knows of one agent program. The registry has one row per program (`index.ts`). */
export interface HarnessModule {
  readonly name: string;
  /** Its name for a person. */
  readonly label: string;
  /** Its page in docs/guides, without the ending. */
  readonly guide: string;
  /** @param version the version as the program prints it; null: unknown */
  readonly create: (version: string | null) => Harness;
  /** The command that resumes a session; null: there is none. */
  readonly resume: ((session: string) => readonly string[]) | null;
  readonly setup: HarnessSetup;
}

/** Where and how the settings of an agent program name hooks. */
export interface HarnessSetup {
  /** The folder that shows that this user works with the program: a variable that names it, else its path in the home directory. */
  readonly home: {
    readonly variable: string | null;
    readonly folder: string;
    /** Its name in XDG_CONFIG_HOME, where that is set; absent: the program does not look there. */
    readonly configHome?: string;
  };
  /** The folder of a project, relative to it, that shows the same. */
  readonly projectFolder: string;
  /** The settings file with our hooks, relative to the folder of the user and to that of a project. */
  readonly files: { readonly user: string; readonly project: string };
  readonly form: SettingsForm;
  /** The program's name of each event, what it is to Hivebar, and its matcher; null when it has none. */
  readonly events: Readonly<Record<string, HookSlot>>;
  /** The time after which the program continues without an answer, as it is written in its settings: in seconds or milliseconds. */
  readonly timeout: number;
  /** Its user must trust each hook, and a changed command is a new hook. So the commands never change. */
  readonly asksForTrust: boolean;
  /** The program's events after which a waiter begins, which wakes an idle agent by its end; absent: the program has no such hooks. */
  readonly waits?: readonly string[];
  /** Null: its hooks are not written for Windows. */
  readonly windows: WindowsShell | null;
}

/**
 * What runs the command of a hook on Windows. `sh`: the program brings a shell. `cmd or powershell`: which one is not documented. `cmd, no
 * quotes`: the program puts quotes around the command, and so takes none within it.
 */
export interface WindowsShell {
  readonly shell: 'sh' | 'cmd' | 'powershell' | 'cmd or powershell' | 'cmd, no quotes';
  /** What an entry also says, so that it is this shell. */
  readonly extra?: object;
}

/** How a settings file names hooks, under its key `hooks`. */
export type SettingsForm =
  /** Event -> groups, each with a matcher and handlers. */
  | {
      readonly is: 'groups';
      /** A file of the same folder of ours, relative to that of the settings file, without which the program does not read it. */
      readonly beside?: { readonly path: string; readonly text: string };
    }
  /** Event -> entries. */
  | {
      readonly is: 'entries';
      /** What the key `version` of a file must say; null: the file has no such key. */
      readonly version: { readonly user: number | null; readonly project: number | null };
      formatEntry(hook: EntryFacts): object;
    }
  /** No settings: a file that the program runs, and that is ours as a whole. */
  | { readonly is: 'plugin' };

export interface EntryFacts {
  readonly command: string;
  /** Whether the command is one for PowerShell. */
  readonly isPowerShell: boolean;
  readonly timeout: number;
  readonly matcher: string | null;
}

export interface HookSlot {
  readonly event: HookEvent;
  readonly matcher: string | null;
  /** In place of the timeout of the setup: a hook may wait for a person, or has less time than others. */
  readonly timeout?: number;
  /** The first version that knows the event. An older one ignores the whole file that names it. Absent: each version knows it. */
  readonly from?: Version;
}

/** The seconds of a hook. The budget of a hook is one second, but a machine under load may need more. */
export const HOOK_TIMEOUT_S = 10;

/** Returns Hivebar's name of an event of this setup; the name itself when it is another one. */
export function toHookEventName(slots: HarnessSetup['events'], name: unknown): unknown {
  return typeof name === 'string' && Object.hasOwn(slots, name) ? slots[name]?.event : name;
}

/** Where a program with its own name for an event runs our hook. @param matcher null: at each of these events */
export const createSlot = (event: HookEvent, matcher: string | null = null): HookSlot => ({ event, matcher });

/** Slots of a program that has the events of Hivebar under the same names. A call about a tool has the matcher that fits every tool. */
export function createSlots(events: readonly HookEvent[], matcher: string | null): Readonly<Record<string, HookSlot>> {
  const slots = events.map((event) => [event, createSlot(event, TOOL_EVENTS.has(event) ? matcher : null)] as const);
  return Object.fromEntries(slots);
}

export interface Harness {
  readonly name: string;
  /** @param event the event that the command line names; stdin takes precedence */
  readTurn(stdin: string, event: string): HookTurn | Fault;
  carries(turn: HookTurn): Carries;
  /**
   * Formats output that this harness and version accept at this event. The output is empty if the event cannot carry the answer.
   */
  formatReply(turn: HookTurn, answer: HookAnswer): HookReply;
}

/** The moments at which a harness runs a hook. */
export const HOOK_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'Stop',
  'StopFailure',
  'Interrupt',
  'SessionEnd',
  'PermissionRequest',
  'Notification',
  'SubagentStop',
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

const TOOL_EVENTS: ReadonlySet<HookEvent> = new Set(['PreToolUse', 'PostToolUse']);

const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '');
const BY_NAME: ReadonlyMap<string, HookEvent> = new Map(HOOK_EVENTS.map((event) => [normalizeName(event), event]));

/** Finds an event by name, in any case and with or without dashes: `session-start`. Null: the name is unknown. */
export function parseHookEvent(name: string): HookEvent | null {
  return BY_NAME.get(normalizeName(name)) ?? null;
}

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
  /** At a UserPromptSubmit: no person wrote the prompt. It is the result of a tool, or what held the last Stop. */
  readonly isContinued: boolean;
  /** At a Notification: the agent asks its person for something, and goes on only after the answer. */
  readonly isAsking: boolean;
  /** At a Notification: its kind; null: the harness gave none. */
  readonly notification: string | null;
  /** At a SessionStart: why the session begins (startup, resume, clear, compact); null: the harness does not say. */
  readonly start: string | null;
  /** The language model of the session; null: the harness does not say. */
  readonly model: string | null;
  /** How the session asks for permissions, in the harness's own word; null: the harness does not say. */
  readonly permissionMode: string | null;
}

/** Names become file names and database rows, so a longer name is ignored. */
const LONGEST_NAME = 200;
const LONGEST_PATH = 4096;

export type HookInput = Readonly<Record<string, unknown>>;

/**
 * Parses what Claude Code and Codex both write to stdin: a JSON object with `session_id`, `cwd`, `hook_event_name` and more
 * (inbox and gates, contract 5). The event in the object takes precedence over `event`, because the harness reads the answer for
 * it.
 *
 * @param translate turns the input of another harness into this form, or refuses it
 */
export function parseHookTurn(
  harness: string,
  stdin: string,
  event: string,
  translate: (input: HookInput) => HookInput | Fault = (input) => input,
): HookTurn | Fault {
  const original = parseObject(stdin);
  if (original === null)
    return createHookFault(harness, `stdin must be a JSON object: ${JSON.stringify(stdin.slice(0, 60))}`);
  const input = translate(original);
  if (input instanceof Fault) return input;
  const named = parseText(input.hook_event_name, LONGEST_NAME) ?? event;
  const known = parseHookEvent(named);
  if (known === null) return createHookFault(harness, `unknown event ${JSON.stringify(named.slice(0, 60))}`);
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
    isContinued: known === 'UserPromptSubmit' && input.is_continued === true,
    isAsking: known === 'Notification' && isAsking(input),
    notification: known === 'Notification' ? findNotification(input) : null,
    start: known === 'SessionStart' ? parseText(input.source, LONGEST_NAME) : null,
    model: parseText(input.model, LONGEST_NAME),
    permissionMode: parseText(input.permission_mode, LONGEST_NAME),
  };
}

/** How the texts begin with which Hivebar lets a turn go on that would end. */
export const STOP_TEXTS = {
  held: 'This stop is held by Hivebar: ',
  mail: 'Before you stop, handle what came in.',
  /** Written by the script of the hooks, when the program is gone. */
  undecided: 'hivebar: not yet. ',
} as const;

/**
 * Whether a prompt is none of a person, for programs that run the hook of a prompt also for results of tools, whose text is
 * empty, and for the reason with which a hook held a Stop.
 */
export function isContinuedPrompt(prompt: unknown): boolean {
  if (typeof prompt !== 'string') return false;
  return prompt.trim() === '' || Object.values(STOP_TEXTS).some((start) => prompt.startsWith(start));
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

function isAsking(input: Readonly<Record<string, unknown>>): boolean {
  return !RESTS.has(findNotification(input));
}

/** Older versions send no type. */
function findNotification({ notification_type, message }: Readonly<Record<string, unknown>>): string | null {
  if (notification_type !== undefined) return parseText(notification_type, LONGEST_NAME);
  if (message === 'Claude is waiting for your input') return 'idle_prompt';
  return typeof message === 'string' && message.includes('permission') ? 'permission_prompt' : null;
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

export function createHookFault(harness: string, problem: string): Fault {
  return new Fault('usage', `${harness}: ${problem}`, { is: 'machine', key: 'hook' });
}

/** Major, minor, patch. */
export type Version = readonly [number, number, number];

/** The first `N.N.N` in a text such as `2.1.163 (Claude Code)`; null: there is none. */
export function parseVersion(text: string): Version | null {
  const [, major, minor, patch] = /(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(text) ?? [];
  return patch === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

/**
 * Finds the version that Claude Code gives to the programs it starts, as `claude-code_2-1-332_harness`. Null: no version is
 * given.
 */
export function findHarnessVersion({ AI_AGENT }: Readonly<Record<string, string | undefined>>): string | null {
  const [, major, minor, patch] = /^claude-code\D+(\d{1,6})[-.](\d{1,6})[-.](\d{1,6})/.exec(AI_AGENT ?? '') ?? [];
  return patch === undefined ? null : `${major}.${minor}.${patch}`;
}

/** An unknown version counts as older than every other. */
export function isAtLeast(version: Version | null, first: Version): boolean {
  if (version === null) return false;
  for (const [at, number] of first.entries()) {
    const ours = version[at] ?? 0;
    if (ours !== number) return ours > number;
  }
  return true;
}
