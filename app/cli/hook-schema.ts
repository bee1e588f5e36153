import { type CommandSchema, joinWithOr, type ParsedValues } from '../../core/command/index.ts';
import { HARNESS_NAMES } from '../../core/hooks/index.ts';

/** The flags of the program that an agent program runs. It parses them itself, because it starts at every step of an agent. */
export const HOOK_FLAGS = {
  harness: {
    type: 'string',
    value: 'NAME',
    completes: HARNESS_NAMES,
    help: `the agent program that runs the hook: ${joinWithOr(HARNESS_NAMES)}`,
  },
  event: {
    type: 'string',
    value: 'EVENT',
    completes: [
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PreCompact',
      'Stop',
      'SessionEnd',
      'notify',
    ],
    help: 'SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PreCompact, Stop or SessionEnd; an event named on stdin overrides it. For Codex also: notify JSON, as its setting notify appends it, which reports only the end of a turn',
  },
  persona: {
    type: 'string',
    value: 'PERSONA',
    completes: 'persona',
    help: 'the persona, if neither stdin nor HIVEBAR_PERSONA names it (default: the one that announced this session, or the only one that works in this folder)',
  },
  deliver: {
    type: 'string',
    value: 'inject|doorbell',
    completes: ['inject', 'doorbell'],
    help: 'inject the contents, or only ring that something waits (default: inject)',
  },
  'on-stop': {
    type: 'string',
    value: 'continue|leave',
    completes: ['continue', 'leave'],
    help: 'whether items of priority 0 and 1 continue a turn that would end (default: continue)',
  },
  'harness-version': {
    type: 'string',
    value: 'VERSION',
    help: 'version of the agent program, which decides what it accepts (default: from AI_AGENT)',
  },
} as const;

const SHARED = {
  harness: {
    type: 'string',
    value: 'NAME',
    completes: HARNESS_NAMES,
    help: `only this program: ${joinWithOr(HARNESS_NAMES)} (default: each one that has a settings folder)`,
  },
  project: {
    type: 'boolean',
    help: 'use the settings of this folder, such as .claude/settings.local.json or .codex/hooks.json',
  },
} as const;

const PERSONA = {
  type: 'string',
  value: 'PERSONA',
  completes: 'persona',
  help: 'the persona of the sessions (default: the variable HIVEBAR_PERSONA of each session)',
} as const;

export const HOOK_SCHEMA = {
  name: 'hook',
  about: [
    'Agent programs run this command at their turn boundaries, with JSON on stdin. It tells the agent what waits in its inbox',
    'and blocks a Stop that a gate does not allow. It prints what the program accepts, or nothing if there is nothing to tell.',
    'It always exits with 0, so that an error here never stops an agent.',
  ],
  isVerbOptional: true,
  flags: HOOK_FLAGS,
  verbs: {
    install: {
      help: 'add the hooks to the settings of the agent programs that are used here; other hooks stay',
      flags: {
        ...SHARED,
        persona: PERSONA,
      },
    },
    uninstall: { help: 'remove these hooks, and nothing else', flags: SHARED },
    print: {
      help: 'print the hooks of one program, to add them by hand: for settings that hold comments',
      positionals: { name: { value: 'PROGRAM', choices: HARNESS_NAMES } },
      flags: { project: SHARED.project, persona: PERSONA },
    },
    status: {
      help: 'check that the hooks are installed, up to date and working. Exit 0: yes; 1: no',
      flags: { ...SHARED, json: { type: 'boolean', help: 'print JSON for a script' } },
    },
  },
  examples: [
    { run: 'hivebar hook install --persona ada', does: 'tell ada of mail between turns, from the next session on' },
    { run: 'hivebar hook --harness claude --event Stop < turn.json', does: 'see what Claude Code would get' },
  ],
} as const satisfies CommandSchema;

/** What a command line of `hivebar hook install`, `uninstall` or `status` says. */
export type HookInstallValues = Exclude<ParsedValues<typeof HOOK_SCHEMA>, { readonly verb: null }>;
