import {
  createSlots,
  type Harness,
  type HarnessModule,
  HOOK_TIMEOUT_S,
  type HookInput,
  isContinuedPrompt,
  parseHookTurn,
} from './harness.ts';
import { formatRowReply, ROWS, toCarries } from './rows.ts';

/**
 * Qwen Code says what Claude Code says. It runs UserPromptSubmit for results of tools and for the reason of a Stop too, and its
 * `stop_hook_active` is true at every Stop (both seen in 0.24.4), so that flag says nothing.
 */
const translate = (input: HookInput): HookInput => ({
  ...input,
  is_continued: isContinuedPrompt(input.prompt),
  stop_hook_active: undefined,
});

function createQwen(): Harness {
  return {
    name: 'qwen',
    readTurn: (stdin, event) => parseHookTurn('qwen', stdin, event, translate),
    carries: ({ event }) => toCarries(ROWS[event]),
    formatReply: ({ event }, answer) => formatRowReply(ROWS[event], event, answer),
  };
}

export const qwen: HarnessModule = {
  name: 'qwen',
  label: 'Qwen Code',
  guide: 'qwen-code',
  create: createQwen,
  resume: (session) => ['qwen', '--resume', session],
  setup: {
    home: { variable: 'QWEN_HOME', folder: '.qwen' },
    projectFolder: '.qwen',
    files: { user: 'settings.json', project: 'settings.json' },
    form: { is: 'groups' },
    events: createSlots(
      [
        ...(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'StopFailure'] as const),
        ...(['SessionEnd', 'PermissionRequest', 'Notification', 'SubagentStop'] as const),
      ],
      '*',
    ),
    timeout: HOOK_TIMEOUT_S * 1000,
    windows: { shell: 'powershell', extra: { shell: 'powershell' } },
    asksForTrust: false,
  },
};
