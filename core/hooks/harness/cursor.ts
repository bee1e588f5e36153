import {
  createSlot,
  type Harness,
  type HarnessModule,
  type HarnessSetup,
  HOOK_TIMEOUT_S,
  type HookInput,
  type HookTurn,
  parseHookTurn,
  toHookEventName,
} from './harness.ts';
import { type Dialect, formatRowReply, type HarnessRows, SILENT, SILENT_ROWS, toCarries } from './rows.ts';

/** Cursor ignores a whole file with one event that it does not know, and refuses entries with other keys than these. */
const SETUP: HarnessSetup = {
  home: { variable: null, folder: '.cursor' },
  projectFolder: '.cursor',
  files: { user: 'hooks.json', project: 'hooks.json' },
  form: {
    is: 'entries',
    version: { user: 1, project: 1 },
    formatEntry: ({ command, timeout }) => ({ command, timeout }),
  },
  events: {
    sessionStart: createSlot('SessionStart'),
    beforeSubmitPrompt: createSlot('UserPromptSubmit'),
    preToolUse: createSlot('PreToolUse'),
    postToolUse: createSlot('PostToolUse'),
    stop: createSlot('Stop'),
    sessionEnd: createSlot('SessionEnd'),
  },
  timeout: HOOK_TIMEOUT_S,
  windows: { shell: 'cmd or powershell' },
  asksForTrust: false,
};

/**
 * What Cursor reads at each event (harnesses, section 6). Its documentation gives beforeSubmitPrompt no text for the model, and
 * its answer to a stop is a message of the person.
 */
const ROWS: HarnessRows = {
  ...SILENT_ROWS,
  SessionStart: { text: 'context', block: 'nothing' },
  UserPromptSubmit: { text: 'nothing', block: 'decision' },
  PreToolUse: { text: 'nothing', block: 'permission' },
  PostToolUse: { text: 'context', block: 'nothing' },
  Stop: { text: 'reason', block: 'nothing' },
};

const DIALECT: Dialect = {
  context: (_, additional_context) => ({ additional_context }),
  decision: (event, text) =>
    event === 'Stop' ? { followup_message: text.replaceAll('\n', ' ') } : { continue: false, user_message: text },
  permission: (reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  note: () => null,
};

/** Only `stop` lacks `session_id`, and only `sessionStart` is said to have it: both have the conversation. */
function translate(input: HookInput): HookInput {
  const { conversation_id, session_id, cwd, workspace_roots, loop_count, status } = input;
  const [root] = Array.isArray(workspace_roots) ? workspace_roots : [];
  const event = toHookEventName(SETUP.events, input.hook_event_name);
  return {
    ...input,
    hook_event_name: event,
    session_id: conversation_id ?? session_id,
    cwd: typeof cwd === 'string' && cwd !== '' ? cwd : root,
    stop_hook_active: typeof loop_count === 'number' ? loop_count > 0 : undefined,
    // A stop that the person asked for, or that failed, is left alone.
    error: event === 'Stop' && status !== 'completed' ? (status ?? 'unknown') : undefined,
  };
}

function createCursor(): Harness {
  return {
    name: 'cursor',
    readTurn: (stdin, event) => parseHookTurn('cursor', stdin, event, translate),
    carries: ({ event }: HookTurn) => ({
      ...toCarries(ROWS[event]),
      onlyRings: event === 'Stop',
      everything: event === 'PostToolUse',
    }),
    formatReply: ({ event }, answer) =>
      event === 'Stop' && answer.is === 'inject' ? SILENT : formatRowReply(ROWS[event], event, answer, DIALECT),
  };
}

export const cursor: HarnessModule = {
  name: 'cursor',
  label: 'Cursor',
  guide: 'cursor',
  create: createCursor,
  resume: (session) => ['cursor-agent', '--resume', session],
  setup: SETUP,
};
