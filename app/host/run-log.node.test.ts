import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { needs } from '../../test/kit/require.ts';
import { programOnPath } from '../programs.node.ts';

const SCRIPT = `
  import { createRunLog } from ${JSON.stringify(new URL('./run-log.node.ts', import.meta.url).href)};
  createRunLog().warn('ada\\u001b[2J\\u009b31m\\nhivebar: all is well', { why: 'said \\u001b[2J\\u009b31m\\u2028' });
`;
const RUN = [process.execPath, '--input-type=module', '--eval', SCRIPT];
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const ACTED_ON = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029]/;

test('B4 an error beside a line of the log is shown with its words, not as {}', () => {
  const script = SCRIPT.replace(
    /createRunLog\(\)[\s\S]*$/,
    "createRunLog().error('a request failed', { error: new RangeError('too deep') });",
  );
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  assert.match(JSON.parse(stderr).error, /^RangeError: too deep\n/);
});

describe('S15: names that others made up, in the log', () => {
  test('for a journal: one line, JSON that means the same', () => {
    const { stderr } = spawnSync(process.execPath, RUN.slice(1), { encoding: 'utf8' });
    assert.doesNotMatch(stderr, ACTED_ON);
    assert.equal(stderr.indexOf('\n'), stderr.length - 1);
    const { level, msg, why } = JSON.parse(stderr);
    assert.deepEqual(
      [level, msg, why],
      [40, 'ada\u001b[2J\u009b31m\nhivebar: all is well', 'said \u001b[2J\u009b31m\u2028'],
    );
  });

  test('at a terminal: one line, in which they are shown by their numbers', (t) => {
    const script = process.platform === 'linux' ? programOnPath('script', process.env, 'linux') : null;
    if (needs(t, script === null ? 'script is missing, which gives a terminal: apt-get install bsdutils' : null))
      return;
    const quoted = RUN.map((item) => `'${item.replaceAll("'", "'\\''")}'`).join(' ');
    const { stdout } = spawnSync(script ?? '', ['-qec', quoted, '/dev/null'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    assert.equal(
      stdout,
      'hivebar: ada\\u001b[2J\\u009b31m\\u000ahivebar: all is well {"why":"said \\u001b[2J\\u009b31m\\u2028"}\r\n',
    );
  });
});
