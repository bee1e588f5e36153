import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { COMMANDS } from './commands.ts';
import { dispatch } from './dispatch.ts';
import { parseCommandWords } from './help-completions.ts';

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
function offered(...words: string[]): readonly string[] {
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
    assert.deepEqual(offered('st'), ['status']);
    assert.deepEqual(offered('status', '--w'), ['--watch']);
    assert.deepEqual(offered('inbox', 's'), ['show']);
    assert.deepEqual(offered('run', '--tray-driver', ''), ['sni', 'systray2']);
    assert.deepEqual(offered('tail', '--since', ''), []);
  });

  test('offers the personas that have an event file when hivebar does not run, each as one safe word', () => {
    assert.deepEqual(offered('mute', 'a'), ['ada']);
    assert.deepEqual(offered('send', '--to', 'c'), ['cyrus']);
    assert.deepEqual(offered('inbox', 'list', 'a'), ['ada']);
    assert.deepEqual(offered('watch', '--persona', 'c'), ['cyrus']);
    const [word = '', ...more] = offered('mute', '$');
    assert.deepEqual(more, []);
    const typed = execFileSync('bash', ['--norc', '-c', `printf %s ${word}`], { cwd: home, encoding: 'utf8' });
    assert.equal(typed, HOSTILE);
    assert.ok(!existsSync(join(home, 'pwned')));
    assert.deepEqual(offered('mute', 'evil'), [], 'a name that no terminal may show is typed by hand');
  });
});

test('each shell knows every command and flag that the help does', () => {
  for (const name of Object.keys(COMMANDS)) {
    assert.match(scripts.bash, new RegExp(`^ {6}${name}\\)`, 'm'));
    assert.match(scripts.zsh, new RegExp(`^ {6}'${name}:`, 'm'));
    assert.match(scripts.fish, new RegExp(`__fish_use_subcommand -a ${name} -d '`));
  }
  for (const flag of ['cursor', 'token-file', 'no-notifications', 'events-file-template']) {
    assert.ok(scripts.bash.includes(`--${flag}`) && scripts.zsh.includes(`--${flag}`));
    assert.ok(scripts.fish.includes(`-l ${flag}`));
  }
});

test('what may follow a command is read from its usage and its help', () => {
  const words = parseCommandWords('sing', 'sing', {
    usage: 'sing loud|soft PERSONA [SONG...] [--key C|minor] [--from FILE | --to PERSONA] [--all]',
    about: ['  --tempo N   so fast', 'and --not-a-flag in a sentence'],
  });
  assert.deepEqual(words.verbs, ['loud', 'soft']);
  assert.deepEqual(words.arguments, { is: 'persona' });
  assert.deepEqual(words.flags, [
    { name: '--help', value: null },
    { name: '--tempo', value: { is: 'text' } },
    { name: '--key', value: { is: 'words', words: ['minor'] } },
    { name: '--from', value: { is: 'file' } },
    { name: '--to', value: { is: 'persona' } },
    { name: '--all', value: null },
  ]);
});
