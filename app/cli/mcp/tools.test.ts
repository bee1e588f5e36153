import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INSTRUCTIONS } from '../mcp-greeting.ts';
import { parseToolArguments } from './arguments.ts';
import { formatInboxUri, INBOX_TEMPLATE, PROMPT, parseInboxUri, STATUS_RESOURCE, TOOLS } from './tools.ts';

const MOST_TOKENS = 700;

/**
 * Counts at least as many tokens as tokenizers of today do: a word is one, and one more for each four letters beyond the seventh; so
 * is each digit, and each three signs that stand together.
 */
function countTokens(text: string): number {
  const pieces = text.match(/\p{L}+|\p{N}|[^\s\p{L}\p{N}]+/gu) ?? [];
  return pieces.reduce((sum, piece) => {
    if (/^\p{L}/u.test(piece)) return sum + 1 + Math.ceil(Math.max(0, piece.length - 7) / 4);
    return sum + Math.ceil(piece.length / 3);
  }, 0);
}

test('given all that a model is sent about the server, when it is counted, then it is below 700 tokens', () => {
  const tools = TOOLS.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  const all = JSON.stringify([INSTRUCTIONS, tools, PROMPT, INBOX_TEMPLATE, STATUS_RESOURCE]);
  const tokens = countTokens(all);
  assert.ok(tokens < MOST_TOKENS, `${tokens} tokens in ${all.length} characters`);
  assert.ok(countTokens(JSON.stringify(tools)) > MOST_TOKENS / 3, 'the count counts');
});

test('given the tools, when a client asks for hints, then what only reads says so, and no tool takes a name to act as', () => {
  const readOnly = TOOLS.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name);
  assert.deepEqual(readOnly, ['inbox_list', 'wait', 'who']);
  for (const { inputSchema } of TOOLS) {
    assert.equal(inputSchema.additionalProperties, false);
    for (const name of Object.keys(inputSchema.properties)) assert.doesNotMatch(name, /^(as|persona|from|session)$/);
  }
});

test('given a persona with any name, when its address is made, then it is read back; other addresses are not of an inbox', () => {
  for (const persona of ['ada', 'a b/c?d#e', 'ü%', '..']) assert.equal(parseInboxUri(formatInboxUri(persona)), persona);
  for (const uri of ['hivebar://inbox/', 'hivebar://inbox/a/b', 'hivebar://status', 'hivebar://inbox/%', 'x'])
    assert.equal(parseInboxUri(uri), null, uri);
});

test('given wrong arguments, when they are read, then the message names the value and what is possible', () => {
  const refusal = (
    name: string,
    given: unknown,
    read: (args: ReturnType<typeof parseToolArguments>) => unknown,
  ): string => {
    try {
      read(parseToolArguments(name, given));
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return '';
  };
  assert.match(
    refusal('inbox_lst', {}, () => {}),
    /^there is no tool inbox_lst: use inbox_list, /,
  );
  assert.equal(
    refusal('who', { as: 'bo' }, () => {}),
    'who has no argument as: it takes none',
  );
  assert.equal(
    refusal('who', 'x', () => {}),
    'who: the arguments x must be an object',
  );
  assert.equal(
    refusal('inbox_list', { limit: 1.5 }, (args) => args.findNumber('limit')),
    'limit 1.5: must be a whole number from 1 to 100',
  );
  assert.equal(
    refusal('inbox_list', { all: 'yes' }, (args) => args.isSet('all')),
    'all yes: must be true or false',
  );
  assert.equal(
    refusal('inbox_send', { text: 'x' }, (args) => args.getText('to')),
    'inbox_send: to is missing',
  );
  assert.equal(
    refusal('inbox_send', { replyTo: -1 }, (args) => args.findId('replyTo')),
    'replyTo -1: must be the id of a message, see inbox_list',
  );
  assert.equal(
    refusal('inbox_read', { ids: 5 }, (args) => args.findIds('ids', 3)),
    'ids 5: must be a list of ids, as inbox_list gives them',
  );
  assert.equal(
    refusal('inbox_read', { ids: [1, 2, 3, 4] }, (args) => args.findIds('ids', 3)),
    'ids: 4 ids are too many: read at most 3 at once',
  );
  const long = refusal('inbox_send', { to: { a: 'x'.repeat(500) } }, (args) => args.getText('to'));
  assert.ok(long.length < 100 && long.endsWith('...: must be text'), long);
  assert.deepEqual(parseToolArguments('inbox_read', { ids: [2, 1, 2] }).findIds('ids', 3), [2, 1]);
  assert.equal(parseToolArguments('inbox_list', null).findNumber('limit'), undefined);
});
