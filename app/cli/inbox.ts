import type { Io, TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { toFault } from '../../core/model/index.ts';
import { explain } from './explain.ts';
import { type InboxArgs, parseInboxArgs, parseWholeNumber } from './inbox-args.ts';
import { runDrain } from './inbox-drain.ts';
import { listItems, parseListFilter } from './inbox-list.ts';
import { listMail, readMail, showMail } from './inbox-mail.ts';
import { push } from './inbox-push.ts';
import { findOwnPersona } from './persona-lookup.ts';

export const command: TextCommand = {
  usage: 'inbox list|show|read|push|drain [PERSONA] [ID...] [--json] [flags] [TEXT...]',
  about: [
    'list PERSONA   the newest messages, unread ones with a *; marks nothing',
    '  --limit N           so many at most (default: 20)',
    '  --pending           instead: the items that no session was shown yet and nobody read',
    '  --delivered         instead: the items that a session was shown',
    '  --all               instead: all items, with what became of each',
    'show PERSONA [ID...]   one or more in full (without ID: the newest); marks nothing',
    'read PERSONA [ID...]   shows and marks as read: those, or all that are unread',
    'push TEXT      an item for an agent, shown between its turns; without TEXT from stdin',
    '  --to PERSONA        who gets it',
    '  --bead PERSONA      the same',
    '  --session ID        only that session of the persona; without --to: of the one that announced it',
    '  --broadcast         all of them, each until it was shown it itself',
    '  --type decision|alert|event|agent|mail|gate|system   (default: agent)',
    '  --source NAME       who says it (default: HIVEBAR_PERSONA, else cli)',
    '  --priority 0|1|2|3|4   0 is never put off, 2 is the default',
    '  --ttl TIME          not shown any more after so long: 30s, 10m, 2h, 1d',
    '  --dedup-key KEY     pushed again to the same persona with the same key it is stored once, unless the first one expired',
    '                      unseen; --json says which ("new"), and ends with 3 when it was there already',
    'drain PERSONA  prints what is pending for an agent and marks what was written as delivered; ends with 0 always',
    '  --session ID        also what is for that session only; without PERSONA: of the one that announced it',
    '  --reconcile         accepted and changes nothing: every drain is one of the database',
    '--json is for list, show, read, push and drain. Without PERSONA list and drain take HIVEBAR_PERSONA.',
  ],
  examples: [
    { run: 'hivebar inbox list ada', does: "ada's newest messages, a line each" },
    { run: 'hivebar inbox show ada 12', does: 'one message in full' },
    { run: 'hivebar inbox read ada', does: 'all unread mail, which is read from then on' },
    {
      run: 'hivebar inbox push --to ada --type alert --source ci --priority 0 "main is red"',
      does: 'comes before all else',
    },
    { run: 'hivebar inbox drain --session 7f3c', does: 'what a hook gives to the agent' },
  ],
  async run(args, io) {
    if (args.find((arg) => !arg.startsWith('-')) === 'drain') return await drain(() => parseInboxArgs(args), io);
    return await run(parseInboxArgs(args), io);
  },
};

/** Hooks run this command: neither an error of ours nor a wrong command line may stop the agent. */
async function drain(args: () => InboxArgs, io: Io): Promise<number> {
  try {
    await runDrain(args(), io);
  } catch (error) {
    const fault = toFault(error, { is: 'machine', key: 'inbox' });
    io.err(
      fault.code === 'internal'
        ? `hivebar inbox drain: ${displayName(fault.explain())}\n`
        : explain('inbox', fault).text,
    );
  }
  return 0;
}

async function run(args: InboxArgs, io: Io): Promise<number> {
  const { verb, words, flags } = args;
  if (verb === 'push') return await push(args, io);
  if (verb === 'drain') return await drain(() => args, io);
  const [name, ...rest] = words;
  const persona = name ?? (verb === 'list' ? findOwnPersona(io) : null);
  if (persona === null || persona === '')
    throw toUsageFault(new Error(`inbox ${verb}: whose inbox? Give the name of a persona`));
  const limit = parseWholeNumber(flags.limit ?? '20');
  const json = flags.json === true;
  switch (verb) {
    case 'list': {
      if (rest.length > 0) throw toUsageFault(new Error(`inbox list: takes no ids (${rest.join(' ')})`));
      const filter = parseListFilter(flags);
      return await (filter === null ? listMail(io, persona, limit, json) : listItems(io, persona, filter, limit, json));
    }
    case 'show':
      return await showMail(io, persona, rest.map(parseWholeNumber), json);
    case 'read':
      return await readMail(io, persona, rest.map(parseWholeNumber), json);
  }
}
