import { defineCommand } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { runWithHive } from './open-local-hive.ts';

export const command = defineCommand(
  {
    name: 'message',
    about: ['Messages of the local hive, also while hivebar is closed.'],
    verbs: {
      delete: {
        help: 'delete messages from an inbox for good, read or not',
        positionals: {
          persona: {
            value: 'PERSONA',
            completes: 'persona',
            missing: 'PERSONA is missing: use the name of a persona',
          },
          ids: { value: 'ID', many: true, parse: parseId, missing: 'ID is missing: see hivebar inbox list' },
        },
      },
    },
    notes: ['A broadcast stays in the other inboxes. Event files keep what they hold.'],
    examples: [{ run: 'hivebar message delete ada 12', does: 'one message; hivebar inbox list ada shows the ids' }],
  },
  async ({ persona, ids }, io) => {
    const missing = await runWithHive(io, 'hivebar message', null, true, (hive) =>
      ids.filter((id) => hive.remove(persona, [id]) === 0),
    );
    for (const id of ids) {
      if (missing.includes(id)) io.err(`hivebar message: ${displayName(persona)} has no message ${id}\n`);
      else io.out(`deleted ${id} of ${displayName(persona)}\n`);
    }
    return missing.length === 0 ? 0 : 1;
  },
);

function parseId(text: string): number {
  const id = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(id) && id > 0) return id;
  throw new Error(`${text} is not the id of a message`);
}
