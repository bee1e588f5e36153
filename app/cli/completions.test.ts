import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listFlags } from '../../core/command/index.ts';
import { COMMANDS } from './commands.ts';
import { toCommandWords } from './completions.ts';
import { dispatch } from './dispatch.ts';
import { formatHelp } from './help.ts';

let home: string;
const scripts = { bash: '', zsh: '', fish: '' };
const HOSTILE = '$(touch pwned) é';
before(async () => {
  home = mkdtempSync(join(tmpdir(), 'hivebar-complete-'));
  mkdirSync(join(home, 'events'));
  for (const [stem, persona] of [
    ['ada', 'ada'],
    ['cyrus', 'cyrus'],
    ['touch~012345', HOSTILE],
    ['evil~abcdef', 'evil\u001b[2J'],
  ] as const)
    writeFileSync(
      join(home, 'events', `events.${stem}.ndjson`),
      `${JSON.stringify({ event: 'new', persona, event_id: `${persona}:new:1` })}\n`,
    );
  mkdirSync(join(home, 'bin'));
  const program = join(home, 'bin', 'hivebar');
  writeFileSync(
    program,
    `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'hivebar.node.ts')}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const io = {
      env: { HIVEBAR_HOME: home },
      out: (text: string) => {
        scripts[shell] += text;
      },
      err: (text: string) => assert.fail(text),
      input: async () => '',
    };
    assert.equal(await dispatch(['completions', shell], io, COMMANDS), 0);
  }
});
after(() => rmSync(home, { recursive: true, force: true }));

/** What a real bash offers behind these words, of which the last is being typed. */
function complete(...words: string[]): readonly string[] {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const script = `${scripts.bash}
COMP_WORDS=(hivebar ${words.map(quote).join(' ')}); COMP_CWORD=${words.length}
_hivebar; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['--norc', '-c', script], {
    cwd: home,
    encoding: 'utf8',
    env: { ...process.env, HIVEBAR_HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}` },
  });
  return out.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  test('offers commands, flags, verbs and values', () => {
    assert.deepEqual(complete('st'), ['stop', 'status', 'statusline']);
    assert.deepEqual(complete('status', '--w'), ['--watch']);
    assert.deepEqual(complete('inbox', 's'), ['show']);
    assert.deepEqual(complete('run', '--tray-driver', ''), ['sni', 'systray2', 'none']);
    assert.deepEqual(complete('tail', '--since', ''), []);
  });

  test('offers the personas that have an event file when hivebar does not run, each as one safe word', () => {
    assert.deepEqual(complete('mute', 'a'), ['ada']);
    assert.deepEqual(complete('send', '--to', 'c'), ['cyrus']);
    assert.deepEqual(complete('inbox', 'list', 'a'), ['ada']);
    assert.deepEqual(complete('watch', '--persona', 'c'), ['cyrus']);
    const [word = '', ...more] = complete('mute', '$');
    assert.deepEqual(more, []);
    const typed = execFileSync('bash', ['--norc', '-c', `printf %s ${word}`], { cwd: home, encoding: 'utf8' });
    assert.equal(typed, HOSTILE);
    assert.ok(!existsSync(join(home, 'pwned')));
    assert.deepEqual(complete('mute', 'evil'), [], 'a name that no terminal may show is typed by hand');
  });
});

test('each shell and the help of each command know every flag of every schema, and it has a text', async () => {
  for (const [name, entry] of Object.entries(COMMANDS)) {
    assert.match(scripts.bash, new RegExp(`^ {6}${name}\\)`, 'm'));
    assert.match(scripts.zsh, new RegExp(`^ {6}'${name}:`, 'm'));
    assert.match(scripts.fish, new RegExp(`__fish_use_subcommand -a ${name} -d '`));
    const { command } = await entry.load();
    assert.equal(command.schema.name, name);
    const help = formatHelp(entry, command);
    for (const [flag, { help: text }] of Object.entries(listFlags(command.schema))) {
      const label = `${name} --${flag}`;
      assert.match(text, /^\S.*[^.]$/, label);
      assert.match(help, new RegExp(`^ +--${flag}( |$)`, 'm'), label);
      assert.match(scripts.bash, new RegExp(`^ {6}${name}\\).*--${flag}[ ']`, 'm'), label);
      assert.match(scripts.zsh, new RegExp(`^ {4}${name}\\).* --${flag}[; ]`, 'm'), label);
      assert.match(scripts.fish, new RegExp(`seen_subcommand_from ${name}' -l ${flag}( |$)`, 'm'), label);
    }
  }
});

test('a flag is of one kind, whichever verb takes it', async () => {
  for (const entry of Object.values(COMMANDS)) {
    const { schema } = (await entry.load()).command;
    if (schema.isVerbFirst || schema.isVerbOptional) continue; // each verb is parsed on its own
    const known = listFlags(schema);
    for (const { flags = {} } of Object.values(schema.verbs ?? {}))
      for (const [name, flag] of Object.entries(flags)) {
        const isSwitch = flag.type === 'boolean';
        assert.equal(isSwitch, known[name]?.type === 'boolean', `${schema.name} --${name}`);
        assert.equal(flag.short, known[name]?.short, `${schema.name} --${name}`);
      }
  }
});

test('what may follow a command is what its schema says', () => {
  const {
    verbs,
    flags,
    arguments: others,
  } = toCommandWords('sing', {
    schema: {
      name: 'sing',
      about: [],
      flags: { all: { type: 'boolean', help: 'everything' } },
      verbs: {
        loud: { help: 'loudly', positionals: { persona: { value: 'PERSONA', completes: 'persona' } } },
        'soft high': {
          help: 'softly',
          flags: {
            tempo: { type: 'number', help: 'so fast' },
            key: { type: 'choice', choices: ['major', 'minor'], help: 'the key' },
            from: { type: 'string', value: 'FILE', completes: 'file', help: 'the song' },
            to: { type: 'string', value: 'PERSONA', completes: 'persona', help: 'who listens' },
          },
        },
      },
      examples: [],
    },
    run: async () => 0,
  });
  assert.deepEqual(verbs, ['loud', 'soft']);
  assert.deepEqual(others, { is: 'persona' });
  assert.deepEqual(flags, [
    { name: '--help', value: null },
    { name: '--all', value: null },
    { name: '--tempo', value: { is: 'text' } },
    { name: '--key', value: { is: 'words', words: ['major', 'minor'] } },
    { name: '--from', value: { is: 'file' } },
    { name: '--to', value: { is: 'persona' } },
  ]);
});
