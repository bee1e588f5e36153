import type { Command } from '../../core/command/index.ts';
import { displayLine } from '../../core/format/index.ts';
import { findOwnDirs } from '../../core/state/dirs.node.ts';
import { askTray } from './tray-request.node.ts';

/** Characters that a shell cannot show or a terminal would act on. Names with them must be typed by hand. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

const SUBJECTS = ['personas', 'decisions'] as const;

export type Subject = (typeof SUBJECTS)[number];

/**
 * `hivebar __complete personas`: the completion scripts call it while a person types. It never fails and prints one word per line; behind
 * a tab, what it means.
 */
export const command: Command = {
  schema: {
    name: '__complete',
    about: ['Prints the names of all personas, or the open decisions, one per line, for shell completion.'],
    examples: [{ run: 'hivebar __complete personas', does: 'the names' }],
    positionals: { subject: { value: 'SUBJECT', choices: SUBJECTS } },
  },
  async run([subject], io) {
    if (subject !== 'personas' && subject !== 'decisions') return 2;
    const lines = await (subject === 'personas' ? listPersonas(io.env) : listDecisions(io.env));
    io.out(lines.map((line) => `${line}\n`).join(''));
    return 0;
  },
};

type Environment = Readonly<Record<string, string | undefined>>;

async function listPersonas(env: Environment): Promise<readonly string[]> {
  const status = await fetchJson<{ readonly personas: readonly { readonly id: string }[] }>('/status.json', env);
  const names = status?.personas.map(({ id }) => id) ?? (await loadEventFilePersonas(env));
  return names.filter((name) => !UNSAFE.test(name));
}

/** Lists open decisions with their questions. Without the running program there are none, because loading the store takes too long. */
async function listDecisions(env: Environment): Promise<readonly string[]> {
  type Listed = readonly { readonly id: number; readonly persona: string; readonly prompt: string }[];
  const answer = await fetchJson<{ readonly decisions: Listed }>('/api/v1/decisions', env);
  return (answer?.decisions ?? []).map(
    ({ id, persona, prompt }) => `${id}\t${displayLine(`${persona}: ${prompt}`).slice(0, QUESTION_CHARS)}`,
  );
}

/** As much of a question as a shell can show beside its number. */
const QUESTION_CHARS = 60;

/** Null: there is no answer, and what else is known is offered. A message would disturb the line that the person types. */
async function fetchJson<T>(path: string, env: Environment): Promise<T | null> {
  try {
    const response = await askTray({ method: 'GET', path, body: null }, env);
    return response.is === 'answered' && response.status === 200 ? (JSON.parse(response.body) as T) : null;
  } catch {
    return null; // see above
  }
}

/** Loads this code only when it is needed: while the program runs, the names cost no more than the start of Node. */
async function loadEventFilePersonas(env: Environment): Promise<readonly string[]> {
  const { listEventFilePersonas } = await import('./event-file-personas.node.ts');
  return listEventFilePersonas(findOwnDirs({ ...env }).state);
}
