import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseWatch, WATCH_FLAGS, type WatchPlan } from './index.ts';

const DEFAULTS: WatchPlan = {
  targets: { is: 'all' },
  hive: 'http://127.0.0.1:7474',
  pollSeconds: 60,
  alertAfter: 3,
  emit: { is: 'stdout' },
  maxBytes: 5_000_000,
  keepLogs: 5,
  contentChars: 220,
  seedAt: null,
  maxReplay: 50,
  stateFile: null,
  heartbeatSeconds: null,
  suppressAuthors: [],
  rediscoverSeconds: 600,
  authHeader: null,
  tokenFile: null,
  fastPath: true,
  resyncEvery: 10,
  selfTest: false,
  delivery: 'at-most-once',
  waitSeconds: 0,
  silenced: new Set(),
  hiveAlarms: { stranded: true, urgent: true },
  activityFile: null,
  checkActivity: null,
};
const ONCE_MORE = { delivery: 'at-least-once', waitSeconds: 50 } as const;

/** A command line as a shell without quotes would split it. */
const parse = (line: string) => parseWatch(line.split(' ').filter((word) => word !== ''));

test('without flags every default is that of the Kijito contract (c), and nothing is warned of', () => {
  assert.deepEqual(parse(''), { is: 'plan', plan: DEFAULTS, warnings: [] });
});

describe('a flag changes what it names and nothing else', () => {
  const onlyAda = { is: 'some', personas: ['ada'] } as const;
  const cases: readonly (readonly [line: string, change: Partial<WatchPlan>])[] = [
    ['--persona ada', { targets: onlyAda }],
    ['--persona=ada', { targets: onlyAda }],
    ['--persona ada --persona bo', { targets: { is: 'some', personas: ['ada', 'bo'] } }],
    ['--personas ada,bo,,cy', { targets: { is: 'some', personas: ['ada', 'bo', 'cy'] } }],
    ['--persona ada --personas bo,ada', { targets: { is: 'some', personas: ['ada', 'bo'] } }],
    ['--persona Ada --persona ADA --personas ada,bo', { targets: { is: 'some', personas: ['Ada', 'bo'] } }],
    ['--persona -ada', { targets: { is: 'some', personas: ['-ada'] } }],
    ['--all-personas', {}],
    ['--url http://h/', { targets: { is: 'url', url: 'http://h/', allowLoopback: false, allowPrivate: false } }],
    [
      '--url http://h/ --allow-loopback',
      { targets: { is: 'url', url: 'http://h/', allowLoopback: true, allowPrivate: false } },
    ],
    [
      '--url http://h/ --allow-private',
      { targets: { is: 'url', url: 'http://h/', allowLoopback: false, allowPrivate: true } },
    ],
    ['--hive http://h:1', { hive: 'http://h:1' }],
    ['--poll-seconds 1', { pollSeconds: 1 }],
    ['--poll-seconds 1.5', { pollSeconds: 1.5 }],
    ['--alert-after 1', { alertAfter: 1 }],
    ['--emit stdout-jsonl', {}],
    ['--emit exec-per-event --exec true', { emit: { is: 'exec', command: 'true' } }],
    ['--content-chars 0', { contentChars: 0 }],
    ['--no-content', { contentChars: null }],
    ['--persona ada --seed-at 0', { targets: onlyAda, seedAt: 0 }],
    ['--personas ada,ADA --seed-at 7', { targets: onlyAda, seedAt: 7 }],
    [
      '--url http://h/ --seed-at 7',
      { targets: { is: 'url', url: 'http://h/', allowLoopback: false, allowPrivate: false }, seedAt: 7 },
    ],
    ['--max-replay 0', { maxReplay: 0 }],
    ['--state-file s.json', { stateFile: 's.json' }],
    ['--heartbeat 1', { heartbeatSeconds: 1 }],
    ['--events-file e.ndjson', { emit: { is: 'file', path: 'e.ndjson' } }],
    ['--events-file-template e.{persona}', { emit: { is: 'template', template: 'e.{persona}' } }],
    ['--max-bytes 0', { maxBytes: 0 }],
    ['--max-bytes -1', { maxBytes: -1 }],
    ['--keep-logs 1', { keepLogs: 1 }],
    ['--suppress-author ada --suppress-author bo', { suppressAuthors: ['ada', 'bo'] }],
    ['--rediscover-every 1', { rediscoverSeconds: 1 }],
    ['--auth-header X-Token', { authHeader: 'X-Token' }],
    ['--token-file t', { tokenFile: 't' }],
    ['--no-fast-path', { fastPath: false }],
    ['--resync-every 1', { resyncEvery: 1 }],
    ['--self-test', { selfTest: true }],
    ['--delivery at-most-once', {}],
    ['--delivery at-least-once', { delivery: 'at-least-once', waitSeconds: 50 }],
    ['--delivery at-least-once --wait 0', { delivery: 'at-least-once' }],
    ['--delivery at-least-once --wait 2.5', { delivery: 'at-least-once', waitSeconds: 2.5 }],
    ['--delivery at-least-once --no-fast-path', { delivery: 'at-least-once', waitSeconds: 50, fastPath: false }],
    ['--wait 7', { waitSeconds: 7 }],
    ['--delivery at-least-once --no-stranded-alerts', { ...ONCE_MORE, hiveAlarms: { stranded: false, urgent: true } }],
    ['--delivery at-least-once --no-urgent-alerts', { ...ONCE_MORE, hiveAlarms: { stranded: true, urgent: false } }],
    ['--delivery at-least-once --activity-file a.json', { ...ONCE_MORE, activityFile: 'a.json' }],
    [
      '--activity-file a.json --check-activity ada --since-id 0',
      { activityFile: 'a.json', checkActivity: { persona: 'ada', sinceId: 0, waits: null } },
    ],
    [
      '--activity-file a.json --check-activity ada --since-id 7 --waits 2',
      { activityFile: 'a.json', checkActivity: { persona: 'ada', sinceId: 7, waits: 2 } },
    ],
    ...(
      [
        ['--no-gap-alerts', ['gap']],
        ['--no-evidence-alerts', ['evidence-lost']],
        ['--no-unread-alerts', ['unread-not-shown']],
        ['--no-gap-alerts --no-unread-alerts', ['gap', 'unread-not-shown']],
      ] as const
    ).map(([line, silenced]): [string, Partial<WatchPlan>] => [
      `--delivery at-least-once ${line}`,
      { delivery: 'at-least-once', waitSeconds: 50, silenced: new Set(silenced) },
    ]),
  ];
  for (const [line, change] of cases) {
    test(line, () => assert.deepEqual(parse(line), { is: 'plan', plan: { ...DEFAULTS, ...change }, warnings: [] }));
  }

  test('every flag of the schema is among them', () => {
    const flags = Object.keys(WATCH_FLAGS).map((flag) => `--${flag}`);
    assert.ok(flags.length > 25);
    for (const flag of flags)
      assert.ok(
        cases.some(([line]) => line.includes(flag)),
        flag,
      );
  });
});

