import { defineCommand, type Io } from '../../core/command/index.ts';
import { displayJson, displayName, formatQuantity, formatUtcTime } from '../../core/format/index.ts';
import { openDecisionCounter } from '../../core/inbox/decisions/index.ts';
import { formatIso } from '../../core/model/index.ts';
import { openSessionStore } from '../open/index.ts';
import { ONE_PERSONA } from './act.ts';
import { askPerson } from './ask.node.ts';
import { findNearest } from './nearest.ts';
import { runWithHive } from './open-local-hive.ts';
import { removePersonas } from './persona-removal.node.ts';
import { findTray, startTray, stopTray } from './running-tray.node.ts';
import { findRunnerLife } from './session-surroundings.node.ts';

export const command = defineCommand(
  {
    name: 'persona',
    about: ['Personas of the local hive. Those of other hives and sources are theirs.'],
    verbs: {
      list: {
        help: 'list them with their mail',
        flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
      },
      remove: {
        help: 'remove one for good, with all that is stored of it',
        positionals: ONE_PERSONA,
        flags: {
          yes: { type: 'boolean', help: 'do not ask' },
          force: { type: 'boolean', help: 'also while its agent runs' },
        },
      },
    },
    notes: ['A running tray program is restarted by remove, because it has the persona in', 'its memory.'],
    examples: [{ run: 'hivebar persona remove adaa', does: 'a name that was a typing error' }],
  },
  async (values, io) => {
    if (values.verb === 'list') return await list(io, values.json);
    return await remove(io, values.persona, values.yes, values.force);
  },
);

interface KnownPersona {
  readonly name: string;
  readonly created: string;
  readonly messages: number;
  readonly unread: number;
  readonly decisions: number;
  readonly sessions: number;
  /** Whether a session of it runs now. */
  readonly live: boolean;
}

async function readPersonas(io: Io): Promise<readonly KnownPersona[]> {
  return await runWithHive(io, 'hivebar persona', null, false, (hive, db) => {
    const sessions = openSessionStore(db).listAll();
    const countDecisions = openDecisionCounter(db);
    return hive.personas().map(({ name, created }) => {
      const own = sessions.filter(({ persona }) => persona === name || persona === `local-${name}`);
      const count = { messages: 0, unread: 0 };
      for (const { read } of hive.older(name, null)) {
        count.messages += 1;
        if (!read) count.unread += 1;
      }
      return {
        ...{ name, created: formatIso(created), ...count },
        ...{ decisions: countDecisions(name), sessions: own.length },
        live: own.some(({ endedAt, runner }) => endedAt === null && findRunnerLife(runner) === 'live'),
      };
    });
  });
}

async function list(io: Io, json: boolean): Promise<number> {
  const personas = await readPersonas(io);
  if (json) io.out(`${displayJson(JSON.stringify(personas))}\n`);
  else if (personas.length === 0) io.out('the local hive has no persona yet: the first mail makes one\n');
  const width = Math.max(0, ...personas.map(({ name }) => displayName(name).length));
  if (!json)
    for (const { name, created, messages, unread } of personas) {
      const mail = `${formatQuantity(messages, 'message')}, ${unread} unread`;
      io.out(`${displayName(name).padEnd(width)}  ${mail}, since ${formatUtcTime(created)}\n`);
    }
  return 0;
}

async function remove(io: Io, name: string, yes: boolean, force: boolean): Promise<number> {
  const personas = await readPersonas(io);
  const found = personas.find((persona) => persona.name === name);
  if (found === undefined) {
    const near = findNearest(
      name,
      personas.map((persona) => persona.name),
    );
    const hint = near === null ? '' : `did you mean ${displayName(near)}? `;
    io.err(`hivebar persona: the local hive has no ${displayName(name)}: ${hint}see hivebar persona list\n`);
    return 1;
  }
  if (found.live && !force) {
    io.err(`hivebar persona: an agent of ${displayName(name)} runs: end it, or use --force\n`);
    return 1;
  }
  const { messages, unread, decisions, sessions } = found;
  const lost = [
    `${formatQuantity(messages, 'message')} (${unread} unread)`,
    formatQuantity(decisions, 'decision'),
    formatQuantity(sessions, 'session'),
  ].join(', ');
  io.err(`${displayName(name)}: ${lost}, its gates and its event file are removed for good\n`);
  if (!yes && !(await askPerson(`Remove ${displayName(name)}? [y/N] `))) {
    io.err('nothing was removed\n');
    return 1;
  }
  await removeWhileStopped(io, [name]);
  io.out(`removed ${displayName(name)}\n`);
  return 0;
}

/** Ends a running tray program for the removal, and starts it again in any case. */
export async function removeWhileStopped(io: Io, names: readonly string[]): Promise<void> {
  const tray = await findTray(io.env);
  if (tray !== null) await stopTray(tray, io.env);
  try {
    removePersonas(io, names);
  } finally {
    if (tray !== null) {
      const { supervisor, instance, env } = tray;
      await startTray({ supervisor, args: instance?.args ?? [], env: env ?? io.env }, io.env);
    }
  }
}
