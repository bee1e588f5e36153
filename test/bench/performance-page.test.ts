import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { toResultLine } from './harness.ts';
import { findTableLines, type PageSection, replaceSection } from './performance-page.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'performance.md'), 'utf8');
const SECTIONS: readonly PageSection[] = ['machine', 'goals', 'further', 'compare'];

describe('the page of figures', () => {
  test('given the page, then each section that a command writes has its marks', () => {
    for (const section of SECTIONS) assert.match(replaceSection(PAGE, section, 'anew\n'), /anew/);
  });

  test('given a page with words by hand, when a section is written, then they stay', () => {
    const before =
      '# Page\n\nby hand\n\n<!-- goals: written by a command -->\nold\n<!-- end of goals -->\n\nmore by hand\n';
    const table = '| what |\n|---|\n| a line |\n| another |\n';
    const after = replaceSection(before, 'goals', table);
    assert.equal(after, before.replace('old\n', `\n${table}`));
    assert.deepEqual(findTableLines(after, 'goals'), ['| a line |\n', '| another |\n']);
  });

  test('given a page without the marks of a section, then that is an error, not a lost table', () => {
    assert.throws(() => replaceSection('# Page\n', 'goals', 'new'), /lacks the marks of the section goals/);
  });
});

describe('a line of what must be reached', () => {
  const goal = { name: 'a start', unit: 'ms', bar: 350 } as const;
  const floor = (value: number) => ({ value, unit: 'ms', what: 'node -e 0' }) as const;

  test('given five runs, then it shows median, least and most, and the floor of the same runs', () => {
    const samples = [360, 300, 340, 320, 900].map((value) => ({ value, floor: floor(value / 4), note: `of ${value}` }));
    assert.deepEqual(toResultLine(goal, samples), {
      name: 'a start',
      figure: '340 ms (300–900); of 340',
      bar: '<= 350 ms',
      floor: '85 ms node -e 0',
      met: true,
    });
  });

  test('given a median above the bar, or below one that is to be reached, then it is missed', () => {
    assert.equal(toResultLine(goal, [{ value: 351 }]).met, false);
    const rate = { ...goal, unit: 'per s', isAtLeast: true } as const;
    assert.equal(toResultLine(rate, [{ value: 349 }]).met, false);
    assert.equal(toResultLine(rate, [{ value: 350 }]).met, true);
  });
});
