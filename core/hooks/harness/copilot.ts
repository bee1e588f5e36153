import {
  createSlot,
  type Harness,
  type HarnessModule,
  type HarnessSetup,
  HOOK_TIMEOUT_S,
  type HookInput,
  type HookTurn,
  isContinuedPrompt,
  parseHookTurn,
} from './harness.ts';
import { type Dialect, formatRowReply, type HarnessRows, SILENT_ROWS, toCarries } from './rows.ts';

/**
 * Names in PascalCase, with which Copilot CLI writes the fields that Claude Code writes. Its permissionRequest is not among them:
 * it runs for every call, whether or not the person is asked.
 */
const SETUP: HarnessSetup = {
  home: { variable: 'COPILOT_HOME', folder: '.copilot' },
  projectFolder: '.github/copilot',
  // A file of ours, because one bad entry in settings would void all hooks there. In a project the settings of this user alone.
  files: { user: 'hooks/hivebar.json', project: 'settings.local.json' },
  form: {
    is: 'entries',
    version: { user: 1, project: null },
    formatEntry: ({ command, isPowerShell, timeout, matcher }) => ({
      ...{ type: 'command', [isPowerShell ? 'powershell' : 'command']: command, timeoutSec: timeout },
      ...(matcher === null ? {} : { matcher }),
    }),
  },
  events: {
    SessionStart: createSlot('SessionStart'),
    UserPromptSubmit: createSlot('UserPromptSubmit'),
    PreToolUse: createSlot('PreToolUse'),
    PostToolUse: createSlot('PostToolUse'),
    Stop: createSlot('Stop'),
    SessionEnd: createSlot('SessionEnd'),
    Notification: createSlot('Notification', 'permission_prompt|elicitation_dialog'),
    SubagentStop: createSlot('SubagentStop'),
  },
  timeout: HOOK_TIMEOUT_S,
  windows: { shell: 'powershell' },
  asksForTrust: false,
};

/** What Copilot CLI reads at each event (harnesses, section 5). The output at UserPromptSubmit is dropped. */
const ROWS: HarnessRows = {
  ...SILENT_ROWS,
  SessionStart: { text: 'context', block: 'nothing' },
  PreToolUse: { text: 'nothing', block: 'permission' },
  PostToolUse: { text: 'context', block: 'nothing' },
  Stop: { text: 'reason', block: 'decision' },
};

const DIALECT: Dialect = {
  context: (_, additionalContext) => ({ additionalContext }),
  decision: (_, reason) => ({ decision: 'block', reason }),
  permission: (permissionDecisionReason) => ({ permissionDecision: 'deny', permissionDecisionReason }),
  note: () => null,
};

/** UserPromptSubmit runs again for the reason of a Stop that was held (seen in 1.0.102). */
const translate = (input: HookInput): HookInput => ({
  ...input,
  is_continued: isContinuedPrompt(input.prompt),
  source: input.source === 'new' ? 'startup' : input.source,
});

function createCopilot(): Harness {
  return {
    name: 'copilot',
    readTurn: (stdin, event) => parseHookTurn('copilot', stdin, event, translate),
    carries: ({ event }: HookTurn) => ({ ...toCarries(ROWS[event]), everything: event === 'PostToolUse' }),
    formatReply: ({ event }, answer) => formatRowReply(ROWS[event], event, answer, DIALECT),
  };
}

export const copilot: HarnessModule = {
  name: 'copilot',
  label: 'Copilot CLI',
  guide: 'copilot-cli',
  create: createCopilot,
  resume: (session) => ['copilot', `--resume=${session}`],
  setup: SETUP,
};