describe('a wrong command line is refused with the flag, its value, and what would be right', () => {
  const cases: readonly (readonly [line: string, message: RegExp])[] = [
    ['--poll-seconds 0', /--poll-seconds 0: must be at least 1$/],
    ['--poll-seconds 0.5', /--poll-seconds 0.5: must be at least 1$/],
    ['--poll-seconds x', /--poll-seconds x: must be a number$/],
    ['--poll-seconds 1e9', /--poll-seconds 1e9: must be a number$/],
    ['--poll-seconds NaN', /--poll-seconds NaN: must be a number$/],
    ['--poll-seconds Infinity', /--poll-seconds Infinity: must be a number$/],
    ['--poll-seconds 0x10', /--poll-seconds 0x10: must be a number$/],
    ['--wait -1', /--wait -1: must be at least 0$/],
    ['--wait x', /--wait x: must be a number$/],
    ['--delivery exactly-once', /--delivery.*'exactly-once' is invalid.*at-most-once, at-least-once/],
    ['--alert-after 0', /--alert-after 0: must be at least 1$/],
    ['--alert-after 1.5', /--alert-after 1.5: must be a whole number$/],
    ['--alert-after', /--alert-after <n>.*argument missing/],
    ['--emit webhook', /--emit <mode>.*webhook.*stdout-jsonl, exec-per-event/],
    ['--emit exec-per-event', /--emit exec-per-event: needs --exec COMMAND/],
    ['--content-chars -1', /--content-chars -1: must be at least 0$/],
    ['--content-chars 5 --no-content', /use only one of --content-chars and --no-content/],
    ['--seed-at 5', /--seed-at 5: .*exactly one --persona/],
    ['--seed-at 5 --personas ada,bo', /--seed-at 5: .*exactly one --persona/],
    ['--seed-at -1 --persona ada', /--seed-at -1: must be at least 0$/],
    ['--seed-at 2.5 --persona ada', /--seed-at 2.5: must be a whole number$/],
    ['--seed-at 9007199254740993 --persona ada', /--seed-at 9007199254740993: must be a whole number/],
    ['--max-replay -1', /--max-replay -1: must be at least 0$/],
    ['--heartbeat 0', /--heartbeat 0: must be at least 1$/],
    ['--events-file a --events-file-template b.{persona}', /use only one of --events-file and --events-file-template/],
    ['--events-file-template events.ndjson', /--events-file-template events.ndjson: must contain \{persona\}/],
    ['--keep-logs 0', /--keep-logs 0: must be at least 1$/],
    ['--max-bytes x', /--max-bytes x: must be a whole number$/],
    ['--rediscover-every 0', /--rediscover-every 0: must be at least 1$/],
    ['--resync-every 0', /--resync-every 0: must be at least 1$/],
    ['--url http://h/ --persona ada', /--url names .*leave out --persona/],
    ['--url http://h/ --personas ada', /--url names .*leave out --persona/],
    ['--url http://h/ --all-personas', /--url names .*leave out --persona/],
    ['--url http://h/ --hive http://h', /use only one of --url and --hive/],
    ['--all-personas --persona ada', /use either --all-personas or --persona/],
    ['--personas ,', /the name is missing/],
    ['--check-activity ada', /--check-activity ada: needs --activity-file PATH and --since-id ID/],
    ['--check-activity ada --since-id 3', /--check-activity ada: needs --activity-file/],
    ['--check-activity ada --activity-file a.json', /--check-activity ada: needs .*--since-id/],
    ['--check-activity ada --activity-file a.json --since-id x', /--since-id x: must be a whole number$/],
    ['--check-activity ada --activity-file a.json --since-id 1 --waits -1', /--waits -1: must be at least 0$/],
    ['--since-id 3', /--since-id and --waits are used only with --check-activity/],
    ['--activity-file a.json', /--activity-file needs --delivery at-least-once/],
    ['--frobnicate', /unknown option '--frobnicate'/],
    ['--token secret', /unknown option '--token'/],
    ['ada', /too many arguments/],
  ];
  for (const [line, message] of cases) {
    test(line, () => {
      const parsed = parse(line);
      assert.ok(parsed.is === 'usage', 'it was accepted');
      assert.match(parsed.message, message);
    });
  }

  for (const flag of ['state-file', 'events-file', 'events-file-template', 'token-file', 'auth-header', 'persona']) {
    test(`--${flag} with the empty text`, () => {
      const parsed = parseWatch([`--${flag}`, '']);
      assert.ok(parsed.is === 'usage', 'it was accepted');
      assert.match(parsed.message, new RegExp(`--${flag}`));
    });
  }
});

