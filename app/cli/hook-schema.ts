import type { CommandSchema, ParsedValues } from '../../core/command/index.ts';

/** The flags of the program that an agent program runs. It parses them itself, because it starts at every step of an agent. */
export const HOOK_FLAGS = {
  harness: { type: 'string', value: 'claude|codex', completes: ['claude', 'codex'], help: 'which program asks' },
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
    help: 'SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PreCompact, Stop or SessionEnd; what stdin says goes before it. Codex also: notify JSON, as its setting notify appends it: the turn is over, and no more',
  },
  persona: {
    type: 'string',
    value: 'PERSONA',
    completes: 'persona',
    help: 'whom it is for, where neither stdin nor HIVEBAR_PERSONA says it (default: whoever is announced with this session, or works alone in this folder)',
  },
  deliver: {
    type: 'string',
    value: 'inject|doorbell',
    completes: ['inject', 'doorbell'],
    help: 'contents, or only that there is something (default: inject)',
  },
  'on-stop': {
    type: 'string',
    value: 'continue|leave',
    completes: ['continue', 'leave'],
    help: 'whether items of priority 0 and 1 let a turn go on that would end (default: continue)',
  },
  'harness-version': {
    type: 'string',
    value: 'VERSION',
    help: 'for what later versions accept (default: as AI_AGENT says)',
  },
} as const;

const SHARED = {
  harness: {
    type: 'string',
    value: 'claude|codex',
    completes: ['claude', 'codex'],
    help: 'only this one (default: each that has a settings folder)',
  },
  project: {
    type: 'boolean',
    help: "this folder's own settings (.claude/settings.local.json, .codex/hooks.json)",
  },
} as const;

export const HOOK_SCHEMA = {
  name: 'hook',
  about: [
    'What an agent program runs at its turn boundaries, with its own JSON on stdin: tells the agent what waits in its inbox, and',
    'holds a Stop that a gate does not let pass. Prints what that program accepts, and nothing where there is nothing to say.',
    'Ends with 0 whatever happens: what fails here stops nobody.',
  ],
  isVerbOptional: true,
  flags: HOOK_FLAGS,
  verbs: {
    install: {
      help: 'put the hooks into the settings of the agent programs that are used here, beside those of others',
      flags: {
        ...SHARED,
        persona: {
          type: 'string',
          value: 'PERSONA',
          completes: 'persona',
          help: 'whom the sessions are (default: the variable HIVEBAR_PERSONA of each session)',
        },
      },
    },
    uninstall: { help: 'take them out again, and nothing else', flags: SHARED },
    status: {
      help: 'say whether they are there, right, and run: exit 0, else 1',
      flags: { ...SHARED, json: { type: 'boolean', help: 'print JSON for a script' } },
    },
  },
  examples: [
    { run: 'hivebar hook install --persona ada', does: 'from the next session on, ada hears of mail between turns' },
    { run: 'hivebar hook --harness claude --event Stop < turn.json', does: 'what Claude Code would be told' },
  ],
} as const satisfies CommandSchema;

/** What a command line of `hivebar hook install`, `uninstall` or `status` says. */
export type HookInstallValues = Exclude<ParsedValues<typeof HOOK_SCHEMA>, { readonly verb: null }>;
