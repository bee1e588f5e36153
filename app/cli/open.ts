import { defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { act, unwrapResponse } from './act.ts';
import { formatNotes, formatUnread } from './persona-text.ts';
import { listPersonas, parseStatus } from './status-json.ts';
import { askTray } from './tray-request.node.ts';

export const command = defineCommand(
  {
    name: 'open',
    about: [
      'Opens the session of a persona, as a click on its notification does, or its page if it has no session. Without PERSONA',
      'it opens the status page. If nothing can be opened, it prints the address.',
      '--next opens whoever needs you most, as `hivebar status` lists them, and says why.',
    ],
    positionals: { persona: { value: 'PERSONA', optional: true, completes: 'persona' } },
    flags: {
      next: { type: 'boolean', help: 'open the persona that needs you most; exit 1 when nobody needs you' },
      page: { type: 'boolean', help: 'open the page even if there is a session' },
      print: {
        type: 'boolean',
        help: 'print the address of the page, which works once and for a minute, and open nothing',
      },
    },
    examples: [
      { run: 'hivebar open', does: 'the status page' },
      { run: 'hivebar open --next', does: 'the session of whoever needs you most' },
      { run: 'hivebar open ada', does: "ada's session" },
      { run: 'hivebar open ada --page', does: "ada's page" },
      { run: 'hivebar open --print', does: 'an address for a browser of your choice' },
    ],
  },
  async ({ persona: named, next, page, print }, io) => {
    if (next && named !== undefined)
      throw toUsageFault(new Error(`use only one of --next and PERSONA: --next chooses the persona, not ${named}`));
    if (page && print)
      throw toUsageFault(new Error('use only one of --page and --print: --print prints the address of the page'));
    const chosen = next ? await findNext(io) : null;
    if (next && chosen === null) return 1;
    const persona = chosen?.id ?? named;
    const target = persona === undefined ? {} : { persona };
    if (print) {
      const link = await act(io, 'link', target);
      if (link === null) return 1;
      io.out(`${parseUrl(link)}\n`);
      return 0;
    }
    const opened = await act(io, page ? 'page' : 'open', { ...target, ...findActivationToken(io) });
    if (opened === null) {
      const url = await fetchLink(target, io);
      if (url !== null) io.err(`open this address in a browser within a minute: ${url}\n`);
      return 1;
    }
    const why = chosen === null ? '' : `: ${chosen.why}`;
    io.out(`${formatOpened(persona, opened, page)}${why}\n`);
    return 0;
  },
);

/** Finds the persona that needs the person most, and why. Null: nobody does, or nobody can be asked, and the person was told. */
async function findNext(io: Io): Promise<{ readonly id: string; readonly why: string } | null> {
  const body = unwrapResponse(await askTray({ method: 'GET', path: '/status.json', body: null }, io.env), io);
  if (body === null) return null;
  const status = parseStatus(body);
  const [first] = listPersonas(status, { sort: 'need', unread: true });
  if (first === undefined) {
    io.err('hivebar: nobody has unread mail or needs you\n');
    return null;
  }
  const { id, unread, unreadIs } = first;
  return { id, why: formatNotes(first, status) || `${formatUnread(unread, unreadIs)} unread` };
}

/** Formats what was opened, from the answer of the running program. */
export function formatOpened(persona: string | undefined, answer: string, wantsPage: boolean): string {
  const { result } = JSON.parse(answer) as { readonly result: { readonly opened: string } };
  if (persona === undefined) return 'opened the status page';
  const name = displayName(persona);
  if (result.opened === 'page')
    return wantsPage ? `opened the page of ${name}` : `${name} has no session: opened its page`;
  if (result.opened === 'none') return `the session of ${name} is opening`;
  return `opened ${name}`;
}

/** Finds the token that lets the desktop bring the window to the front, when the process that started us passed it on. */
function findActivationToken({ env }: Io): { readonly activationToken?: string } {
  const token = env.XDG_ACTIVATION_TOKEN ?? env.DESKTOP_STARTUP_ID ?? '';
  return token === '' ? {} : { activationToken: token };
}

/** Fetches the link for a person whose desktop opens nothing. Null when there is nothing to open either. */
async function fetchLink(params: object, { env }: Io): Promise<string | null> {
  const response = await askTray({ method: 'POST', path: '/api/v1/actions/link', body: JSON.stringify(params) }, env);
  return response.is === 'answered' && response.status === 200 ? parseUrl(response.body) : null;
}

function parseUrl(answer: string): string {
  const { result } = JSON.parse(answer) as { readonly result: { readonly url: string } };
  return displayName(result.url);
}
