import { type CommandSchema, defineCommand, type Io, toUsageFault } from '../../core/command/index.ts';
import { displayJson, displayName, formatDuration } from '../../core/format/index.ts';
import type { PermissionAnswer } from '../../core/hooks/index.ts';
import { parseIso } from '../../core/model/index.ts';
import { realClock } from '../../core/ports/index.ts';
import type { PermissionWire } from '../status/index.ts';
import { act, unwrapResponse } from './act.ts';
import { askPerson } from './ask.node.ts';
import { askTray } from './tray-request.node.ts';

const NUMBER = {
  number: { value: 'N', parse: parseNumber, missing: 'N is missing: use the number of hivebar permission list' },
} as const;

const SCHEMA = {
  name: 'permission',
  about: [
    'Permission prompts of agents whose hook waits for an answer. The setting answerPermissions switches this on.',
    'Only a person at a terminal can answer, and never from the shell of an agent.',
  ],
  verbs: {
    list: {
      help: 'list the prompts, each with the whole call',
      flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
    },
    allow: { help: 'allow a call once, after it was shown', positionals: NUMBER },
    deny: { help: 'deny a call', positionals: NUMBER },
    terminal: { help: 'leave a prompt to the dialog of the agent program', positionals: NUMBER },
  },
  examples: [
    { run: 'hivebar permission list', does: 'what waits for an answer' },
    { run: 'hivebar permission allow 3', does: 'shows the call, asks, and allows it' },
  ],
} as const satisfies CommandSchema;

export const command = defineCommand(SCHEMA, async (values, io) => {
  if (values.verb === 'list') return await list(values.json, io);
  return await answer(values.verb, values.number, io);
});

async function list(asJson: boolean, io: Io): Promise<number> {
  const permissions = await fetchPermissions(io);
  if (permissions === null) return 1;
  if (asJson) io.out(`${displayJson(JSON.stringify(permissions))}\n`);
  else if (permissions.length === 0) io.out('no agent waits for a permission here\n');
  else for (const permission of permissions) io.out(formatPrompt(permission));
  return 0;
}

async function answer(kind: PermissionAnswer, number: number, io: Io): Promise<number> {
  const agent = findAgentVariable(io.env);
  if (agent !== null)
    throw toUsageFault(new Error(`an agent cannot answer permission prompts: ${agent} is set, so this is its shell`));
  const permissions = await fetchPermissions(io);
  if (permissions === null) return 1;
  const permission = permissions.find((open) => open.number === number);
  if (permission === undefined) {
    io.err(`hivebar permission: there is no prompt ${number}: see hivebar permission list\n`);
    return 1;
  }
  io.err(formatPrompt(permission));
  if (!(await askPerson(QUESTIONS[kind], 'only a person at a terminal answers permission prompts'))) {
    io.err('nothing was answered\n');
    return 1;
  }
  if ((await act(io, 'permit', { permission: permission.id, answer: kind, from: 'command line' })) === null) return 1;
  io.out(`${DONE[kind]}\n`);
  return 0;
}

const QUESTIONS: Readonly<Record<PermissionAnswer, string>> = {
  allow: 'Allow exactly this call, once? [y/N] ',
  deny: 'Deny this call? [y/N] ',
  terminal: 'Leave it to the terminal of the agent? [y/N] ',
};

const DONE: Readonly<Record<PermissionAnswer, string>> = {
  allow: 'allowed',
  deny: 'denied',
  terminal: 'left to the terminal',
};

/** Variables that agent programs set for what they run, and the one that names an agent. */
const AGENT_VARIABLES = ['CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CODEX_THREAD_ID', 'AI_AGENT', 'HIVEBAR_PERSONA'];

function findAgentVariable(env: Io['env']): string | null {
  return AGENT_VARIABLES.find((name) => (env[name] ?? '') !== '') ?? null;
}

/** Null: they could not be read, and the person was told why. */
async function fetchPermissions(io: Io): Promise<readonly PermissionWire[] | null> {
  const response = await askTray({ method: 'GET', path: '/api/v1/permissions', body: null }, io.env);
  const body = unwrapResponse(response, io);
  return body === null ? null : (JSON.parse(body) as { permissions: readonly PermissionWire[] }).permissions;
}

function formatPrompt({ number, persona, harness, subagent, tool, text, cut, cwd, expires }: PermissionWire): string {
  const asking = `${displayName(persona)} (${displayName(harness)}${subagent ? ', a subagent' : ''})`;
  const left = formatDuration(Math.max(0, (parseIso(expires) ?? 0) - realClock.now()));
  return [
    `${number}  ${asking} asks to use ${displayName(tool)}, ${left} left`,
    ...(cwd === null ? [] : [`   in ${displayName(cwd)}`]),
    ...text.split('\n').map((line) => `   | ${line.split('\t').map(displayName).join('\t')}`),
    ...(cut > 0 ? [`   cut: ${cut} more characters, so it can be allowed in its terminal only`] : []),
    '',
  ].join('\n');
}

/** @throws Error which names the value */
function parseNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= 1) return number;
  throw new Error(`permission ${text} is not a whole number above 0`);
}
