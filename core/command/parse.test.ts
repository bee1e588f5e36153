import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CommandSchema, formatUsage, listHelpSections, parseCommandLine } from './index.ts';

const SING = {
  name: 'sing',
  about: [],
  flags: { json: { type: 'boolean', help: 'for a script' } },
  rest: { value: 'COMMAND...', help: 'what listens' },
  verbs: {
    loud: {
      help: 'loudly',
      aliases: ['shout'],
      positionals: {
        song: { value: 'SONG', missing: 'which song?' },
        others: { value: 'SONG', many: true, optional: true },
      },
      flags: {
        key: { type: 'choice', choices: ['major', 'minor'], default: 'major', help: 'the key' },
        times: { type: 'number', short: 'n', least: 1, most: 9, help: 'how often' },
        for: { type: 'duration', help: 'how long' },
        to: { type: 'string', value: 'PERSONA', multiple: true, completes: 'persona', help: 'who listens' },
        at: { type: 'number', parse: (text: string, flag: string) => `${flag} at ${text}`, help: 'where' },
        echo: { type: 'boolean', negatable: true, help: 'with an echo' },
      },
    },
    'soft high': { help: 'softly', flags: { as: { type: 'string', required: true, help: 'who' } } },
    rehearse: { help: 'what a unit starts', internal: true },
  },
  examples: [],
} as const satisfies CommandSchema;

const parse = (line: string) => parseCommandLine(SING, line === '' ? [] : line.split(' '));

describe('a command line', () => {
  test('becomes values of the types that its schema says', () => {
    const values = parse('loud -n 3 hymn --for 2m --to ada --to bo --at home --no-echo psalm --json -- tee --json x');
    assert.deepEqual(values, {
      verb: 'loud',
      song: 'hymn',
      others: ['psalm'],
      key: 'major',
      times: 3,
      for: 120_000,
      to: ['ada', 'bo'],
      at: '--at at home',
      echo: false,
      json: true,
      rest: ['tee', '--json', 'x'],
    });
    if (values.verb !== 'loud') return;
    const typed: { key: 'major' | 'minor'; times: number | undefined; at: string | undefined; to: readonly string[] } =
      values;
    assert.equal(typed.times, 3);
  });

  test('has defaults for what is left out', () => {
    assert.deepEqual(parse('shout hymn'), {
      ...{ verb: 'loud', song: 'hymn', others: [], key: 'major', times: undefined, for: undefined, to: [] },
      ...{ at: undefined, echo: undefined, json: false, rest: null },
    });
  });

  test('has a verb of one word or of two', () => {
    assert.equal(parse('soft high --as ada').verb, 'soft high');
    assert.equal(parse('rehearse').verb, 'rehearse');
  });

  for (const [line, message] of [
    ['', /^expected loud or soft$/],
    ['hum', /^expected loud or soft, not hum$/],
    ['soft low', /^sing soft: expected high, not low$/],
    ['loud', /^which song\?$/],
    ['soft high', /^sing soft high: --as is missing$/],
    ['soft high --as ada --times 1', /^sing soft high: unknown flag --times$/],
    ['soft high --as ada x y', /^sing soft high: unexpected arguments x y; a command comes after --$/],
    ['loud hymn --key blue', /^--key blue: must be major or minor$/],
    ['loud hymn --times 0', /^--times 0: must be a whole number from 1 to 9$/],
    ['loud hymn --times 1.5', /^--times 1\.5: must be a whole number/],
    ['loud hymn --for 3', /^--for 3: must be a duration, for example 90s, 30m, 2h or 1d$/],
    ['loud hymn --what', /^unknown flag --what$/],
    ['loud hymn --key', /^--key: its value is missing$/],
    ['loud hymn -n', /^--times: its value is missing$/],
    ['loud hymn --key --json', /^--key: write a value that begins with a dash as --key=VALUE$/],
    ['loud hymn --json=yes', /^--json takes no value$/],
  ] as const) {
    test(`that is "${line}" is refused`, () => {
      assert.throws(() => parse(line), { code: 'usage', message });
    });
  }

  test('whose first word is its verb knows the flags of that verb alone', () => {
    const schema = { ...SING, isVerbFirst: true } as const;
    assert.throws(() => parseCommandLine(schema, ['rehearse', '--key', 'major']), {
      message: /^unknown flag --key$/,
    });
    assert.throws(() => parseCommandLine(schema, ['--json']), { message: /^expected loud or soft, not --json$/ });
  });
});

describe('the help', () => {
  test('has one usage line per verb, in which many flags are one word', () => {
    assert.deepEqual(formatUsage(SING), [
      'sing loud [FLAGS] SONG [SONG...] [-- COMMAND...]',
      'sing soft high --as TEXT [--json] [-- COMMAND...]',
      'sing rehearse [--json] [-- COMMAND...]',
    ]);
  });

  test('says what each flag does, with its default and its other forms', () => {
    const [loud, , , shared] = listHelpSections(SING);
    assert.equal(loud?.heading, 'loud SONG [SONG...]');
    assert.equal(loud?.help, 'loudly (also: shout)');
    assert.deepEqual(
      loud?.flags.map(({ flag, help }) => `${flag}: ${help}`),
      [
        '--key major|minor: the key (default: major)',
        '--times N: how often (short: -n)',
        '--for SPAN: how long',
        '--to PERSONA: who listens (may be repeated)',
        '--at N: where',
        '--echo: with an echo (--no-echo turns it off)',
      ],
    );
    assert.deepEqual(
      shared?.flags.map(({ flag }) => flag),
      ['--json', '-- COMMAND...'],
    );
  });
});
