import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../ports/index.ts';
import { createTroubleLog } from './index.ts';

test('a problem is logged once per cause, and once when it is over', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const trouble = createTroubleLog({ ...silentLog, warn: write, info: write });
  trouble.clear('saved again');
  for (let i = 0; i < 3; i += 1) trouble.raise('the disk is full');
  trouble.raise('exit 1 for event 7', 'exit 1');
  trouble.raise('exit 1 for event 8', 'exit 1');
  for (let i = 0; i < 3; i += 1) trouble.clear('saved again');
  trouble.raise('the disk is full');
  assert.deepEqual(lines, ['the disk is full', 'exit 1 for event 7', 'saved again', 'the disk is full']);
});
