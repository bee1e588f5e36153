import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandSchema, FlagSchema } from '../../core/command/index.ts';
import { CANCEL_BODY, DECISION_BODY } from '../status/decision-routes.ts';
import { PUSH_BODY } from '../status/item-routes.ts';
import { command as decision } from './decision.ts';
import { INBOX_SCHEMA } from './inbox-schema.ts';

/** What the command line calls otherwise, or has for itself alone (null). */
const OTHER_NAMES: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  push: { words: 'content', bead: 'to', 'dedup-key': 'dedup_key' },
  create: {
    ...{ words: 'prompt', as: 'persona', option: 'options', 'free-text': 'freeText', wait: 'blocking' },
    ...{ 'max-iterations': 'mostIterations', limit: null },
  },
  cancel: { id: null },
};

for (const [name, schema, body] of [
  ['push', INBOX_SCHEMA, PUSH_BODY],
  ['create', decision.schema, DECISION_BODY],
  ['cancel', decision.schema, CANCEL_BODY],
] as const) {
  test(`given the command ${name}, its flags are the fields of its route, with the same words`, () => {
    const { flags = {}, positionals = {} } = (schema as CommandSchema).verbs?.[name] ?? {};
    const fields: Readonly<Record<string, object & { readonly description?: string }>> = body.properties;
    const named = [...Object.keys(positionals), ...Object.keys(flags)].flatMap((flag) => {
      const field = OTHER_NAMES[name]?.[flag];
      return field === null ? [] : [[field ?? flag, flags[flag]] as const];
    });
    assert.deepEqual([...new Set(named.map(([field]) => field))].sort(), Object.keys(fields).sort());
    for (const [field, flag] of named) {
      const description = fields[field]?.description;
      if (isOwnHelp(flag)) continue;
      assert.ok(description !== undefined && flag?.help.startsWith(description), `${field}: ${flag?.help}`);
    }
  });
}

/** Words, lists of answers, and flags whose help says what the command does with them. */
function isOwnHelp(flag: FlagSchema | undefined): boolean {
  return flag === undefined || /^(the same as|wait for the answer|an answer to choose)/.test(flag.help);
}
