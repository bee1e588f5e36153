import {
  createSlot,
  type Harness,
  type HarnessModule,
  type HarnessSetup,
  HOOK_TIMEOUT_S,
  type HookInput,
  isContinuedPrompt,
  parseHookTurn,
  toHookEventName,
} from './harness.ts';
import { type Dialect, formatRowReply, type HarnessRows, SILENT_ROWS, toCarries } from './rows.ts';

const SETUP: HarnessSetup = {
  home: { variable: null, folder: '.gemini' },
  projectFolder: '.gemini',
  files: { user: 'settings.json', project: 'settings.json' },
  form: { is: 'groups' },
  events: {
    SessionStart: createSlot('SessionStart'),
    BeforeAgent: createSlot('UserPromptSubmit'),
    BeforeTool: createSlot('PreToolUse'),
    AfterTool: createSlot('PostToolUse'),
    AfterAgent: createSlot('Stop'),
    SessionEnd: createSlot('SessionEnd'),
    Notification: createSlot('Notification'),
  },
  timeout: HOOK_TIMEOUT_S * 1000,
  windows: { shell: 'powershell' },
  asksForTrust: false,
};

/** What Gemini CLI reads at each event (harnesses, section 4). */
const ROWS: HarnessRows = {
  ...SILENT_ROWS,
  SessionStart: { text: 'context', block: 'nothing' },
  UserPromptSubmit: { text: 'context', block: 'decision' },
  PreToolUse: { text: 'nothing', block: 'permission' },
  PostToolUse: { text: 'context', block: 'nothing' },
  Stop: { text: 'reason', block: 'decision' },
};

const NATIVE_NAMES = new Map(Object.entries(SETUP.events).map(([name, { event }]) => [event, name]));

const deny = (reason: string): object => ({ decision: 'deny', reason });

const DIALECT: Dialect = {
  context: (event, additionalContext) => ({
    hookSpecificOutput: { hookEventName: NATIVE_NAMES.get(event) ?? event, additionalContext },
  }),
  decision: (_, reason) => deny(reason),
  permission: deny,
  note: (systemMessage) => ({ systemMessage }),
};

/** BeforeAgent runs again for the reason of an AfterAgent that was denied (seen in 0.61.0). */
function translate(input: HookInput): HookInput {
  return {
    ...input,
    hook_event_name: toHookEventName(SETUP.events, input.hook_event_name),
    is_continued: isContinuedPrompt(input.prompt),
    last_assistant_message: input.prompt_response,
    notification_type: input.notification_type === 'ToolPermission' ? 'permission_prompt' : input.notification_type,
  };
}

function createGemini(): Harness {
  return {
    name: 'gemini',
    readTurn: (stdin, event) => parseHookTurn('gemini', stdin, event, translate),
    carries: ({ event }) => toCarries(ROWS[event]),
    formatReply: ({ event }, answer) => formatRowReply(ROWS[event], event, answer, DIALECT),
  };
}

export const gemini: HarnessModule = {
  name: 'gemini',
  label: 'Gemini CLI',
  guide: 'gemini-cli',
  create: createGemini,
  resume: (session) => ['gemini', '--resume', session],
  setup: SETUP,
};
