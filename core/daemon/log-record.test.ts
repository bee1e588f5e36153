import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createDaemonLog, createRecord, formatScrubbedError, scrubText } from './daemon-log.ts';
import {
  chooseSinkKind,
  EVENT_LOG_CALLS,
  formatPrefixedLine,
  formatRecordLine,
  type LogOwner,
  type LogRecord,
  type LogSurroundings,
  parseJournalStream,
  toEventCreateArguments,
  toReportedEvent,
} from './log-record.ts';

const OWNER: LogOwner = {
  tenant_id: 'acme',
  agent_identity: 'ada',
  agent_surface: 'codex',
  machine_id: 'faba9e88c823',
  pid: 77,
  version: '0.1.0',
};
const fields = (more: Partial<LogRecord> = {}): LogRecord => ({
  ...createRecord(OWNER, fakeClock(0), 'CONNECTED', { level: 'info', event: 'note', msg: 'well' }),
  ...more,
});

describe('persona daemon check 15: one record shape', () => {
  test('persona daemon check 15: a record has these keys in this order, and a class where it is of a failure', () => {
    const keys = ['ts', 'level', 'event', 'msg', 'tenant_id', 'agent_identity', 'agent_surface', 'machine_id', 'fsm'];
    assert.deepEqual(Object.keys(JSON.parse(formatRecordLine(fields())) as object), [...keys, 'pid', 'version']);
    const failure = fields({ error_class: 'unclassified' });
    assert.deepEqual(Object.keys(JSON.parse(formatRecordLine(failure)) as object), [
      ...keys,
      'error_class',
      'pid',
      'version',
    ]);
    assert.match(formatRecordLine(failure), /^\{"ts":"1970-01-01T00:00:00[^\n]*\}\n$/);
  });

  test('persona daemon check 15: the journal and logger find the priority in front of a line', () => {
    const prefixes = (['error', 'warn', 'info', 'debug'] as const).map((level) =>
      formatPrefixedLine(fields({ level })).slice(0, 4),
    );
    assert.deepEqual(prefixes, ['<3>{', '<4>{', '<6>{', '<7>{']);
  });

  test('a log tells the state at its moment, and leaves out what is named beside a line', async () => {
    const put: LogRecord[] = [];
    const sink = { put: (record: LogRecord) => void put.push(record), [Symbol.asyncDispose]: async () => {} };
    let fsm: LogRecord['fsm'] = 'DISCONNECTED';
    await using log = createDaemonLog({
      owner: OWNER,
      sink,
      clock: fakeClock(0),
      fsm: () => fsm,
      secrets: () => ['hunter2'],
    });
    log.tell('info', 'stream', 'open');
    fsm = 'CONNECTED';
    log.failed('ws_connect_failed', Object.assign(new Error('connect refused hunter2'), { code: 'ECONNREFUSED' }));
    log.plain.warn('careful', { content: 'a secret plan' });
    assert.deepEqual(
      put.map(({ level, event, msg, fsm: at, error_class }) => [level, event, msg, at, error_class]),
      [
        ['info', 'stream', 'open', 'DISCONNECTED', undefined],
        ['error', 'error', 'Error: ECONNREFUSED: connect refused [...]', 'CONNECTED', 'ws_connect_failed'],
        ['warn', 'note', 'careful', 'CONNECTED', undefined],
      ],
    );
  });
});

describe('persona daemon check 9: no content, token or sender in a log', () => {
  const CONTENT = 'meet me at dawn';
  const TOKEN = '5e0c'.repeat(16);
  const catchError = (run: () => unknown): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return assert.fail('it did not throw');
  };

  test('persona daemon check 9: what was not read as JSON is not shown, however it is quoted', () => {
    const bodies = [
      CONTENT,
      `{"body": "${CONTENT}"`,
      `"${CONTENT}" "and" '${CONTENT}'`,
      `{"a": ${CONTENT}}`,
      `[${CONTENT}`,
    ];
    for (const body of bodies) {
      const error = catchError(() => JSON.parse(body)) as Error;
      assert.ok(!formatScrubbedError(error).includes('dawn'), body);
      for (const line of [error.message, `peek: ${error.message}`]) assert.ok(!scrubText(line).includes('dawn'), line);
    }
    assert.ok(!scrubText(`${CONTENT} in JSON at position 4`).includes('dawn'));
  });

  test('persona daemon check 9: what stands between quotes, or behind one that is never closed, is not shown', () => {
    for (const [open, close] of ['""', "''", '``', '“”', '‘’'].map((pair) => [...pair] as const)) {
      assert.equal(scrubText(`bad frame ${open}${CONTENT}${close} seen`), 'bad frame [...] seen');
      assert.equal(scrubText(`bad frame ${open}it${open}s ${CONTENT}${close}${close} seen`), 'bad frame [...] seen');
      assert.equal(scrubText(`bad frame ${open}${CONTENT}`), 'bad frame [...]');
    }
  });

  test('persona daemon check 9: no token, whichever way it is said', () => {
    const reported = [
      `Bearer ${TOKEN}`,
      `Authorization: Basic abc`,
      `token=abc`,
      `got ${TOKEN} instead`,
      `wss://me:abc@host.example/v1?token=abc#abc`,
      `https://host.example/?k=abc`,
      `api-key: abc`,
      `eyJhbGciOiJIUzI1NiJ9eyJhbGciOiJIUzI1NiJ9abcdefghij`,
    ];
    for (const text of reported) assert.doesNotMatch(scrubText(text), /abc|5e0c/, text);
    assert.equal(scrubText('a b c', ['b']), 'a [...] c');
    assert.equal(
      scrubText('wss://host.example/v1/session/stream: closed'),
      'wss://host.example/v1/session/stream: closed',
    );
  });

  test('persona daemon check 9: a record is one line, and cut', () => {
    assert.equal(scrubText('a\nb\u2028c\u0000d\u202ee'), 'a b c d e');
    assert.ok(scrubText('word '.repeat(1000)).length <= 300);
    assert.equal(formatScrubbedError('thrown text'), 'a value that is not an Error was thrown');
  });
});

describe('persona daemon check 15: which sink of the system', () => {
  const LINUX: LogSurroundings = {
    platform: 'linux',
    journalFd: 2,
    systemdCat: '/usr/bin/systemd-cat',
    logger: '/usr/bin/logger',
    hasJournal: true,
    hasSyslog: true,
  };
  const kind = (more: Partial<LogSurroundings>) => chooseSinkKind({ ...LINUX, ...more }, 'prism-daemon-acme-ada');

  test('persona daemon check 15: Linux: the journal behind our descriptor, else through one program, else a file', () => {
    assert.deepEqual(kind({}), { is: 'journal', fd: 2 });
    const cat = {
      is: 'program',
      file: '/usr/bin/systemd-cat',
      args: ['--identifier=prism-daemon-acme-ada'],
      prefixed: true,
    };
    assert.deepEqual(kind({ journalFd: null }), cat);
    const logger = {
      file: '/usr/bin/logger',
      args: ['--tag', 'prism-daemon-acme-ada', '--prio-prefix'],
      prefixed: true,
    };
    assert.deepEqual(kind({ journalFd: null, hasJournal: false }), { is: 'program', ...logger });
    assert.deepEqual(kind({ journalFd: null, systemdCat: null, hasSyslog: false }), { is: 'file' });
    assert.deepEqual(kind({ journalFd: null, systemdCat: null, logger: null }), { is: 'file' });
  });

  test('persona daemon check 15: macOS (not run there): one logger, its lines without a priority', () => {
    assert.deepEqual(kind({ platform: 'darwin', logger: '/usr/bin/logger' }), {
      is: 'program',
      file: '/usr/bin/logger',
      args: ['-t', 'prism-daemon-acme-ada', '-p', 'user.notice'],
      prefixed: false,
    });
    assert.deepEqual(kind({ platform: 'darwin', logger: null }), { is: 'file' });
    assert.deepEqual(kind({ platform: 'win32' }), { is: 'event-log' });
  });

  test('JOURNAL_STREAM is two numbers, exactly', () => {
    assert.deepEqual(parseJournalStream('9:18446744073709551615'), { dev: 9n, ino: 18446744073709551615n });
    for (const text of [undefined, '', '9', '9:', ':9', '9:x', '9:1 ', '-9:1'])
      assert.equal(parseJournalStream(text), null);
  });

  test('persona daemon check 15: Windows (not run there): the arguments of ReportEventW and of eventcreate', () => {
    const line = formatRecordLine(fields()).trimEnd();
    assert.deepEqual(toReportedEvent(fields()), [4, 0, 1, null, 1, 0, [line], null]);
    assert.deepEqual(
      (['error', 'warn', 'info', 'debug'] as const).map((level) => toReportedEvent(fields({ level }))[0]),
      [1, 2, 4, 4],
    );
    // BOOL ReportEventW(HANDLE, WORD, WORD, DWORD, PSID, WORD, DWORD, LPCWSTR *, LPVOID)
    const types = 'void *|uint16|uint16|uint32|void *|uint16|uint32|str16 *|void *';
    assert.deepEqual(EVENT_LOG_CALLS.report, ['ReportEventW', 'int', types.split('|')]);
    assert.equal(EVENT_LOG_CALLS.report[2].length, 1 + toReportedEvent(fields()).length);
    const args = toEventCreateArguments('prism-daemon-acme-ada', [fields(), fields({ level: 'warn' })]);
    const start = ['/L', 'APPLICATION', '/SO', 'prism-daemon-acme-ada', '/T', 'WARNING', '/ID', '1', '/D'];
    assert.deepEqual(args.slice(0, -1), start);
    const crowd = Array.from({ length: 100 }, () => fields());
    assert.ok(toEventCreateArguments('a', crowd).join(' ').length * 2 < 8191);
  });
});
