import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Command, type CommandEntry, formatUsage, type Io } from '../../core/command/index.ts';
import { Fault } from '../../core/model/index.ts';
import { COMMANDS } from './commands.ts';
import { dispatch } from './dispatch.ts';
import { isQuick, QUICK_COMMANDS } from './quick-commands.ts';

function recorder() {
  const output = { out: '', err: '' };
  const io: Io = {
    env: {},
    out: (text) => {
      output.out += text;
    },
    err: (text) => {
      output.err += text;
    },
    input: async () => '',
  };
  return { io, output };
}

function entry(run: Command['run']): CommandEntry {
  const command: Command = {
    schema: {
      name: 'sing',
      about: [],
      positionals: { song: { value: 'SONG', optional: true } },
      examples: [{ run: 'hivebar sing', does: 'any song' }],
    },
    run,
  };
  return { summary: 'sing a song', group: 'watch', needs: 'bare', load: async () => ({ command }) };
}

const refuse = (): never => {
  throw new Error('must not be loaded');
};

describe('a command line', () => {
  test('runs the named command with what follows, and ends with its exit code', async () => {
    const seen: string[][] = [];
    const sing = entry(async (args) => {
      seen.push([...args]);
      return 7;
    });
    const { io } = recorder();
    assert.equal(await dispatch(['sing', 'a', '--b'], io, { sing }), 7);
    assert.deepEqual(seen, [['a', '--b']]);
  });

  test('that is empty or begins with a flag is for the default command', async () => {
    const seen: string[][] = [];
    const run = entry(async (args) => {
      seen.push([...args]);
      return 0;
    });
    const { io } = recorder();
    await dispatch([], io, { run });
    await dispatch(['--port', '0'], io, { run });
    assert.deepEqual(seen, [[], ['--port', '0']]);
  });

  test('that asks for help, a version or a command that is not there loads no command', async () => {
    const sing: CommandEntry = { summary: 'sing a song', group: 'watch', needs: 'bare', load: refuse };
    for (const [args, exit] of [
      [['--help'], 0],
      [['help'], 0],
      [['--version'], 0],
      [['sang'], 2],
      [['help', 'sang'], 2],
      [['toString'], 2],
    ] as const) {
      assert.equal(await dispatch(args, recorder().io, { sing }), exit, args.join(' '));
    }
  });

  test('with a misspelt name says which one was meant', async () => {
    const { io, output } = recorder();
    assert.equal(await dispatch(['statsu'], io, COMMANDS), 2);
    assert.match(output.err, /no command statsu: did you mean status\? see hivebar --help/);
  });

  test('with an escape sequence for a name does not send it to the terminal', async () => {
    const { io, output } = recorder();
    assert.equal(await dispatch(['\u001b[2J'], io, COMMANDS), 2);
    assert.ok(!output.err.includes('\u001b'));
  });

  test('shows the usage and the examples of one command, by help NAME and NAME --help', async () => {
    const sing = entry(refuse);
    const [first, second] = [recorder(), recorder()];
    assert.equal(await dispatch(['help', 'sing'], first.io, { sing }), 0);
    assert.equal(await dispatch(['sing', 'x', '--help'], second.io, { sing }), 0);
    assert.match(
      first.output.out,
      /^Usage: hivebar sing \[SONG\]\n\nSing a song\.\n\nExamples:\n {2}hivebar sing {2}any song\n$/,
    );
    assert.equal(first.output.out, second.output.out);
  });

  test('leaves --help to the command behind --', async () => {
    const sing = entry(async () => 3);
    assert.equal(await dispatch(['sing', '--', '--help'], recorder().io, { sing }), 3);
  });

  test('that is wrong ends with 2 and points at the help', async () => {
    const sing = entry(async () => {
      throw new Fault('usage', 'no such song: "x\u0007"', { is: 'machine', key: 'usage' });
    });
    const { io, output } = recorder();
    assert.equal(await dispatch(['sing'], io, { sing }), 2);
    assert.equal(output.err, 'hivebar sing: no such song: "x\\u0007": see hivebar sing --help\n');
  });

  test('that fails for a known reason ends with 1, the reason and the next step, and no stack', async () => {
    const sing = entry(async () => {
      throw new Fault('no-space', 'the disk is full', { is: 'machine', key: 'disk' });
    });
    const { io, output } = recorder();
    assert.equal(await dispatch(['sing'], io, { sing }), 1);
    assert.match(output.err, /^hivebar sing: the disk is full: free space on the disk.*\n$/);
  });

  test('that fails for a reason nobody foresaw ends with 1 and shows where', async () => {
    const sing = entry(async () => {
      throw new TypeError('x is not a function');
    });
    const { io, output } = recorder();
    assert.equal(await dispatch(['sing'], io, { sing }), 1);
    assert.match(output.err, /TypeError: x is not a function\n\s+at .*dispatch\.test\.ts/);
  });
});

describe('the table of commands', () => {
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    test(`${name} loads, and its usage begins with its name`, async () => {
      const { command } = await load();
      const { schema } = command;
      for (const usage of formatUsage(schema)) assert.match(usage, new RegExp(`^(${name}\\b|\\[${name}\\] )`)); // in brackets: the default
      assert.ok(schema.examples.length > 0);
      assert.match(summary, /^[a-z].*[^.]$/);
    });
  }

  test('has the quick ones, and they are known to be quick before anything is loaded', () => {
    for (const name of Object.keys(COMMANDS)) assert.equal(isQuick([name, '--json']), name in QUICK_COMMANDS, name);
    assert.equal(isQuick([]), false);
  });
});

describe('E4 words that people try', () => {
  const run = async (...args: string[]) => {
    const { io, output } = recorder();
    return { code: await dispatch(args, io, COMMANDS), ...output };
  };

  test('E4 version, -v, -V and --version print the version', async () => {
    const { out } = await run('--version');
    for (const word of ['version', '-v', '-V']) assert.deepEqual(await run(word), { code: 0, out, err: '' });
  });

  test('E4 daemon without a verb says which there are, and an unknown one is named', async () => {
    assert.match(
      (await run('daemon')).err,
      /^hivebar daemon: expected run, install, .* or shim: see hivebar daemon --help\n$/,
    );
    assert.match((await run('daemon', 'fly')).err, /^hivebar daemon: expected run, install, .* or shim, not fly: /);
  });

  test('E4 --tray-driver takes what the setting takes, and names any other value', async () => {
    assert.match((await run('run', '--tray-driver', 'x')).err, /--tray-driver x: must be sni, systray2 or none/);
    assert.match(
      (await run('run', '--tray-driver', 'none', '--port', 'x')).err,
      /--port x/,
      'none is no reason to refuse',
    );
  });
});
