import type { CommandSchema } from '../../../command/index.ts';

const NAME = { value: 'NAME', missing: 'NAME is missing: hivebar source list shows them' } as const;
const JSON_FLAG = { json: { type: 'boolean', help: 'print JSON for a script' } } as const;
const PROGRAM = {
  value: 'PROGRAM [ARG...]',
  help: 'the program that is the source, and its arguments; no shell is used',
} as const;

export const SOURCE_SCHEMA = {
  name: 'source',
  about: [
    'A program, a file or a folder of mailboxes of yours can be a source: it tells Hivebar which personas it has and what waits',
    'for them. NAME is the prefix of its personas. A change takes effect at once, and docs/guides/sources.md teaches it.',
  ],
  verbs: {
    add: {
      help: 'watch a program, a file, mailboxes or a server',
      positionals: { name: { value: 'NAME', missing: 'source add: NAME is missing' } },
      flags: {
        every: {
          type: 'duration',
          value: 'TIME',
          help: 'run the program once per TIME (5s to 1h); without it the program stays',
        },
        maildir: { type: 'string', value: 'DIR', completes: 'file', help: 'watch a folder of mailboxes' },
        layout: {
          type: 'choice',
          choices: ['amq', 'maildir', 'flat'],
          help: 'how the mailboxes lie in it',
          default: 'maildir',
        },
        file: {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'watch a file of lines that another program puts in place',
        },
        stale: { type: 'duration', value: 'TIME', help: 'a file that is older is not believed' },
        http: { type: 'string', value: 'URL', help: 'watch a server: URL/hivebar, or a hive at URL' },
        cwd: { type: 'string', value: 'DIR', completes: 'file', help: 'the folder in which the program runs' },
        env: { type: 'string', value: 'NAME=VALUE', multiple: true, help: 'a variable of its environment' },
        'stalled-after': {
          type: 'duration',
          value: 'TIME',
          help: 'an agent is stalled when nobody takes its mail for TIME',
        },
        acts: { type: 'boolean', help: 'a click may have it mark mail as read, or reply' },
        opens: { type: 'boolean', help: 'a click may run what it names' },
        yes: { type: 'boolean', help: 'do not ask' },
      },
      rest: PROGRAM,
    },
    list: { help: 'list the sources, the places where each searches, and what it found', flags: JSON_FLAG },
    show: {
      help: 'show how a source does, and the last lines of its stderr',
      positionals: { name: NAME },
      flags: JSON_FLAG,
    },
    check: {
      help: 'run the rules for sources against one, each with a verdict; exit 1 when it breaks one',
      positionals: { name: { value: 'NAME', optional: true } },
      flags: JSON_FLAG,
      rest: PROGRAM,
    },
    restart: { help: 'end a source and begin it again', positionals: { name: NAME } },
    remove: { help: 'stop watching a source; its event files stay', positionals: { name: NAME } },
  },
  examples: [
    { run: 'hivebar source add tickets -- ~/bin/tickets-source', does: 'a program that stays and is asked' },
    { run: 'hivebar source add builds --every 1m -- ~/bin/builds', does: 'a program that runs once per minute' },
    { run: 'hivebar source add mail --maildir ~/Mail', does: 'a folder of Maildirs' },
    { run: 'hivebar source check -- ~/bin/tickets-source', does: 'try a program before it is added' },
  ],
} as const satisfies CommandSchema;
