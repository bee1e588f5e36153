import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createDurables, decodeName, encodeName, parseAddressee, toMessageId, toSubject } from './wire.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('.', ' ', '*', '>', '/', '\\', '_', '-', 'a', 'A', 'é', '\u{1f41d}'),
    minLength: 1,
    maxLength: 12,
  }),
);

describe('names in subjects', () => {
  test('property: any name comes back from its token, which holds nothing a subject or a path could trip over', () => {
    fc.assert(
      fc.property(name, (persona) => {
        const token = encodeName(persona);
        assert.match(token, /^[a-z0-9_-]+$/);
        assert.equal(decodeName(token), persona);
        assert.deepEqual(parseAddressee(toSubject({ is: 'persona', name: persona })), { is: 'persona', name: persona });
      }),
      { numRuns: 1000 },
    );
  });

  test('property: two names never share a token, nor a durable, on a disk that is blind to case either', () => {
    fc.assert(
      fc.property(name, name, (first, second) => {
        fc.pre(first !== second);
        assert.notEqual(encodeName(first), encodeName(second));
        const names = createDurables('2.9.10', 'm1', [first, second]).map((durable) => durable.name.toLowerCase());
        assert.equal(new Set(names).size, 3);
      }),
      { numRuns: 500 },
    );
  });

  test('property: a token that no name has is nobody', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '_', '0', 'f', '.', 'A', 'c', '3'), maxLength: 9 }),
        (token) => {
          const persona = decodeName(token);
          if (persona !== null) assert.equal(encodeName(persona), token);
        },
      ),
      { numRuns: 1000 },
    );
    for (const token of ['', '_', '_6', '_61', 'Ada', 'a.b', '_ff', '_C3'])
      assert.equal(decodeName(token), null, token);
  });

  test('the subject of everybody is no persona called all', () => {
    assert.equal(toSubject({ is: 'everyone' }), 'inbox.all');
    assert.equal(toSubject({ is: 'persona', name: 'all' }), 'inbox.agent.all');
    assert.equal(toSubject({ is: 'persona', name: 'Ada Lovelace/v2.*' }), 'inbox.agent._41da_20_4covelace_2fv2_2e_2a');
    for (const subject of ['inbox.rig.x', 'inbox.agent.', 'inbox', 'inbox.agent.a.b'])
      assert.equal(parseAddressee(subject), null);
  });
});

describe('durables', () => {
  test('below 2.10 one a subject, from 2.10 on one for all of them', () => {
    assert.deepEqual(createDurables('2.9.10', 'm1', ['bo', 'ada']), [
      { name: 'inbox-m1--all', subjects: ['inbox.all'] },
      { name: 'inbox-ada-m1', subjects: ['inbox.agent.ada'] },
      { name: 'inbox-bo-m1', subjects: ['inbox.agent.bo'] },
    ]);
    for (const version of ['2.10.0', '2.10.0-beta.1', '2.11.4', '3.0.0', 'v2.12.1']) {
      assert.deepEqual(
        createDurables(version, 'm1', ['bo', 'ada', 'bo']),
        [{ name: 'inbox-m1', subjects: ['inbox.all', 'inbox.agent.ada', 'inbox.agent.bo'] }],
        version,
      );
    }
    for (const version of ['2.9.25', '1.4', '', 'devel'])
      assert.equal(createDurables(version, 'm1', ['ada']).length, 2, version);
  });

  test('inbox-gates 8.10a: two machines with the same persona have no durable in common', () => {
    for (const version of ['2.9.10', '2.10.0']) {
      const listNames = (machine: string): readonly string[] =>
        createDurables(version, machine, ['ada']).map((each) => each.name);
      assert.deepEqual(
        listNames('m1').filter((each) => listNames('m2').includes(each)),
        [],
      );
    }
  });

  test('the longest name has a durable the server takes', () => {
    const longest = '\u{1f41d}'.repeat(200);
    const names = createDurables('2.9.10', 'abcdef012345', [longest, `${longest}x`]).map((durable) => durable.name);
    for (const each of names) assert.ok(each.length < 255, each);
    assert.equal(new Set(names).size, 3);
  });
});

test('a key that no header can carry goes as its hash', () => {
  assert.equal(toMessageId('decision:hq-abc123'), 'decision:hq-abc123');
  for (const key of ['a\r\nX: y', 'a b', 'é', 'x'.repeat(201)]) assert.match(toMessageId(key), /^sha256:[0-9a-f]{64}$/);
  assert.notEqual(toMessageId('a b'), toMessageId('a c'));
});
