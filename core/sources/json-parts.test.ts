import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJsonInParts } from './json-parts.ts';
import { UNREADABLE } from './source-tools.ts';

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
  const [parts, whole] = [
    await outcome(() => parseJsonInParts(text, 'result', soon, chars)),
    await outcome(() => JSON.parse(text)),
  ];
  assert.deepEqual(parts, whole, text);
}

const value = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const key = fc.constantFrom('result', 'next_before_id', 'truncated', 'a"b', 'x\\', 'r\u00e9sult', '');
const envelope = fc.array(fc.tuple(key, fc.oneof(value, fc.array(value)))).chain((members) =>
  fc.constantFrom('', ' ', '\n\t').map((gap) => {
    const all = members.map(([name, member]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${JSON.stringify(member)}`);
    return `{${all.join(`${gap},`)}${gap}}`;
  }),
);

test('an answer in parts is the answer as a whole, also with keys that come twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        envelope,
        value.map((json) => JSON.stringify(json)),
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
  const parsed = await parseJsonInParts(text, 'result', async () => void turns++, 1000);
  assert.deepEqual(parsed, JSON.parse(text));
  assert.ok(turns >= 10, String(turns));
});

const brackets = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('B4 what would take long to parse is left out, and its neighbours are read', async () => {
  const row = (content: string, id = 1): string => `{"id":${id},"content":${content},"read":false}`;
  const fine = { id: 2, content: 'fine', read: false };
  const reported = async (content: string): Promise<unknown> => {
    const text = `{"result":[${row(content)},${JSON.stringify(fine)}],"next_before_id":null}`;
    const { result, next_before_id } = (await parseJsonInParts(text, 'result', soon)) as {
      result: unknown[];
      next_before_id: null;
    };
    assert.deepEqual([result.length, result[1], next_before_id], [2, fine, null]);
    return (result[0] as { content: unknown }).content;
  };
  assert.equal(await reported(brackets(3_000_000)), UNREADABLE);
  assert.equal(await reported(`{"a":${brackets(100)}}`), UNREADABLE);
  assert.equal(await reported(`[${'{},'.repeat(1_000_000)}{}]`), UNREADABLE);
  assert.equal(await reported(`["${'x'.repeat(100_000)}"]`), UNREADABLE);
  assert.deepEqual(await reported(brackets(60)), JSON.parse(brackets(60)), 'what is quick to parse stays');
  assert.equal(await reported(JSON.stringify('['.repeat(3_000_000))), '['.repeat(3_000_000), 'and so does text');
});

test('B4 rows that are lists, or have too many fields, and fields of the envelope are left out alike', async () => {
  const fields = Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n % 2 === 0 ? '[]' : brackets(100)}`).join();
  const text = `{"more":${brackets(100_000)},"result":[${brackets(100_000)},{${fields}},{"id":3}],"few":[1],"rest":[${'[],'.repeat(50_000)}1]}`;
  const expected = { more: null, result: [UNREADABLE, null, { id: 3 }], few: [1], rest: null };
  assert.deepEqual(await parseJsonInParts(text, 'result', soon), expected);
});

test('B4 a text that is not cut, or has too many entries, is refused within its limits', async () => {
  for (const [text, why] of [
    ['['.repeat(6_000_000), /nested deeper than 64/],
    [`{"result":${'['.repeat(6_000_000)}`, /nested deeper than 64/],
    [`{"result":null,"more":[${'1,'.repeat(200_000)}1]}`, /more than 50000 values/],
    [`{"result":[${'{},'.repeat(1_000_000)}{}]}`, /more than 100000 entries/],
    [`{${Array.from({ length: 200_000 }, (_, n) => `"${n}":1`).join()},"result":[]}`, /more than 100000 entries/],
  ] as const)
    await assert.rejects(
      parseJsonInParts(text, 'result', soon),
      (error) => error instanceof SyntaxError && why.test(error.message),
    );
});

test('B4 no part of a hostile answer holds up others for long: there are turns all along', async () => {
  const text = `{"result":[{"id":1,"content":${brackets(3_000_000)}}],"more":[${'[],'.repeat(100_000)}1]}`;
  let turns = 0;
  await parseJsonInParts(text, 'result', async () => void turns++);
  assert.ok(turns >= text.length / (64 * 1024) - 2, String(turns));
});
