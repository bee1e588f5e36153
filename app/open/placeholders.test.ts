import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkUrl, fillArgv, fillUrl, type PlaceholderValues } from './placeholders.ts';

const VALUES: PlaceholderValues = { persona: 'ada', source: 'kijito', id: '12', session: '7f3c', cwd: '/w/a b' };
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
  const filled = (argv: readonly string[], values: Partial<PlaceholderValues> = {}) =>
    fillArgv('command', argv, { ...VALUES, ...values });

  test('each placeholder is replaced where it stands; other braces are text', () => {
    assert.deepEqual(filled(['show', '{persona}', '--id', '{id}', '{session}', '{cwd}', '{other}', '{}']), [
      'show',
      'ada',
      '--id',
      '12',
      '7f3c',
      '/w/a b',
      '{other}',
      '{}',
    ]);
  });

  test('a value goes through byte for byte as one item, and is not read for placeholders again', () => {
    for (const persona of HOSTILE) {
      assert.deepEqual(filled(['show', '{persona}', 'x'], { persona }), ['show', persona, 'x']);
    }
  });

  test('what is not known is nothing, and not an empty argument', () => {
    assert.equal(filled(['show', '{session}'], { session: null }), null);
  });

  test('a value never becomes an option', () => {
    for (const persona of ['-x', '--help', '-']) {
      assert.throws(() => filled(['show', '{persona}'], { persona }), settings(/"-.*", an option/));
      assert.deepEqual(filled(['show', '--', '{persona}'], { persona }), ['show', '--', persona]);
    }
  });

  test('B7 a value never becomes the program, part of an argument, or text that a program reads as code', () => {
    assert.throws(() => filled(['{persona}', 'x']), settings(/cannot be a placeholder/));
    for (const part of ['--id={id}', '{persona}@{source}', 'show {persona}', '-c{persona}']) {
      assert.throws(() => filled(['show', part]), settings(/more than a placeholder.*\$HIVEBAR_/), part);
    }
    for (const argv of [
      ['/usr/bin/env', 'zsh', '-c', '{persona}'],
      ['env', '-S', '{persona}'],
      ['su', '-c', '{persona}', 'ada'],
      ['script', '-c', '{persona}', '/dev/null'],
      ['python3', '-c', '{persona}'],
      ['python3', '{cwd}'],
      ['python3.12', '-c', 'import sys', '-c', '{persona}'],
      ['perl', '-e', '{persona}'],
      ['perl', '-ne', '{persona}', '/etc/passwd'],
      ['node', '-e', '{persona}'],
      ['node', '--eval', '{persona}'],
      ['node', '-p', '{persona}'],
      ['awk', '{persona}', '/etc/passwd'],
      ['xterm', '-e', '{persona}'],
      ['xterm', '-e', 'fish', '-c', '{cwd}'],
      ['C:\\Windows\\System32\\cmd.exe', '/c', 'start', '{persona}'],
      ['pwsh', '-Command', '{persona}'],
      ['ssh', 'host', '{persona}'],
      ['tmux', 'new-window', '{persona}'],
      ['vim', '-c', '{persona}'],
      ['sudo', 'sh', '-c', '{persona}'],
    ]) {
      assert.throws(
        () => filled(argv),
        settings(/would be program text for .*: use \$HIVEBAR_[A-Z]+ in the environment/),
        argv.join(' '),
      );
    }
    assert.deepEqual(filled(['sh', '-c', 'show "$1"', 'sh', '{persona}']), ['sh', '-c', 'show "$1"', 'sh', 'ada']);
    assert.deepEqual(filled(['python3', 'show.py', '--for', '{persona}']), ['python3', 'show.py', '--for', 'ada']);
    assert.deepEqual(filled(['code', '--reuse-window', '--', '{cwd}']), ['code', '--reuse-window', '--', '/w/a b']);
    assert.throws(() => filled(['show', '{persona}'], { persona: 'a\0b' }), settings(/NUL/));
  });
});

describe('an address', () => {
  const filled = (template: string, values: Partial<PlaceholderValues> = {}) =>
    fillUrl(template, { ...VALUES, ...values }, SCHEMES);

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
      assert.throws(() => filled('https://h/p/{persona}/x', { persona }), settings(/cannot be used in an address/));
  });

  test('only schemes that the settings allow, and some never', () => {
    assert.throws(() => filled('ftp://h/'), settings(/ftp: is not among urlSchemes \(https, http, vscode\)/));
    for (const scheme of ['javascript', 'JavaScript', 'file', 'data', 'vbscript']) {
      const template = `${scheme}:{persona}`;
      assert.throws(() => fillUrl(template, VALUES, [scheme.toLowerCase()]), settings(/never opened/));
    }
    for (const template of ['{persona}://x', 'h/x', ' https://h', '', '--help', 'java\tscript:x']) {
      assert.throws(() => filled(template, { persona: 'javascript' }), settings(/does not begin with a scheme/));
    }
    assert.throws(() => filled('https://'), settings(/is not a valid address/));
    assert.throws(() => filled('http://{persona}/', { persona: 'a/b' }), settings(/is not a valid address/));
  });

  test('the link of a message follows the same rules, and nothing in it is filled in', () => {
    assert.equal(checkUrl('https://h/{persona}', SCHEMES), 'https://h/%7Bpersona%7D');
    for (const link of ['javascript:alert(1)', 'file:///etc/passwd', 'ftp://h/', '/etc/passwd', 'https://', '-x']) {
      assert.throws(() => checkUrl(link, SCHEMES, 'link'), settings(/^link: /), link);
    }
  });

  test('what is not known is nothing', () => assert.equal(filled('https://h/{session}', { session: null }), null));
});
