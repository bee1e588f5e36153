import { defineCommand, type Io, type ParsedValues, toUsageFault } from '../../core/command/index.ts';
import { displayJson } from '../../core/format/index.ts';
import { formatUnknownPersona, unwrapResponse } from './act.ts';
import { fetchNewest, type NewestMessages } from './newest.ts';
import { getTerminalSize, isTerminal } from './process.node.ts';
import { findPersona, listPersonas, parseStatus, SORTS } from './status-json.ts';
import { formatStatusTable } from './status-table.ts';
import { askTray } from './tray-request.node.ts';

const SCHEMA = {
  name: 'status',
  about: [
    'Who needs you most comes first: urgent mail, then agents and questions that wait for you, inboxes that cannot be read, and unread mail. With PERSONA it shows one persona in detail.',
  ],
  positionals: { persona: { value: 'PERSONA', optional: true, completes: 'persona' } },
  flags: {
    unread: { type: 'boolean', help: 'only personas with unread mail or that need you' },
    sort: { type: 'choice', choices: SORTS, default: 'need', help: 'the order of personas' },
    format: {
      type: 'string',
      value: 'TEMPLATE',
      help: 'one line per persona, with a value for each {{KEY}}: a key of `personas` in the status JSON',
    },
    json: { type: 'boolean', help: 'the status JSON as the program serves it, or the part about PERSONA' },
    watch: {
      type: 'boolean',
      help: 'print every change until it is stopped: redrawn in place on a terminal; in a pipe one block for each change, with --json one line',
    },
  },
  notes: ['Exit codes: 0 shown, 1 Hivebar does not run or there is no such persona, 2 bad command line.'],
  examples: [
    { run: 'hivebar status', does: 'a table for a person' },
    { run: 'hivebar status ada', does: 'everything about ada' },
    { run: 'hivebar status --unread --watch', does: 'a live table of whoever needs you' },
    { run: "hivebar status --format '{{id}} {{unread}}'", does: 'two values per persona' },
    { run: 'hivebar status --json | jq .totals.unread', does: 'one number for a script' },
  ],
} as const;

type Flags = ParsedValues<typeof SCHEMA>;

export const command = defineCommand(SCHEMA, async (flags, io) => {
  const { json, watch, format, sort, unread } = flags;
  if (json && (format !== undefined || unread || sort !== 'need'))
    throw toUsageFault(new Error('--json is whole: it takes no --format, --unread or --sort'));
  if (watch) {
    const isInPlace = !json && format === undefined && isTerminal();
    const { watchStatus } = await import('./status-watch.ts');
    return await watchStatus(io, isInPlace, async (body) => formatAnswer(body, flags, io, fetchMessages(flags, io)));
  }
  const newest = fetchMessages(flags, io); // both are asked at once
  const body = unwrapResponse(await askTray({ method: 'GET', path: '/status.json', body: null }, io.env), io);
  const text = body === null ? null : await formatAnswer(body, flags, io, newest);
  if (text === null) return 1;
  io.out(text);
  return 0;
});

/** Fetches the newest messages where they will be shown: for one persona, and in a table that a person looks at. */
async function fetchMessages({ json, format, persona }: Flags, { env }: Io): Promise<NewestMessages> {
  if (json || format !== undefined || (persona === undefined && !isTerminal())) return {};
  return await fetchNewest(env);
}

/** Formats what the flags ask for. Null: there is no such persona, and the person was told. */
async function formatAnswer(
  body: string,
  flags: Flags,
  io: Io,
  newest: Promise<NewestMessages>,
): Promise<string | null> {
  const { persona: name, json, format } = flags;
  if (json && name === undefined) return `${displayJson(body.trimEnd())}\n`;
  const status = parseStatus(body);
  const named = name === undefined ? null : findPersona(status.personas, name);
  if (name !== undefined && named === null) {
    io.err(
      formatUnknownPersona(
        name,
        status.personas.map(({ id }) => id),
      ),
    );
    return null;
  }
  if (named !== null && json) return `${displayJson(JSON.stringify(named))}\n`;
  if (format !== undefined) {
    const { formatTemplate } = await import('./status-template.ts');
    const personas = named === null ? listPersonas(status, flags) : [named];
    return personas.map((persona) => `${formatTemplate(format, persona)}\n`).join('');
  }
  if (named !== null) return (await import('./status-persona.ts')).formatPersona(named, status, await newest);
  const size = isTerminal() ? getTerminalSize() : null;
  return formatStatusTable(status, flags, size === null ? null : { newest: await newest, columns: size.columns });
}
