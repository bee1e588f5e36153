import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { COMMANDS } from '../../app/cli/commands.ts';
import { formatManPage, formatReference, REFERENCE_FILE, toRoff } from '../../build/command-reference.ts';
import { listFlags } from '../../core/command/index.ts';
import { scratch } from '../kit/scratch.ts';

test('the command line reference is what the schemas say: after a change run npm run contract', async () => {
  assert.equal(readFileSync(REFERENCE_FILE, 'utf8'), await formatReference());
});

test('every flag of every command is in the reference and in the man page', async () => {
  const reference = (await formatReference()).split('\n## hivebar ');
  const man = (await formatManPage('1.0.0')).split('\n.SS hivebar ');
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { schema } = (await load()).command;
    const page = reference.find((part) => part.startsWith(`${name}\n`)) ?? '';
    const section = man.find((part) => part.startsWith(`${toRoff(name)}\n`)) ?? '';
    for (const flag of Object.keys(listFlags(schema))) {
      assert.match(page, new RegExp(`^\\| \`--${flag}[ \`]`, 'm'), `${name} --${flag}`);
      const escaped = toRoff(`--${flag}`).replaceAll('\\', '\\\\');
      assert.match(section, new RegExp(`^\\.B ${escaped}( |$)`, 'm'), `${name} --${flag}`);
    }
  }
});

test('the man page has a head, its sections in order, and no line that roff would take for a request of its own', async () => {
  const lines = (await formatManPage('1.0.0')).trimEnd().split('\n');
  assert.equal(lines[0], '.TH HIVEBAR 1 "" "hivebar 1.0.0" "User Commands"');
  assert.deepEqual(
    lines.filter((line) => line.startsWith('.SH')),
    ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'COMMANDS', 'EXIT STATUS', 'ENVIRONMENT'].map((name) => `.SH ${name}`),
  );
  for (const line of lines) assert.match(line, /^(?:\.(?:TH|SH|SS|B|TP|PP|nf|fi|RS|RE)(?: |$)|[^.'])/, line);
  const count = (request: string): number => lines.filter((line) => line === request).length;
  assert.equal(count('.nf'), count('.fi'));
  assert.equal(count('.RS'), count('.RE'));
  lines.forEach((line, i) => {
    if (line === '.TP') assert.match(lines[i + 1] ?? '', /^\.B ./, `line ${i + 2}`);
  });
  assert.equal(toRoff(".x 'a' -b \\"), "\\&.x 'a' \\-b \\e");
});

const { status } = spawnSync('groff', ['--version']);
test('groff reads the man page without a warning', {
  skip: status !== 0 && 'needs the package groff-base',
}, async () => {
  using home = scratch();
  const path = home.at('hivebar.1');
  writeFileSync(path, await formatManPage('1.0.0'));
  const read = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', path], { encoding: 'utf8' });
  assert.deepEqual([read.status, read.stderr], [0, '']);
});
