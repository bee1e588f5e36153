import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { needs } from '../../test/kit/require.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { until } from '../../test/kit/until.ts';
import { loadKoffi } from '../ports/index.ts';
import { createRecord, type LogOutlet } from './daemon-log.ts';
import {
  createEventCreateOutlet,
  createFileOutlet,
  createJournalOutlet,
  createProgramOutlet,
  openEventLogOutlet,
  readLogSurroundings,
} from './log-outlets.node.ts';
import { formatPrefixedLine, formatRecordLine, type LogRecord } from './log-record.ts';

const OWNER = { tenant_id: 't', agent_identity: 'i', agent_surface: 's', machine_id: 'm', pid: 1, version: '0' };
const record = (msg: string, level: LogRecord['level'] = 'info'): LogRecord =>
  createRecord(OWNER, { now: () => 0 }, 'CONNECTED', { level, event: 'note', msg });
const written = (outlet: LogOutlet, records: readonly LogRecord[]): Promise<Error | null> =>
  new Promise((resolve) => outlet.write(records, resolve));
const two = [record('a'), record('b', 'error')];

describe('outlets of a log', { skip: process.platform === 'win32' }, () => {
  test('persona daemon check 15: the journal behind a descriptor gets a line a record with its priority', async () => {
    using dir = scratch();
    const path = dir.at('journal');
    const fd = openSync(path, 'w');
    assert.equal(await written(createJournalOutlet(fd), two), null);
    closeSync(fd);
    assert.equal(readFileSync(path, 'utf8'), two.map(formatPrefixedLine).join(''));
    assert.match(String(await written(createJournalOutlet(fd), two)), /EBADF/);
  });

  test('persona daemon check 15: JOURNAL_STREAM is believed only of the descriptor that it names', () => {
    using dir = scratch();
    const path = dir.write('err', '');
    const { dev, ino } = statSync(path, { bigint: true });
    const script = `
      const { readLogSurroundings } = await import(${JSON.stringify(import.meta.resolve('./log-outlets.node.ts'))});
      process.stdout.write(JSON.stringify(readLogSurroundings(process.env).journalFd));`;
    const fd = openSync(path, 'a');
    const seen = (stream: string, stderr: number | 'ignore'): string =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, JOURNAL_STREAM: stream },
        stdio: ['ignore', 'pipe', stderr],
      }).stdout.toString('utf8');
    assert.equal(seen(`${dev}:${ino}`, fd), '2');
    assert.equal(seen(`${dev}:${ino}`, 'ignore'), 'null', 'inherited, and our stderr is another one');
    assert.equal(seen(`${dev}:${ino + 1n}`, fd), 'null');
    closeSync(fd);
  });

  test('one program takes all records, a line each, and ends with us', async () => {
    using dir = scratch();
    const cat = createProgramOutlet('/bin/sh', ['-c', `cat > ${dir.at('out')}; echo end >> ${dir.at('out')}`], true);
    assert.equal(await written(cat, two), null);
    assert.equal(await written(cat, [record('c')]), null);
    await cat.close();
    assert.equal(dir.text('out'), `${[...two, record('c')].map(formatPrefixedLine).join('')}end\n`);
  });

  test('a program that ends, or is not there, has failed; one that does not end with its input is killed', async () => {
    const ends = createProgramOutlet('/bin/sh', ['-c', 'exit 3'], false);
    let error: Error | null = null;
    await until('its end is told', () => {
      ends.write(two, (why) => {
        error ??= why;
      });
      return error !== null;
    });
    await ends.close();
    const none = createProgramOutlet('/nothing/of/that/name', [], false);
    assert.match(String(await written(none, two)), /ENOENT|EPIPE/);
    await none.close();
    await createProgramOutlet('/bin/sh', ['-c', 'trap "" TERM; sleep 600'], false).close();
  });

  test('persona daemon check 15: logger of this machine takes lines with priorities for as long as we run', async (t) => {
    const { logger } = readLogSurroundings(process.env);
    if (needs(t, logger === null ? 'logger is missing: apt-get install bsdutils' : null) || logger === null) return;
    using dir = scratch();
    const socket = dir.at('log');
    // A datagram socket as /dev/log is; Node has none.
    const python = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print('there', flush=True)
while True: print(s.recv(65536).decode(), flush=True)`;
    const server = spawn('python3', ['-c', python, socket], { stdio: ['ignore', 'pipe', 'ignore'] });
    let got = '';
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      got += text;
    });
    try {
      await until('the socket', () => got.startsWith('there'));
      const outlet = createProgramOutlet(
        logger,
        ['--tag', 'prism-daemon-t-i', '--prio-prefix', '--socket', socket],
        true,
      );
      assert.equal(await written(outlet, [record('a')]), null);
      await until('the first record, while it runs', () => got.includes('"msg":"a"'));
      assert.equal(await written(outlet, [record('b', 'error')]), null);
      await until('the second', () => got.includes('"msg":"b"'));
      await outlet.close();
      assert.match(got, /^<14>.*prism-daemon-t-i: \{.*"msg":"a"/m, 'user.info');
      assert.match(got, /^<11>.*prism-daemon-t-i: \{.*"msg":"b"/m, 'user.err');
    } finally {
      server.kill('SIGKILL');
      await once(server, 'exit');
    }
  });

  test('persona daemon check 15: why no `logger --journald` is kept: it ends with its first entry', (t) => {
    const { logger } = readLogSurroundings(process.env);
    if (needs(t, logger === null ? 'logger is missing: apt-get install bsdutils' : null) || logger === null) return;
    const { status, signal } = spawnSync(
      '/bin/sh',
      ['-c', `(printf 'MESSAGE=a\\n\\n'; exec sleep 600) | { ${logger} --journald; kill $$; }`],
      {
        stdio: 'ignore',
      },
    );
    assert.deepEqual([status, signal], [null, 'SIGTERM'], 'it read no further than the empty line');
  });
});

describe('the file of a log', { skip: process.platform === 'win32' }, () => {
  test('persona daemon check 15: it is private, grows to its bound, and has one before it', async () => {
    using dir = scratch();
    const path = dir.at('log');
    const line = formatRecordLine(record('a'));
    const outlet = createFileOutlet(path, line.length * 3);
    for (let n = 0; n < 8; n += 1) assert.equal(await written(outlet, [record('a')]), null);
    assert.deepEqual([dir.text('log').length, dir.text('log.1').length], [line.length * 2, line.length * 3]);
    assert.deepEqual([statSync(path).mode & 0o777, statSync(`${path}.1`).mode & 0o777], [0o600, 0o600]);
    assert.deepEqual(dir.list(), ['log', 'log.1']);
  });

  test('a link is not followed, and no folder is no file', async () => {
    using dir = scratch();
    writeFileSync(dir.at('other'), '');
    symlinkSync(dir.at('other'), dir.at('log'));
    assert.match(String(await written(createFileOutlet(dir.at('log')), two)), /ELOOP/);
    assert.equal(dir.text('other'), '');
    assert.match(String(await written(createFileOutlet(dir.at('no', 'log')), two)), /ENOENT/);
    mkdirSync(dir.at('folder'));
    assert.match(String(await written(createFileOutlet(dir.at('folder')), two)), /EISDIR/);
  });

  test('one that was deleted is there again', async () => {
    using dir = scratch();
    const outlet = createFileOutlet(dir.at('log'));
    await written(outlet, two);
    spawnSync('rm', [dir.at('log')]);
    await written(outlet, two);
    assert.equal(dir.text('log'), two.map(formatRecordLine).join(''));
  });
});

/** Functions of the shape of advapi32.dll that write down what they are called with. */
const ADVAPI = `
#include <stdio.h>
#include <stdint.h>
static void text(FILE *f, const uint16_t *s) { for (; s && *s; s++) fputc(*s < 128 ? *s : '?', f); }
static FILE *out(void) { return fopen(RECORD, "a"); }
void *RegisterEventSourceW(const uint16_t *server, const uint16_t *source) {
  FILE *f = out(); fprintf(f, "register %s ", server ? "server" : "null"); text(f, source); fputc('\\n', f); fclose(f);
  return source[0] == 'x' ? 0 : (void *)0x1234;
}
int ReportEventW(void *h, uint16_t type, uint16_t category, uint32_t id, void *sid, uint16_t count, uint32_t size, const uint16_t **strings, void *data) {
  FILE *f = out();
  fprintf(f, "report %d type %d category %d id %u sid %d count %d size %u data %d ", h == (void *)0x1234, type, category, id, sid != 0, count, size, data != 0);
  for (int i = 0; i < count; i++) text(f, strings[i]);
  fputc('\\n', f); fclose(f); return type != 1;
}
int DeregisterEventSource(void *h) { FILE *f = out(); fprintf(f, "deregister %d\\n", h == (void *)0x1234); fclose(f); return 1; }
`;

describe('the Event Log of Windows, against a library of the same shape (not run on Windows)', {
  skip: process.platform === 'win32',
}, () => {
  test('persona daemon check 15: a record is one call with one text; a call that is refused, and a log that does not open, have failed', async (t) => {
    using dir = scratch();
    const source = dir.write('advapi.c', `#define RECORD ${JSON.stringify(dir.at('calls'))}\n${ADVAPI}`);
    const made = spawnSync('cc', ['-shared', '-fPIC', '-o', dir.at('advapi.so'), source], { stdio: 'pipe' });
    if (needs(t, made.status === 0 ? null : 'a C compiler is missing: apt-get install gcc libc6-dev')) return;
    const outlet = openEventLogOutlet('prism-daemon-t-i', loadKoffi(), dir.at('advapi.so'));
    assert.equal(await written(outlet, [record('gr\u00fcn'), record('b', 'warn')]), null);
    assert.match(String(await written(outlet, [record('c', 'error')])), /ReportEventW failed/);
    await outlet.close();
    const shown = (msg: string, level: LogRecord['level']): string => formatRecordLine(record(msg, level)).trimEnd();
    assert.deepEqual(dir.text('calls').trimEnd().split('\n'), [
      'register null prism-daemon-t-i',
      `report 1 type 4 category 0 id 1 sid 0 count 1 size 0 data 0 ${shown('gr?n', 'info')}`,
      `report 1 type 2 category 0 id 1 sid 0 count 1 size 0 data 0 ${shown('b', 'warn')}`,
      `report 1 type 1 category 0 id 1 sid 0 count 1 size 0 data 0 ${shown('c', 'error')}`,
      'deregister 1',
    ]);
    assert.throws(() => openEventLogOutlet('x', loadKoffi(), dir.at('advapi.so')), /no handle/);
    assert.throws(() => openEventLogOutlet('x', loadKoffi(), dir.at('none.so')));
  });

  test('eventcreate: one process for all that came while it waited, no more often than it may', async () => {
    using dir = scratch();
    const program = dir.write('eventcreate', `#!/bin/sh\nprintf '%s\\n' "$#" "$@" >> ${dir.at('calls')}\n`);
    chmodSync(program, 0o700);
    const never = createEventCreateOutlet('prism-daemon-t-i', program, 3_600_000);
    assert.equal(await written(never, two), null);
    never.write(two, () => assert.fail('an hour has not passed'));
    await never.close();
    const first = [
      ...['10', '/L', 'APPLICATION', '/SO', 'prism-daemon-t-i', '/T', 'ERROR', '/ID', '1', '/D'],
      ...two.map((entry) => formatRecordLine(entry).trimEnd()),
    ];
    assert.deepEqual(dir.text('calls').trimEnd().split('\n'), first);
    const soon = createEventCreateOutlet('prism-daemon-t-i', program, 1);
    for (let n = 0; n < 3; n += 1) assert.equal(await written(soon, two), null);
    await soon.close();
    assert.deepEqual(dir.text('calls').trimEnd().split('\n'), [...first, ...first, ...first, ...first]);
    assert.match(String(await written(createEventCreateOutlet('a', '/nothing/of/that/name'), two)), /failed/);
  });
});
