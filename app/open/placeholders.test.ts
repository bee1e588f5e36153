import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filledArgv, filledUrl, type Values } from './placeholders.ts';

const VALUES: Values = { persona: 'ada', source: 'kijito', id: '12', session: '7f3c', cwd: '/w/a b' };
const HOSTILE = [
  "'; touch PWNED; '",
  '$(touch PWNED)',
  '`touch PWNED`',
  '" & (do shell script "touch PWNED") & "',
  'trailing\\',
  '{session}',
  '$1 $& $` {x}',
  'line\nbreak',
  '\u202e é 😀',
  '',
];
const SCHEMES = ['https', 'http', 'vscode'];
const settings = (message: RegExp) => ({ code: 'settings', message });

describe('a list of arguments', () => {
  const filled = (argv: readonly string[], values: Partial<Values> = {}) =>
    filledArgv('command', argv, { ...VALUES, ...values });

  test('each placeholder is replaced where it stands, several in an item too; other braces are text', () => {
    assert.deepEqual(filled(['show', '{persona}@{source}', '--id={id}', '{session}', '{cwd}', '{other}', '{}']), [
      'show',
      'ada@kijito',
      '--id=12',
      '7f3c',
      '/w/a b',
      '{other}',
      '{}',
    ]);
  });

  test('a value goes through byte for byte as one item, and is not read for placeholders again', () => {
    for (const persona of HOSTILE) {
      assert.deepEqual(filled(['show', '{persona}', '<{persona}>'], { persona }), ['show', persona, `<${persona}>`]);
    }
  });

  test('what is not known is nothing, and not an empty argument', () => {
    assert.equal(filled(['show', '--session={session}'], { session: null }), null);
  });

  test('a value never becomes an option', () => {
    for (const persona of ['-x', '--help', '-']) {
      assert.throws(() => filled(['show', '{persona}'], { persona }), settings(/"-.*", an option/));
      assert.deepEqual(filled(['show', '--who={persona}', '--', '{persona}'], { persona }), [
        'show',
        `--who=${persona}`,
        '--',
        persona,
      ]);
    }
    assert.throws(() => filled(['show', '{persona}{id}', '--'], { persona: '', id: '-1' }), settings(/an option/));
  });

  test('a value never becomes the program, program text of a shell, or half of an argument', () => {
    assert.throws(() => filled(['{persona}', 'x']), settings(/can not be a placeholder/));
    for (const argv of [
      ['sh', '-c', 'show {persona}'],
      ['/bin/bash', '-lc', 'show {persona}'],
      ['/usr/bin/env', 'zsh', '-c', '{persona}'],
      ['xterm', '-e', 'fish', '-c', 'x {cwd}'],
      ['C:\\Windows\\System32\\cmd.exe', '/c', 'start', '{persona}'],
      ['pwsh', '-Command', '{persona}'],
    ]) {
      assert.throws(() => filled(argv), settings(/program text for a shell/), argv.join(' '));
    }
    assert.deepEqual(filled(['sh', '-c', 'show "$1"', 'sh', '{persona}']), ['sh', '-c', 'show "$1"', 'sh', 'ada']);
    assert.throws(() => filled(['show', '{persona}'], { persona: 'a\0b' }), settings(/NUL/));
  });
});

describe('an address', () => {
  const filled = (template: string, values: Partial<Values> = {}) =>
    filledUrl(template, { ...VALUES, ...values }, SCHEMES);

  test('values are percent-encoded, the slashes of {cwd} stay', () => {
    assert.equal(
      filled('https://h/p/{persona}?s={session}#{id}', { persona: 'a/b?c#d%&é' }),
      'https://h/p/a%2Fb%3Fc%23d%25%26%C3%A9?s=7f3c#12',
    );
    assert.equal(filled('vscode://file{cwd}'), 'vscode://file/w/a%20b');
    assert.equal(filled('vscode://file{cwd}', { cwd: 'C:\\w\\x' }), 'vscode://file/C%3A/w/x');
  });

  test('no value changes anything but its own place', () => {
    for (const persona of [...HOSTILE, '\ud800', 'javascript:alert(1)', '//evil.example/', '@evil.example', '-x']) {
      const url = filled('https://h/p/{persona}/end?who={persona}', { persona });
      assert.ok(url !== null);
      const { protocol, host, pathname, searchParams, hash } = new URL(url);
      assert.deepEqual([protocol, host, hash], ['https:', 'h', '']);
      assert.match(pathname, /^\/p\/[^/]*\/end$/);
      assert.equal(searchParams.get('who'), persona.toWellFormed());
      assert.doesNotMatch(url, /['"`$()\s<>\\]/);
    }
    for (const persona of ['.', '..'])
      assert.throws(() => filled('https://h/p/{persona}/x', { persona }), settings(/can not stand/));
  });

  test('only schemes that the settings allow, and some never', () => {
    assert.throws(() => filled('ftp://h/'), settings(/ftp: is not among urlSchemes \(https, http, vscode\)/));
    for (const scheme of ['javascript', 'JavaScript', 'file', 'data', 'vbscript']) {
      const template = `${scheme}:{persona}`;
      assert.throws(() => filledUrl(template, VALUES, [scheme.toLowerCase()]), settings(/never opened/));
    }
    for (const template of ['{persona}://x', 'h/x', ' https://h', '', '--help', 'java\tscript:x']) {
      assert.throws(() => filled(template, { persona: 'javascript' }), settings(/does not begin with a scheme/));
    }
    assert.throws(() => filled('https://'), settings(/is no address/));
    assert.throws(() => filled('http://{persona}/', { persona: 'a/b' }), settings(/is no address/));
  });

  test('what is not known is nothing', () => assert.equal(filled('https://h/{session}', { session: null }), null));
});
