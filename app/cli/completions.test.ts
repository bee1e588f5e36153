import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { listFlags } from '../../core/command/index.ts';
import { startFakeTray } from '../../test/kit/fake-tray.ts';
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
  const out = execFileSync('bash', toBashArguments(words), toBashOptions({ HIVEBAR_HOME: home }));
  return toLines(out);
}

/** The same beside a tray process of this test, which has to answer meanwhile. */
async function completeBeside(env: Record<string, string>, ...words: string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('bash', toBashArguments(words), toBashOptions(env));
  return toLines(stdout);
}

const toBashOptions = (env: Record<string, string>) => ({
  cwd: home,
  encoding: 'utf8' as const,
  env: { ...process.env, ...env, PATH: `${join(home, 'bin')}:${process.env.PATH}` },
});

const toLines = (out: string): readonly string[] => out.split('\n').filter((line) => line !== '');

function toBashArguments(words: readonly string[]): string[] {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const script = `${scripts.bash}
COMP_WORDS=(hivebar ${words.map(quote).join(' ')}); COMP_CWORD=${words.length}
_hivebar; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return ['--norc', '-c', script];
}

describe('completion in bash', () => {
  test('offers commands, flags, verbs and values', () => {
    assert.deepEqual(complete('st'), ['stop', 'status', 'statusline']);
    assert.deepEqual(complete('status', '--w'), ['--watch']);
    assert.deepEqual(complete('inbox', 's'), ['show', 'search']);
    assert.deepEqual(complete('run', '--tray-driver', ''), ['sni', 'systray2', 'none']);
    assert.deepEqual(complete('tail', '--since', ''), []);
  });

  test('offers the keys of the settings, the verbs of hook and its programs, and orders of the status', () => {
    assert.deepEqual(complete('config', 'set', 'quietH'), ['quietHours']);
    assert.deepEqual(complete('config', 'unset', 'tokenE'), ['tokenEverywhere']);
    assert.deepEqual(complete('config', 'set', 'quietHours', 'quiet'), []);
    assert.deepEqual(complete('hook', 'inst'), ['install']);
    assert.deepEqual(complete('hook', '--harness', 'co'), ['codex', 'copilot']);
    assert.deepEqual(complete('hook', 'print', 'co'), ['codex', 'copilot']);
    assert.deepEqual(complete('hook', '--ev'), ['--event']);
    assert.deepEqual(complete('config', 'path', ''), ['--help', '--json']);
    assert.deepEqual(complete('status', '--sort', 'ne'), ['need', 'newest']);
    assert.deepEqual(complete('status', 'c'), ['cyrus']);
  });

  test('offers the open decisions of the running program, by their numbers', async () => {
    await using tray = await startFakeTray();
    tray.answers['/api/v1/decisions'] = {
      decisions: [
        { id: 4, persona: 'ada', prompt: 'Deploy\n\u001b[2J now? $(touch pwned)' },
        { id: 12, persona: 'bo', prompt: 'Merge?' },
      ],
    };
    const listed = await promisify(execFile)(join(home, 'bin', 'hivebar'), ['__complete', 'decisions'], {
      env: { ...process.env, ...tray.env },
    });
    assert.equal(listed.stdout, '4\tada: Deploy \\u001b[2J now? $(touch pwned)\n12\tbo: Merge?\n');
    for (const verb of ['respond', 'show', 'wait', 'cancel'])
      assert.deepEqual(await completeBeside(tray.env, 'decision', verb, ''), ['4', '12']);
    assert.deepEqual(complete('decision', 'respond', '1'), [], 'while hivebar is closed there are none');
    assert.ok(!existsSync(join(home, 'pwned')));
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

test('zsh reads its script', { skip: spawnSync('zsh', ['--version']).status !== 0 && 'needs the package zsh' }, () => {
  const read = spawnSync('zsh', ['-f', '-n'], { input: scripts.zsh, encoding: 'utf8' });
  assert.deepEqual([read.status, read.stderr], [0, '']);
  assert.match(scripts.zsh, /^ {4}decision\).* respond\) _hivebar_list decisions ;;/m);
  assert.match(scripts.fish, /seen_subcommand_from respond' -a '\(hivebar __complete decisions 2>\/dev\/null\)'/);
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
        tune: { help: 'in tune', positionals: { key: { value: 'KEY', choices: ['c', 'd'] }, to: { value: 'HERTZ' } } },
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
  assert.deepEqual(verbs, ['loud', 'tune', 'soft']);
  assert.deepEqual(others, {
    loud: { kind: { is: 'list', subject: 'personas' }, isFirstOnly: false },
    tune: { kind: { is: 'words', words: ['c', 'd'] }, isFirstOnly: true },
  });
  assert.deepEqual(flags, [
    { name: '--help', value: null },
    { name: '--all', value: null },
    { name: '--tempo', value: { is: 'text' } },
    { name: '--key', value: { is: 'words', words: ['major', 'minor'] } },
    { name: '--from', value: { is: 'file' } },
    { name: '--to', value: { is: 'list', subject: 'personas' } },
  ]);
});
