import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Fault } from '../../../model/index.ts';
import { parseBrainclawArgs, parseWholeNumber } from './args.ts';

const refusedWith = (why: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === 'usage' && why.test(error.message);

describe('a command line of brainclaw', () => {
  test('has a verb, and the flags of that verb', () => {
    const { verb, words, flags } = parseBrainclawArgs(['inbox', 'codex', '--project', 'x', '--json']);
    assert.deepEqual([verb, words, flags.project, flags.json], ['inbox', ['codex'], 'x', true]);
    assert.equal(parseBrainclawArgs(['tail', '-f', '-n', '3']).flags.lines, '3');
  });

  for (const [args, why] of [
    [[], /^expected board, .* or simulate$/],
    [['bored'], /^expected board, .*, not bored$/],
    [['board', '--limit', '3'], /board: unknown flag --limit/],
    [['doctor', '--follow'], /doctor: unknown flag --follow/],
    [['simulate', '--to', 'x', '--project', 'y'], /simulate: unknown flag --project/],
    [['simulate'], /--to is missing/],
    [['board', 'now'], /unexpected argument now/],
    [['inbox', 'a', 'b'], /unexpected argument b/],
    [['board', '--project', ''], /--project is empty/],
    [['tail', '--lines', '1', '--since', '1'], /only one of/],
    [['activity', '--until'], /--until/],
    [['board', '--nope'], /nope/],
  ] as const) {
    test(`${args.join(' ') || 'nothing'} is none`, () => {
      assert.throws(() => parseBrainclawArgs(args), refusedWith(why));
    });
  }

  test('has whole numbers, from the least on', () => {
    const { flags } = parseBrainclawArgs(['board', '--until', '12']);
    assert.equal(parseWholeNumber(flags, 'until', 1), 12);
    assert.equal(parseWholeNumber(flags, 'limit', 1), null);
    for (const text of ['0', '-1', '1.5', 'x', '1e3', '9'.repeat(16)])
      assert.throws(
        () => parseWholeNumber({ until: text }, 'until', 1),
        refusedWith(/^--until .*: must be a whole number, 1 or more$/),
      );
  });
});
