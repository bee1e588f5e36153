import { refuseForeignInput } from './dialect.ts';
import {
  createSlots,
  type Harness,
  type HarnessModule,
  HOOK_TIMEOUT_S,
  type HookEvent,
  type HookTurn,
  isAtLeast,
  parseHookTurn,
  parseVersion,
  type Version,
} from './harness.ts';
import { formatRowReply, type HarnessRow, ROWS, toCarries } from './rows.ts';

/** Replies that only later versions of Claude Code accept. An older version refuses them as invalid output. */
const LATER: readonly { readonly from: Version; readonly event: HookEvent; readonly row: HarnessRow }[] = [
  { from: [2, 1, 105], event: 'PreCompact', row: { text: 'nothing', block: 'decision' } },
  // Added context lets the turn go on, as a block does. After a block, though, the person reads that the hook reported a problem.
  { from: [2, 1, 163], event: 'Stop', row: { text: 'context', block: 'context' } },
];

/** @param version null: unknown, so only replies that every version accepts are used */
function createClaude(version: Version | null): Harness {
  const findRow = ({ event }: HookTurn): HarnessRow =>
    LATER.find((entry) => entry.event === event && isAtLeast(version, entry.from))?.row ?? ROWS[event];
  return {
    name: 'claude',
    readTurn: (stdin, event) => parseHookTurn('claude', stdin, event, (input) => refuseForeignInput('claude', input)),
    carries: (turn) => toCarries(findRow(turn)),
    formatReply: (turn, answer) => formatRowReply(findRow(turn), turn.event, answer),
  };
}

/** An older version ignores the whole settings file that names this event. */
const STOP_FAILURE_FROM: Version = [2, 1, 78];
/** Ten seconds more than a hook waits for a person (permission.ts). */
const PERMISSION_TIMEOUT_S = 600;

export const claude: HarnessModule = {
  name: 'claude',
  label: 'Claude Code',
  guide: 'claude-code',
  create: (version) => createClaude(version === null ? null : parseVersion(version)),
  resume: (session) => ['claude', '--resume', session],
  setup: {
    home: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
    projectFolder: '.claude',
    // Of the settings of a project those that belong to this user only. The path of a script on this machine is useless to the
    // others, who share `settings.json`.
    files: { user: 'settings.json', project: 'settings.local.json' },
    form: { is: 'groups' },
    events: {
      ...createSlots(
        [
          ...(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PreCompact', 'Stop'] as const),
          // These show whether one of its agents is asking its person for something.
          ...(['SessionEnd', 'PermissionRequest', 'StopFailure', 'Notification', 'SubagentStop'] as const),
        ],
        '*',
      ),
      StopFailure: { event: 'StopFailure', matcher: null, from: STOP_FAILURE_FROM },
      // Its dialog is shown while the hook waits, and takes an answer too.
      PermissionRequest: { event: 'PermissionRequest', matcher: null, timeout: PERMISSION_TIMEOUT_S },
    },
    timeout: HOOK_TIMEOUT_S,
    asksForTrust: false,
    waits: ['SessionStart', 'Stop'],
    windows: { shell: 'sh' },
  },
};
