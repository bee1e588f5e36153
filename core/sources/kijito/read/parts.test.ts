import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsedInParts } from './parts.ts';

const soon = async (): Promise<void> => {};

/** What a way to parse makes of a text: the value, or that it is none. */
async function outcome(parse: () => unknown): Promise<unknown> {
  try {
    return { value: await parse() };
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return 'no JSON';
  }
}

async function same(text: string, chars: number): Promise<void> {
  const [parts, whole] = [await outcome(() => parsedInParts(text, soon, chars)), await outcome(() => JSON.parse(text))];
  assert.deepEqual(parts, whole, text);
}

const value = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const key = fc.constantFrom('result', 'next_before_id', 'truncated', 'a"b', 'x\\', 'r\u00e9sult', '');
const envelope = fc.array(fc.tuple(key, fc.oneof(value, fc.array(value)))).chain((members) =>
  fc.constantFrom('', ' ', '\n\t').map((gap) => {
    const all = members.map(([name, of]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${JSON.stringify(of)}`);
    return `{${all.join(`${gap},`)}${gap}}`;
  }),
);

test('an answer in parts is the answer as a whole, also with keys that come twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        envelope,
        value.map((of) => JSON.stringify(of)),
      ),
      fc.integer({ min: 1, max: 40 }),
      same,
    ),
    { numRuns: 3000 },
  );
});

test('a text with anything changed, left out or put in is refused as the whole is, or means the same', async () => {
  const changed = fc
    .tuple(envelope, fc.nat(), fc.constantFrom('', '"', '\\', ',', '[', ']', '{', '}', ':', '1', ' '), fc.boolean())
    .map(([text, at, sign, isReplaced]) => {
      const i = at % text.length;
      return text.slice(0, i) + sign + text.slice(isReplaced ? i + 1 : i);
    });
  await fc.assert(fc.asyncProperty(changed, fc.integer({ min: 1, max: 40 }), same), { numRuns: 5000 });
});

test('the families of texts at which a cut could go wrong', async () => {
  for (const text of [
    '{"result":[]}',
    '{"result":[ ]}',
    '{"result":[1,2,3]}',
    '{"result":[1,,3]}',
    '{"result":[1,2,]}',
    '{"result":[,1]}',
    '{"result":[,]}',
    '{"result":[{"a":1],{"b":2}]}',
    '{"result":[1}',
    '{"result":[1]',
    '{"result":[1]}}',
    '{"result":[1]}{"result":[2]}',
    '{"result":[1],"result":[2]}',
    '{"result":[1],"result":null}',
    '{"result":null,"result":[2]}',
    '{"\\u0072esult":[1],"result":[2]}',
    '{"result":[1],"\\u0072esult":[2]}',
    '{"a":{"result":[1]},"b":["result",[2]]}',
    '[{"result":[1]}]',
    '["result":[1]]',
    '{"a":"\\"result\\":[","result":["],","\\\\"]}',
    '{"result":["\\\\\\"",{"x":"]"}],"n":1}',
    '{"result":[1 2]}',
    '{"result":[1,2]"n":1}',
    '{"result":[1],"__proto__":{"x":1}}',
    '{"result"',
    '{"result":["',
    '',
    ']',
  ])
    for (const chars of [1, 3, 100]) await same(text, chars);
});

test('others have turns while it is read', async () => {
  let turns = 0;
  const rows = Array.from({ length: 100 }, (_, id) => ({ id, content: 'x'.repeat(100) }));
  const text = JSON.stringify({ truncated: false, result: rows, next_before_id: null });
  const parsed = await parsedInParts(text, async () => void turns++, 1000);
  assert.deepEqual(parsed, JSON.parse(text));
  assert.ok(turns >= 10, String(turns));
});
