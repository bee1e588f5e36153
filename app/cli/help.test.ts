import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commandLine } from '../../test/kit/command-line.ts';
import { COMMANDS } from './commands.ts';

const COLUMNS = 80;

const help = async (...args: readonly string[]): Promise<readonly string[]> => {
  const { code, out } = await commandLine([...args, '--help'], {});
  assert.equal(code, 0);
  return out.split('\n');
};

describe('help', () => {
  test('no line of any command is wider than 80 columns', async () => {
    const wide: string[] = [];
    for (const name of [null, ...Object.keys(COMMANDS)])
      for (const line of await help(...(name === null ? [] : [name])))
        if (line.length > COLUMNS) wide.push(`${name}: ${line}`);
    assert.deepEqual(wide, []);
  });

  test('the overview lists every command once, in one line, below the heading of its group', async () => {
    const lines = await help();
    const headings = lines.filter((line) => /^[A-Z][a-z ]{1,25}$/.test(line));
    assert.deepEqual(headings, ['Watch', 'Mail and questions', 'Agents', 'Notifications', 'Set up and maintain']);
    const listed = lines.flatMap((line) => /^ {2}([a-z]+) {2,}\S/.exec(line)?.[1] ?? []);
    assert.deepEqual(listed.toSorted(), Object.keys(COMMANDS).toSorted());
    const from = (heading: string): string =>
      lines
        .slice(lines.indexOf(heading) + 1)
        .join('\n')
        .split('\n\n')[0] ?? '';
    assert.match(from('Watch'), /^ {2}status /m);
    assert.match(from('Notifications'), /^ {2}mute /m);
  });

  test('a command line that is too long goes on in a second line, which a shell can be given', async () => {
    const lines = await help('gate');
    const at = lines.findIndex((line) => line.endsWith(' \\'));
    assert.ok(at > 0, lines.join('\n'));
    assert.match(lines[at] ?? '', /^ {2}hivebar gate register /);
    assert.match(lines[at + 1] ?? '', /^ {4}--/);
  });
});
