import { type Command, type Io, parseCommandLine, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { toFault } from '../../core/model/index.ts';
import { explain } from './explain.ts';
import { runDrain } from './inbox-drain.ts';
import { listItems, listMail, parseListFilter, readMail, showMail } from './inbox-list.ts';
import { push } from './inbox-push.ts';
import { INBOX_SCHEMA, type InboxValues } from './inbox-schema.ts';
import { findOwnPersona } from './persona-lookup.ts';

const LIMIT = 20;

export const command: Command = {
  schema: INBOX_SCHEMA,
  async run(args, io) {
    const parse = (): InboxValues => parseCommandLine(INBOX_SCHEMA, args);
    if (args.find((arg) => !arg.startsWith('-')) === 'drain') return await runSafely(parse, io);
    return await run(parse(), io);
  },
};

/** Hooks run `drain`: neither an error of ours nor a wrong command line may stop the agent. */
async function runSafely(parse: () => InboxValues, io: Io): Promise<number> {
  try {
    const values = parse();
    if (values.verb === 'drain') await runDrain(values, io);
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

async function run(values: InboxValues, io: Io): Promise<number> {
  switch (values.verb) {
    case 'push':
      return await push(values, io);
    case 'drain':
      return await runSafely(() => values, io);
    case 'show':
      return await showMail(io, values.persona, values.ids, values.json);
    case 'read':
      return await readMail(io, values.persona, values.ids, values.json);
    case 'list': {
      const { limit = LIMIT, json } = values;
      const persona = values.persona ?? findOwnPersona(io);
      if (persona === null || persona === '')
        throw toUsageFault(new Error('inbox list: whose inbox? Give the name of a persona'));
      const filter = parseListFilter(values);
      return await (filter === null ? listMail(io, persona, limit, json) : listItems(io, persona, filter, limit, json));
    }
  }
}
