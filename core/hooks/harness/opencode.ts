import {
  createSlots,
  type Harness,
  type HarnessModule,
  HOOK_TIMEOUT_S,
  type HookTurn,
  parseHookTurn,
} from './harness.ts';
import {
  type Dialect,
  formatRowReply,
  type HarnessRow,
  type HarnessRows,
  SILENT_ROW,
  SILENT_ROWS,
  toCarries,
} from './rows.ts';

/**
 * What the plugin puts before the model. A stop is an event after it, and what is said then would arrive as the words of the person:
 * a waiter wakes the agent instead, with one sentence.
 */
const ROWS: HarnessRows = {
  ...SILENT_ROWS,
  SessionStart: { text: 'context', block: 'nothing' },
  UserPromptSubmit: { text: 'context', block: 'nothing' },
  PostToolUse: { text: 'context', block: 'nothing' },
};

/** Nothing but a text is asked for. The others stand here because a dialect has them; no row uses one. */
const DIALECT: Dialect = {
  context: (_, additionalContext) => ({ additionalContext }),
  decision: () => ({}),
  permission: () => ({}),
  note: () => null,
};

/** OpenCode: its hooks are functions of a plugin file, which we write too. So it speaks to us with our own names. */
function createOpenCode(): Harness {
  // Without a tool, PostToolUse says that a question was answered, and has no place for a text.
  const findRow = ({ event, tool }: HookTurn): HarnessRow =>
    event === 'PostToolUse' && tool === null ? SILENT_ROW : ROWS[event];
  return {
    name: 'opencode',
    readTurn: (stdin, event) => parseHookTurn('opencode', stdin, event),
    carries: (turn) => toCarries(findRow(turn)),
    formatReply: (turn, answer) => formatRowReply(findRow(turn), turn.event, answer, DIALECT),
  };
}

export const opencode: HarnessModule = {
  name: 'opencode',
  label: 'OpenCode',
  guide: 'opencode',
  create: createOpenCode,
  resume: (session) => ['opencode', '--session', session],
  setup: {
    home: { variable: null, folder: '.config/opencode', configHome: 'opencode' },
    projectFolder: '.opencode',
    files: { user: 'plugins/hivebar.js', project: 'plugins/hivebar.js' },
    form: { is: 'plugin' },
    events: createSlots(
      [
        ...(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'StopFailure', 'SessionEnd'] as const),
        'Notification',
      ],
      null,
    ),
    timeout: HOOK_TIMEOUT_S,
    windows: null,
    asksForTrust: false,
  },
};
