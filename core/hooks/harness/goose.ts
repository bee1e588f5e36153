import {
  createSlot,
  type Harness,
  type HarnessModule,
  type HarnessSetup,
  HOOK_TIMEOUT_S,
  type HookInput,
  parseHookTurn,
} from './harness.ts';
import { SILENT, SILENT_ROW, toCarries } from './rows.ts';

/** Hooks of Goose belong to a plugin. Ours is a folder with a manifest, found in every session of the user or of a project. */
const SETUP: HarnessSetup = {
  home: { variable: null, folder: '.config/goose' },
  projectFolder: '.goose',
  files: {
    user: '../../.agents/plugins/hivebar/hooks/hooks.json',
    project: '../.agents/plugins/hivebar/hooks/hooks.json',
  },
  form: {
    is: 'groups',
    beside: {
      path: '../plugin.json',
      text: '{"name": "hivebar", "version": "1.0.0", "description": "Shows in Hivebar what this agent does"}\n',
    },
  },
  events: {
    SessionStart: createSlot('SessionStart'),
    UserPromptSubmit: createSlot('UserPromptSubmit'),
    PostToolUse: createSlot('PostToolUse'),
    Stop: createSlot('Stop'),
    SessionEnd: createSlot('SessionEnd'),
  },
  timeout: HOOK_TIMEOUT_S,
  windows: { shell: 'cmd, no quotes' },
  asksForTrust: false,
};

const translate = (input: HookInput): HookInput => ({
  ...input,
  hook_event_name: input.event,
  cwd: input.working_dir,
});

/** Goose: its hooks only observe. What they print is a decision or a failure, so nothing is printed. */
function createGoose(): Harness {
  return {
    name: 'goose',
    readTurn: (stdin, event) => parseHookTurn('goose', stdin, event, translate),
    carries: () => toCarries(SILENT_ROW),
    formatReply: () => SILENT,
  };
}

export const goose: HarnessModule = {
  name: 'goose',
  label: 'Goose',
  guide: 'goose',
  create: createGoose,
  resume: (session) => ['goose', 'session', '--resume', '--session-id', session],
  setup: SETUP,
};
