import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildAppleTerminalArgs, buildTerminalArgs, buildWindowsTerminalArgs, TERMINALS } from './session.ts';

test('every terminal that is looked for takes the arguments as they are, last', () => {
  const run = ['/bin/agent', '--resume', "it's $(x)", ''];
  for (const name of [...TERMINALS, 'unheard-of', 'toString']) {
    assert.deepEqual(buildTerminalArgs(name, '/w', run).slice(-run.length), run, name);
  }
});

test('with nothing to run there is no mark for it either', () => {
  for (const name of TERMINALS) {
    assert.equal(
      buildTerminalArgs(name, '/w', []).some((arg) => /^(-e|-x|--)$/.test(arg)),
      false,
      name,
    );
  }
});

test('macOS: the folder and the command are arguments of osascript, never part of its program', () => {
  const given =
    buildAppleTerminalArgs('/w/a "b"', ['/bin/agent', '$(touch PWNED)', '`x`', '" & (do shell script "x") & "']) ?? [];
  assert.deepEqual(given.slice(-5), [
    '/w/a "b"',
    '/bin/agent',
    '$(touch PWNED)',
    '`x`',
    '" & (do shell script "x") & "',
  ]);
  const program = given.slice(0, -5);
  assert.deepEqual(program, buildAppleTerminalArgs('/', [])?.slice(0, -1), 'the program is the same whatever is run');
  for (let i = 0; i < program.length; i += 2) assert.equal(program[i], '-e');
});

test('macOS: what not every shell quotes alike is refused', () => {
  for (const bad of ["it's", 'back\\slash', 'history!', 'two\nlines', '\u0007']) {
    assert.equal(buildAppleTerminalArgs('/w', ['/bin/agent', bad]), null);
    assert.equal(buildAppleTerminalArgs(`/${bad}`, []), null);
  }
});

test('Windows: what Windows Terminal would read again is refused', () => {
  assert.deepEqual(buildWindowsTerminalArgs('C:\\w', ['C:\\agent.exe', '--resume', 'a b']), [
    '-d',
    'C:\\w',
    'C:\\agent.exe',
    '--resume',
    'a b',
  ]);
  for (const bad of ['a;b', 'say "x"']) assert.equal(buildWindowsTerminalArgs('C:\\w', ['x', bad]), null);
});
