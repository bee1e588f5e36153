import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { needs } from '../../test/kit/require.ts';
import { until } from '../../test/kit/until.ts';
import { programOnPath } from '../programs.node.ts';

const PROGRAM = join(import.meta.dirname, 'hivebar.node.ts');

let home: string;
let path: string;
let children: ChildProcess[];
beforeEach(() => {
  home = fs.mkdtempSync(join(tmpdir(), 'hivebar-tail-'));
  fs.mkdirSync(join(home, 'events'));
  path = join(home, 'events', 'events.ada.ndjson');
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  fs.rmSync(home, { recursive: true, force: true });
});

const line = (id: number): string =>
  `{"event": "new", "persona": "ada", "content": "é", "event_id": "ada:new:${id}", "wake_class": "mail"}\n`;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index)).join('');

function tail(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'tail', ...args], {
    env: { ...process.env, HIVEBAR_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.err += text;
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  return { child, output, ended };
}

const all = async (...args: string[]) => {
  const { output, ended } = tail(...args);
  return { code: await ended, ...output };
};

describe('hivebar tail', () => {
  test('B6 given names of others, at a terminal nothing in them acts or hides; a file gets each line as it stands', async (t) => {
    const script = process.platform === 'linux' ? programOnPath('script', process.env, 'linux') : null;
    if (needs(t, script === null ? 'script is missing, which gives a terminal: apt-get install bsdutils' : null))
      return;
    const hostile = line(1).replace('"é"', '"é \u202eexe \u009b2J", "from": "ada\u200b"');
    fs.writeFileSync(path, hostile);
    assert.equal((await all('ada')).out, hostile);
    const { stdout } = spawnSync(script ?? '', ['-qec', `'${process.execPath}' '${PROGRAM}' tail ada`, '/dev/null'], {
      ...{ env: { ...process.env, HIVEBAR_HOME: home }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    });
    const shown = hostile.replace('\u202e', '\\u202e').replace('\u009b', '\\u009b').replace('\u200b', '\\u200b');
    assert.equal(stdout, shown.replace('\n', '\r\n'));
  });

  test('prints the last ten events as they stand in the files, with hivebar closed; or as many as asked for', async () => {
    fs.writeFileSync(`${path}.1`, lines(1, 8));
    fs.writeFileSync(path, `${lines(9, 12)}{"event": "ne`);
    assert.deepEqual(await all('ada'), { code: 0, out: lines(3, 12), err: '' });
    assert.equal((await all('ada', '--lines', '2')).out, lines(11, 12));
  });

  test('goes on after an event; one that is not kept ends with 3, names the oldest and prints nothing', async () => {
    fs.writeFileSync(path, lines(5, 7));
    assert.equal((await all('ada', '--since', 'ada:new:6')).out, line(7));
    const gone = await all('ada', '--since', 'ada:new:2');
    assert.deepEqual([gone.code, gone.out], [3, '']);
    assert.match(gone.err, /event ada:new:2 is no longer kept: the oldest kept event is ada:new:5/);
  });

  test('keeps its position in a file of its own: each run prints what is new, over a rotation, and a gap is told', async () => {
    const cursor = join(home, 'my.cursor');
    fs.writeFileSync(path, lines(1, 3));
    assert.equal((await all('ada', '--cursor', cursor)).out, lines(1, 3));
    assert.equal(fs.statSync(cursor).mode & 0o777, 0o600);
    assert.equal((await all('ada', '--cursor', cursor)).out, '');
    fs.appendFileSync(path, line(4));
    fs.renameSync(path, `${path}.1`);
    fs.writeFileSync(path, line(5));
    assert.equal((await all('ada', '--cursor', cursor)).out, lines(4, 5));
    fs.unlinkSync(`${path}.1`);
    fs.writeFileSync(path, lines(9, 10));
    const saved = fs.readFileSync(cursor, 'utf8');
    const gap = await all('ada', '--cursor', cursor);
    assert.deepEqual([gap.code, gap.out], [3, '']);
    assert.match(gap.err, /ada:new:5 is no longer kept.*ada:new:9.*move .*my\.cursor away/);
    assert.equal(fs.readFileSync(cursor, 'utf8'), saved);
  });

  test('refuses a position of another persona or another program, and leaves the file as it is', async () => {
    const cursor = join(home, 'my.cursor');
    fs.writeFileSync(path, line(1));
    for (const [text, words] of [
      ['{"schema": 1, "persona": "bo", "event_id": "bo:new:1", "file": {}}', /is the position of "bo", not of ada/],
      ['my shopping list', /is not a position file of hivebar tail/],
    ] as const) {
      fs.writeFileSync(cursor, text, { mode: 0o600 });
      const { code, out, err } = await all('ada', '--cursor', cursor);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, words);
      assert.equal(fs.readFileSync(cursor, 'utf8'), text);
    }
  });

  test('follows: what comes, over a rotation and a deletion, until it is interrupted, and then ends with 0', async () => {
    const cursor = join(home, 'my.cursor');
    const { child, output, ended } = tail('ada', '--follow', '--cursor', cursor);
    await until('it waits for a file', () => output.err.includes('has no events yet'));
    fs.writeFileSync(path, line(1));
    await until('the first event', () => output.out === line(1));
    fs.appendFileSync(path, line(2));
    fs.renameSync(path, `${path}.1`);
    fs.writeFileSync(path, line(3).slice(0, 30));
    await until('the second', () => output.out === lines(1, 2));
    fs.appendFileSync(path, line(3).slice(30));
    await until('the third', () => output.out === lines(1, 3));
    fs.unlinkSync(path);
    fs.writeFileSync(path, line(4));
    await until('the fourth', () => output.out === lines(1, 4));
    await until('its position', () => fs.readFileSync(cursor, 'utf8').includes('ada:new:4'));
    child.kill('SIGINT');
    assert.equal(await ended, 0);
  });

  test('killed at any moment, it goes on from its position: nothing is lost', async () => {
    const cursor = join(home, 'my.cursor');
    let out = '';
    for (let run = 0; run < 5; run += 1) {
      fs.appendFileSync(path, lines(run * 500 + 1, run * 500 + 500));
      const { child, output, ended } = tail('ada', '--follow', '--cursor', cursor);
      await until('some output', () => output.out.includes(`new:${run * 500 + 1}"`));
      child.kill('SIGKILL');
      await ended;
      out += output.out;
    }
    out += (await all('ada', '--cursor', cursor)).out;
    const ids = new Set([...out.matchAll(/ada:new:(\d+)/g)].map(([, id]) => Number(id)));
    assert.equal(ids.size, 2500);
  });

  test('a reader that goes away, or reads nothing while it is told to stop, is a clean end; its position stays behind', async () => {
    const cursor = join(home, 'my.cursor');
    fs.writeFileSync(path, lines(1, 20_000));
    const gone = tail('ada', '--follow', '--cursor', cursor);
    gone.child.stdout.destroy();
    assert.equal(await gone.ended, 0);
    const stuck = tail('ada', '--follow', '--cursor', cursor);
    stuck.child.stdout.pause();
    await until('the pipe is full', () => stuck.child.stdout.readableLength > 0);
    stuck.child.kill('SIGTERM');
    stuck.child.stdout.resume();
    assert.equal(await stuck.ended, 0);
    // It may have written all of it before it heard the signal.
    assert.ok(`${stuck.output.out}${(await all('ada', '--cursor', cursor)).out}`.endsWith(line(20_000)));
  });

  test('a name that nobody has ends with 1 and the one that was meant, a wrong command line with 2', async () => {
    fs.writeFileSync(path, line(1));
    const { code, err } = await all('adda');
    assert.equal(code, 1);
    assert.match(err, /adda has no events yet .*did you mean ada\?/);
    for (const args of [[], ['ada', 'bo'], ['ada', '--lines', 'x'], ['ada', '--since', 'a', '--cursor', 'b']])
      assert.equal((await all(...args)).code, 2, args.join(' '));
  });
});
