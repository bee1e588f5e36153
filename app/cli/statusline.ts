import { defineCommand } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import type { StatusWire } from '../status/index.ts';
import { countQuestions, formatQuestions, formatUnread } from './persona-text.ts';
import { isTypedInput } from './process.node.ts';
import { parseStatus, type StatusPersona } from './status-json.ts';
import { askTray } from './tray-request.node.ts';

/** How long to wait for the tray process, in milliseconds. The agent program shows its old line meanwhile. */
const WITHIN_MS = 2000;

export const command = defineCommand(
  {
    name: 'statusline',
    about: [
      'Prints one line for the status line of Claude Code: the persona of the session, its unread and urgent mail, and its questions',
      'to you. It reads the JSON of Claude Code on stdin. Without a persona it prints the sums of all inboxes.',
    ],
    flags: {},
    notes: ['While Hivebar does not run it prints nothing, and exits with 0.'],
    examples: [{ run: 'hivebar statusline </dev/null', does: 'the line of HIVEBAR_PERSONA, else the sums' }],
  },
  async (_, io) => {
    const input = isTypedInput() ? '' : await io.input();
    const answer = await askTray({ method: 'GET', path: '/status.json', body: null }, io.env, WITHIN_MS);
    if (answer.is !== 'answered' || answer.status !== 200) return 0;
    io.out(`${formatStatusLine(parseStatus(answer.body), parseSession(input), io.env.HIVEBAR_PERSONA ?? '')}\n`);
    return 0;
  },
);

/** What Claude Code says of the session that the line is for. */
interface StatusLineSession {
  readonly id: string;
  readonly folders: readonly unknown[];
}

function parseSession(text: string): StatusLineSession {
  try {
    const { session_id, cwd, workspace } = JSON.parse(text) as {
      readonly session_id?: unknown;
      readonly cwd?: unknown;
      readonly workspace?: { readonly project_dir?: unknown };
    };
    return { id: typeof session_id === 'string' ? session_id : '', folders: [workspace?.project_dir, cwd] };
  } catch {
    return { id: '', folders: [] }; // somebody else runs it, who says nothing of a session
  }
}

/** @param name HIVEBAR_PERSONA; empty when it is not set */
export function formatStatusLine(status: StatusWire, session: StatusLineSession, name: string): string {
  const { totals, decisions } = status;
  const persona = findSessionPersona(status, session, name);
  if (persona === null) {
    const questions = status.personas.reduce((sum, each) => sum + countQuestions(each), decisions.length);
    return `hivebar: ${formatMail(totals, questions)}`;
  }
  const shown = displayName(persona.label);
  if (persona.state === 'DOWN') return `${shown}: inbox down`;
  const asked = decisions.filter((decision) => decision.persona === persona.id).length;
  return `${shown}: ${formatMail(persona, countQuestions(persona) + asked)}`;
}

/**
 * Finds the persona by its name, else by the folder in which its agent works. Of several agents in one folder it takes the row whose
 * id ends as that of the session begins, as the rows of sessions without a persona do.
 */
function findSessionPersona(
  { personas }: StatusWire,
  { id, folders }: StatusLineSession,
  name: string,
): StatusPersona | null {
  if (name !== '')
    return personas.find((each) => each.id === name) ?? personas.find((each) => each.label === name) ?? null;
  const near = personas.filter(({ cwd, agent }) => cwd !== null && agent !== 'gone' && folders.includes(cwd));
  const [only] = near;
  if (only !== undefined && near.length === 1) return only;
  return near.find((each) => id.length >= SHORT_ID && each.id.endsWith(`-${id.slice(0, SHORT_ID)}`)) ?? null;
}

/** The characters of a session's id that stand in the id of its row. */
const SHORT_ID = 8;

function formatMail(
  { unread, unreadIs, urgent }: Pick<StatusPersona, 'unread' | 'unreadIs' | 'urgent'>,
  questions: number,
): string {
  return [
    `${formatUnread(unread, unreadIs)} unread`,
    ...(urgent === null || urgent === 0 ? [] : [`${urgent} urgent`]),
    ...(questions === 0 ? [] : [`${formatQuestions(questions)} for you`]),
  ].join(', ');
}
