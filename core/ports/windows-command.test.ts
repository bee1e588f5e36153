import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toInvocation } from './ports.ts';

const CODEX = 'C:\\Program Files\\npm & co\\codex.cmd';
const ENV = { ComSpec: 'C:\\Windows\\system32\\cmd.exe' };
const start = (...args: string[]) => toInvocation(CODEX, args, ENV, 'win32');

describe('a batch file of Windows', () => {
  test('G2 is started by cmd.exe with each word as it is', () => {
    const hostile = ['exec', '', 'a b', '&calc', '|x', '<y>', '^', '(z)', 'C:\\end\\', '!PATH!', 'ö 漢', '-', "it's"];
    const { file, args, windowsVerbatimArguments } = start(...hostile);
    assert.equal(file, 'C:\\Windows\\system32\\cmd.exe');
    assert.equal(windowsVerbatimArguments, true);
    assert.deepEqual(args.slice(0, -1), ['/d', '/v:off', '/s', '/c']);
    assert.deepEqual(wordsBehindCmd(args.at(-1) ?? ''), [CODEX, ...hostile]);
  });

  test('G2 is refused a word that cmd.exe would change, with the word and what to do instead', () => {
    for (const [word, label] of [
      ['say "hi"', 'a double quote'],
      ['%PATH%', 'a percent sign'],
      ['two\nlines', 'a line break'],
      ['two\rlines', 'a line break'],
      ['nul\0', 'a NUL'],
    ] as const) {
      assert.throws(
        () => start('exec', word),
        (error) =>
          error instanceof Error && error.message.includes(label) && /name the \.exe|stdin/.test(error.message),
      );
      assert.throws(() => start('exec', word), {
        message: new RegExp(JSON.stringify(JSON.stringify(word)).slice(1, 6)),
      });
    }
    assert.throws(() => toInvocation('C:\\100%\\x.bat', [], ENV, 'win32'), /percent/);
  });

  test('G2 is the only program that needs it', () => {
    for (const [file, platform] of [
      ['C:\\node.exe', 'win32'],
      ['/usr/bin/codex.cmd', 'linux'],
    ] as const) {
      const args = ['say "hi"', '%PATH%'];
      assert.deepEqual(toInvocation(file, args, ENV, platform), { file, args, windowsVerbatimArguments: false });
    }
  });
});

/**
 * What a program behind the batch file (`node script %*`) gets. cmd.exe with `/s` drops the outer quotes; inside quotes only a quote
 * and a percent sign mean anything to it. The program splits what is left as the C runtime of Microsoft does.
 */
function wordsBehindCmd(line: string): readonly string[] {
  assert.match(line, /^".*"$/);
  const inner = line.slice(1, -1);
  assert.ok(!inner.includes('%'));
  const outside = inner.replace(/"[^"]*"/g, '');
  assert.match(outside, /^ *$/, 'all words stand in quotes');
  return [...inner.matchAll(/"([^"]*)"/g)].map(([, word = ''], i) =>
    i === 0 ? word : word.replace(/(\\+)$/, (slashes) => slashes.slice(slashes.length / 2)),
  );
}
