import type { TextCommand } from '../../core/command/index.ts';

const INSTALLS: ReadonlySet<string> = new Set(['install', 'uninstall', 'status']);

export const command: TextCommand = {
  usage: 'hook --harness claude|codex --event EVENT [flags] | hook install|uninstall|status [flags]',
  about: [
    'What an agent program runs at its boundaries, with its own JSON on stdin: tells the agent what waits in its inbox, and',
    'holds a Stop that a gate does not let pass. Prints what that program accepts, and nothing where there is nothing to say.',
    'Ends with 0 whatever happens: what fails here stops nobody.',
    '',
    '  --harness claude|codex       which program asks',
    '  --event EVENT                SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PreCompact, Stop, SessionEnd;',
    '                               what stdin says goes before it',
    '                               codex also: notify JSON, as its setting notify appends it: the turn is over, and no more',
    '  --persona PERSONA            whom it is for, where neither stdin nor HIVEBAR_PERSONA says it (default: whoever is',
    '                               announced with this session, or works alone in this folder)',
    '  --deliver inject|doorbell    contents, or only that there is something (default inject)',
    '  --on-stop continue|leave     whether items of priority 0 and 1 let a turn go on that would end (default continue)',
    '  --harness-version VERSION    for what later versions accept (default: as AI_AGENT says)',
    '',
    'install    puts the hooks into the settings of the agent programs that are used here, beside those of others',
    'uninstall  takes them out again, and nothing else',
    'status     says whether they are there, right, and run: exit 0, else 1; --json for a script',
    '  --harness claude|codex   only this one (default: each that has a settings folder)',
    '  --persona PERSONA        whom the sessions are (default: the variable HIVEBAR_PERSONA of each session)',
    "  --project                this folder's own settings",
  ],
  examples: [
    { run: 'hivebar hook install --persona ada', does: 'from the next session on, ada hears of mail between turns' },
    { run: 'hivebar hook --harness claude --event Stop < turn.json', does: 'what Claude Code would be told' },
  ],
  async run(args, io) {
    if (INSTALLS.has(args[0] ?? '')) {
      const { runHookInstall } = await import('./hook-install.ts');
      return runHookInstall(args, io);
    }
    const { answerHook } = await import('./hook/index.ts');
    return answerHook(args, io);
  },
};
