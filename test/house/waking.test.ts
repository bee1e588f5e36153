import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { updateWaking, WAKING, WAKING_FILE, type WakingCell } from '../../build/waking.ts';
import { ROOT } from './source-file.ts';

const CELLS: readonly (readonly [label: string, cell: WakingCell])[] = Object.entries(WAKING).flatMap(([name, ways]) =>
  Object.entries(ways).map(([way, cell]) => [`${name}, ${way}`, cell] as const),
);

/** Whether a file has a test whose name is written so. */
function hasTest(file: string, name: string): boolean {
  const path = join(ROOT, file);
  return (
    existsSync(path) &&
    ["'", '"', '`'].some((quote) => readFileSync(path, 'utf8').includes(`test(${quote}${name}${quote}`))
  );
}

test('the tables of the guide are what build/waking.ts says: after a change run npm run contract', () => {
  const page = readFileSync(WAKING_FILE, 'utf8');
  assert.equal(page, updateWaking(page));
});

test('what was run has its test, and what was not has a reason', () => {
  for (const [label, cell] of CELLS) {
    if ('run' in cell) assert.ok(hasTest(...cell.run), `${label}: no test of that name in ${cell.run[0]}`);
    else assert.ok(('notRun' in cell ? cell.notRun : cell.notPossible).length > 8, label);
  }
});

test('a test that is not there, and a page without its tables, are found', () => {
  assert.equal(hasTest('test/house/waking.test.ts', 'a test of another name'), false);
  assert.equal(hasTest('test/house/waking.test.ts', 'what was run has its test, and what was not has a reason'), true);
  assert.equal(hasTest('test/house/nothing.test.ts', 'a test'), false);
  assert.throws(() => updateWaking('# Waking\n'), /has no lines/);
});