describe('E3 what is ignored is warned of in that word and changes nothing', () => {
  const cases: readonly (readonly [args: readonly string[], warning: RegExp, change: Partial<WatchPlan>])[] = [
    [['--wait', '5', '--no-fast-path'], /--wait is ignored with --no-fast-path/, { waitSeconds: 5, fastPath: false }],
    [['--no-gap-alerts'], /are ignored without --delivery at-least-once/, { silenced: new Set(['gap']) }],
    [
      ['--no-stranded-alerts'],
      /--no-stranded-alerts.* are ignored without --delivery at-least-once/,
      { hiveAlarms: { stranded: false, urgent: true } },
    ],
    [['--exec', 'true'], /--exec is ignored without --emit exec-per-event/, {}],
    [
      ['--emit', 'exec-per-event', '--exec', 'true', '--events-file', 'e'],
      /--events-file.* are ignored with --emit exec-per-event/,
      { emit: { is: 'exec', command: 'true' } },
    ],
    [['--allow-loopback'], /--allow-loopback.* are ignored without --url/, {}],
    [['--allow-private'], /--allow-private are ignored without --url/, {}],
  ];
  for (const [args, warning, change] of cases) {
    test(args.join(' '), () => {
      const parsed = parseWatch(args);
      assert.ok(parsed.is === 'plan');
      assert.deepEqual(parsed.plan, { ...DEFAULTS, ...change });
      assert.equal(parsed.warnings.length, 1);
      assert.match(parsed.warnings[0] ?? '', warning);
    });
  }
});
