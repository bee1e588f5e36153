import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../app/cli/commands.ts';
import { formatHelp } from '../../app/cli/help.ts';
import { projectFiles, ROOT } from './source-file.ts';

/** Lists the command lines of `hivebar` in a page: lines of code blocks, and whole code spans. */
function findCommandLines(text: string): readonly string[] {
  const joined = text.replaceAll(/\\\n\s+/g, ' ');
  const lines = [...joined.matchAll(/^ {4}(?:.* \| |HIVEBAR_HOME=\S+ )?hivebar((?: .*)?)$|`hivebar ([^`\n]+)`/gm)];
  return lines.map(([, line, span]) => (line ?? span ?? '').split(/\s#|\s\| /)[0]?.trim() ?? '');
}

/** Returns what is wrong with a command line: a command or a flag that the program does not have. */
async function findUnknown(line: string): Promise<readonly string[]> {
  const [name = ''] = line.split(/\s/);
  if (!/^[a-z]/.test(name) || name === 'help') return []; // a flag of the program itself, or a placeholder such as COMMAND
  const entry = COMMANDS[name];
  if (entry === undefined) return [`command ${name}`];
  const { command } = await entry.load();
  const own = line.split(' -- ')[0]?.replaceAll(/'[^']*'|"[^"]*"/g, '') ?? '';
  const known: readonly string[] = formatHelp(entry, command).match(/--?[a-z][\w-]*/g) ?? [];
  const flags = own.match(/(?<=\s)--?[a-z][\w-]*/g) ?? [];
  return flags.filter((flag) => flag !== '--help' && !known.includes(flag)).map((flag) => `${name} ${flag}`);
}

/** Specifications are left out: they also describe what is only planned. */
test('every command and flag that a page names is one that the program has', async () => {
  const unknown: string[] = [];
  let count = 0;
  for (const page of projectFiles().filter(
    (path) => path === 'README.md' || /^(?:docs\/(?!specs\/)|assets\/plugin\/).*\.md$/.test(path),
  ))
    for (const line of findCommandLines(readFileSync(join(ROOT, page), 'utf8'))) {
      count += 1;
      for (const word of await findUnknown(line)) unknown.push(`${page}: ${word} (${line})`);
    }
  assert.deepEqual(unknown, []);
  assert.ok(count > 200, `${count} command lines`);
});

test('an unknown command and an unknown flag are found', async () => {
  const page = "    hivebar status --jsn\n    cat a | hivebar sent --to ada 'a --b'\n`hivebar tail ada --follow`\n";
  const lines = findCommandLines(page);
  assert.equal(lines.length, 3);
  assert.deepEqual((await Promise.all(lines.map(findUnknown))).flat(), ['status --jsn', 'command sent']);
});
