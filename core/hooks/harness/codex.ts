import { type Fault, LARGE_JSON, parseJson } from '../../model/index.ts';
import { refuseForeignInput } from './dialect.ts';
import {
  createSlot,
  createSlots,
  type Harness,
  type HarnessModule,
  HOOK_TIMEOUT_S,
  type HookTurn,
  parseHookTurn,
} from './harness.ts';
import { formatRowReply, ROWS, toCarries } from './rows.ts';

/** Codex: a reply at Stop has no `hookSpecificOutput`. Text that is not JSON counts as a failure of the hook. */
function createCodex(): Harness {
  return {
    name: 'codex',
    readTurn: (stdin, event) => parseHookTurn('codex', stdin, event, (input) => refuseForeignInput('codex', input)),
    carries: ({ event }) => toCarries(ROWS[event]),
    formatReply: ({ event }, answer) => formatRowReply(ROWS[event], event, answer),
  };
}

/** Codex cuts hooks of these events at three seconds, and warns of a longer timeout at each start. */
const END_TIMEOUT_S = 3;

export const codex: HarnessModule = {
  name: 'codex',
  label: 'Codex',
  guide: 'codex',
  create: createCodex,
  resume: (session) => ['codex', 'resume', session],
  setup: {
    home: { variable: 'CODEX_HOME', folder: '.codex' },
    projectFolder: '.codex',
    files: { user: 'hooks.json', project: 'hooks.json' },
    form: { is: 'groups' },
    events: {
      ...createSlots(
        ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PreCompact', 'Stop', 'PermissionRequest'],
        '*',
      ),
      SubagentStop: createSlot('SubagentStop'),
      SessionEnd: { event: 'SessionEnd', matcher: null, timeout: END_TIMEOUT_S },
      Interrupt: { event: 'Interrupt', matcher: null, timeout: END_TIMEOUT_S },
    },
    timeout: HOOK_TIMEOUT_S,
    asksForTrust: true,
    windows: { shell: 'cmd' },
  },
};

/** The only kind of notification that Codex sends: the agent has stopped and waits for its person. */
const TURN_COMPLETE = 'agent-turn-complete';

/**
 * Parses the JSON object in kebab case that Codex appends to the program of its older setting `notify`
 * (inbox and gates, contract 5). Codex sends it after the turn, so it reports a Stop that cannot be answered. Null: the kind says
 * nothing about turns.
 */
export function parseTurnNotification(text: string): HookTurn | Fault | null {
  // Text that is not an object gets the same fault as on stdin.
  const whole = parseHookTurn('codex', text, 'Stop');
  if (!('event' in whole)) return whole;
  const input = parseJson(text, LARGE_JSON) as Readonly<Record<string, unknown>>;
  if (input.type !== TURN_COMPLETE) return null;
  const { cwd, 'thread-id': session_id, 'turn-id': turn_id, 'last-assistant-message': last_assistant_message } = input;
  return parseHookTurn('codex', JSON.stringify({ cwd, session_id, turn_id, last_assistant_message }), 'Stop');
}
