import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, watch } from 'node:fs';
import { Agent, request } from 'node:http';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { fakeHive } from '../kit/fake-hive.ts';
import { type Cli, startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { readLogLines, type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** How often each process is killed; the more, the rarer the moments that are met. */
const KILLS = Number(process.env.HIVEBAR_KILLS ?? 20);
const PERSONAS = ['ada', 'bo', 'cy', 'di'];
/** Small, so that the files are rotated every half second or so. */
const MAX_BYTES = 20_000;
/** More than comes in at once after a kill: `tail -F` passes over a file that was renamed twice before it looked. */
const FOLLOWED_BYTES = 100_000;
/** More than there will be, so that no file is lost; each rotation looks for all of them. */
const KEEP = 2000;
/** Machines may be busy with other tests. */
const UP_MS = 60_000;

/** Characters of one to four bytes, so that a cut can fall inside one. */
const formatContent = (n: number): string => `mail ${n} é\u2028😀`.padEnd(n % 300, '😀é.');

/** The real `tail -F` on a file that is rotated under it. */
interface Follower extends AsyncDisposable {
  ids(): readonly unknown[];
}

function follow(path: string): Follower {
  const tail: ChildProcessByStdio<null, Readable, null> = spawn('tail', ['-n', '+1', '-F', path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  tail.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    ids: () => idsIn(text.split('\n').slice(0, -1)),
    async [Symbol.asyncDispose]() {
      const gone = once(tail, 'exit');
      tail.kill();
      await gone;
    },
  };
}

/** Ids of the mail in these lines, each of which is whole. */
function idsIn(lines: readonly string[]): unknown[] {
  return lines.flatMap((line) => {
    const { event, id } = JSON.parse(line) as { event: string; id?: number };
    return event === 'new' ? [id] : [];
  });
}

interface KillTarget {
  start(): Cli;
  isUp(cli: Cli): boolean;
  whileUp?(cli: Cli): void;
  /** Where the event files are. */
  readonly folder: string;
}

/**
 * A supervisor: starts it, lets it come up, kills it at a random moment, and starts it again at once. One in five dies
 * while it starts, and two in five as soon as a line is seen, before it can have noted that it wrote it. The last one lives.
 */
async function supervised({ start, isUp, whileUp = () => {}, folder }: KillTarget): Promise<Cli> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await using cli = start();
    if (kill % 5 === 4) {
      await sleep(Math.random() * 800);
    } else {
      await cli.until('that it is up', () => isUp(cli), UP_MS);
      whileUp(cli);
      await sleep(Math.random() * 500);
      if (kill % 2 === 0) await aLine(folder, () => cli.kill('SIGKILL'));
    }
    cli.kill('SIGKILL');
    assert.deepEqual(await cli.ended(), { code: null, signal: 'SIGKILL' }, 'it did not end by itself');
  }
  const last = start();
  await last.until('that it is up', () => isUp(last), UP_MS);
  whileUp(last);
  return last;
}

/** Calls `seen` at the next change of an event file. */
function aLine(folder: string, seen: () => void): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_, name) => {
      if (name?.endsWith('.ndjson') !== true) return;
      seen();
      watcher.close();
      resolve();
    });
  });
}

/** Fails with the first place where what was seen and what was sent part. */
function assertSame(seen: readonly unknown[], sent: readonly unknown[], label: string): void {
  const at = sent.findIndex((id, i) => seen[i] !== id);
  assert.equal(
    at,
    -1,
    `${label}: ${seen.slice(Math.max(0, at - 3), at + 5)} instead of ${sent.slice(Math.max(0, at - 3), at + 5)}`,
  );
  assert.equal(seen.length, sent.length, label);
}

describe(`killed ${KILLS} times at random moments under load`, { concurrency: true }, () => {
  test('the tray process: every message is in its event file once, in order, and tail -F has seen them all', async () => {
    using home = trayHome({ primary: { is: 'local' }, eventsMaxBytes: MAX_BYTES, eventsKeep: KEEP });
    const start = (): Cli => home.spawn(['--no-tray', '--no-notifications']);
    const isUp = (cli: Cli): boolean => readPlace(home)?.pid === cli.pid;
    await using followers = new AsyncDisposableStack();
    {
      await using first = await home.start(['--no-tray', '--no-notifications']);
      for (const to of PERSONAS) await first.post('/api/send', { to, from: 'me', content: 'first' });
      for (const persona of PERSONAS) await until('its file', () => existsSync(home.at('events', toFileName(persona))));
    }
    const tails = new Map(
      PERSONAS.map((persona) => [persona, followers.use(follow(home.at('events', toFileName(persona))))]),
    );

    const stop = new AbortController();
    followers.defer(() => stop.abort());
    const answered = new Map<string, number[]>(PERSONAS.map((persona) => [persona, []]));
    const loading = [sendByHttp(home, answered, stop.signal), sendByDatabase(home, answered, stop.signal)];
    await using last = await supervised({ start, isUp, folder: home.at('events') });
    await untilRotated(home.at('events'));
    stop.abort();
    await Promise.all(loading);

    for (const persona of PERSONAS) {
      const sent = storedIds(home, persona);
      assert.ok(sent.length > KILLS, `${persona} got ${sent.length}`);
      const stored = new Set(sent);
      assert.deepEqual(
        answered.get(persona)?.filter((id) => !stored.has(id)),
        [],
        'what was answered is stored',
      );
      const complete = (ids: readonly unknown[]): boolean => ids.at(-1) === sent.at(-1);
      await until(
        () => `the end of ${persona}'s file\n${last.stderr}`,
        () => complete(idsIn(readLogLines(home.at('events'), toFileName(persona)))),
      );
      await until(`the end of ${persona}'s tail`, () => complete(tails.get(persona)?.ids() ?? []));
      assertSame(tails.get(persona)?.ids() ?? [], sent, `tail -F of ${persona}`);
    }
    assert.equal((await last.stop()).code, 0);
    // Once nobody rotates any more: a rotation moves the archives on while one reads them by number, and hides one.
    for (const persona of PERSONAS) {
      assertSame(
        idsIn(readLogLines(home.at('events'), toFileName(persona))),
        storedIds(home, persona),
        `the file of ${persona}`,
      );
    }
  });

  test('the headless watch: every message is in its event file once, in order, and tail -F has seen them all', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: PERSONAS });
    let begun = 0;
    const start = (): Cli => {
      begun = Date.now();
      return startCli([
        ...['watch', '--hive', hive.url, '--poll-seconds', '1', '--max-replay', '1000000'],
        ...['--state-file', files.at('hive.json'), '--events-file-template', files.at('events.{persona}.ndjson')],
        ...['--max-bytes', String(FOLLOWED_BYTES), '--keep-logs', String(KEEP)],
      ]);
    };
    const lines = (persona: string): string[] => readLogLines(files.dir, toFileName(persona));
    {
      await using _first = start();
      for (const persona of PERSONAS) await until('armed', () => lines(persona).length > 0);
      await until('the state is saved', () => PERSONAS.every((persona) => files.json(`hive.${persona}.json`) !== null));
    }
    await using followers = new AsyncDisposableStack();
    const tails = new Map(PERSONAS.map((persona) => [persona, followers.use(follow(files.at(toFileName(persona))))]));

    const sent = new Map<string, number[]>(PERSONAS.map((persona) => [persona, []]));
    const stop = new AbortController();
    const loading = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const persona = PERSONAS[n % PERSONAS.length] ?? '';
        sent.get(persona)?.push(hive.deliver(persona, { content: formatContent(n) }));
        await sleep(8);
      }
    })();
    let poked: Cli | null = null;
    const poking = setInterval(() => poked?.kill('SIGUSR1'), 20); // polls far more often than once a second
    followers.defer(() => {
      clearInterval(poking);
      stop.abort();
    });
    const whileUp = (cli: Cli): void => {
      poked = cli;
    };
    // Once it has written: a life that ends before its first line, or at it, notes nothing, and they may not all be so.
    const isUp = (cli: Cli): boolean =>
      cli.stderr.includes('watching 4 of 4 personas') && written(files.at(toFileName('ada'))) > begun;
    await using last = await supervised({ start, isUp, whileUp, folder: files.dir });
    await untilRotated(files.dir);
    stop.abort();
    await loading;

    for (const persona of PERSONAS) {
      const all = sent.get(persona) ?? [];
      assert.ok(all.length > KILLS, `${persona} got ${all.length}`);
      const complete = (ids: readonly unknown[]): boolean => ids.at(-1) === all.at(-1);
      await until(
        () => `the end of ${persona}'s file\n${last.stderr}`,
        () => complete(idsIn(lines(persona))),
      );
      await until(`the end of ${persona}'s tail`, () => complete(tails.get(persona)?.ids() ?? []));
      assertSame(tails.get(persona)?.ids() ?? [], all, `tail -F of ${persona}`);
    }
    poked = null;
    assert.equal((await last.stop()).code, 0);
    for (const persona of PERSONAS) {
      assertSame(idsIn(lines(persona)), sent.get(persona) ?? [], `the file of ${persona}`);
    }
  });
});

const toFileName = (persona: string): string => `events.${persona}.ndjson`;

/** On a slow machine the kills are over before enough came. */
const untilRotated = (folder: string): Promise<void> =>
  until('two archives of each', () => PERSONAS.every((persona) => archives(folder, persona) > 1));

const archives = (folder: string, persona: string): number =>
  readdirSync(folder).filter((name) => name.startsWith(`${toFileName(persona)}.`)).length;

/** When something was last written, in milliseconds. */
const written = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Who says that it serves, and where. */
function readPlace(home: TrayHome): { readonly pid: number; readonly port: number } | null {
  const [, pid, port] = /"pid":(\d+),.*"port":(\d+)/.exec(home.ran('hivebar.json') ?? '') ?? [];
  return pid === undefined ? null : { pid: Number(pid), port: Number(port) };
}

/** Posts to whoever serves now; an answer that never came says nothing. */
async function sendByHttp(home: TrayHome, answered: ReadonlyMap<string, number[]>, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (let n = 0; !signal.aborted; n += 1) {
    const to = PERSONAS[n % PERSONAS.length] ?? '';
    try {
      const id = await post(agent, readPlace(home)?.port ?? 1, home.ran('token')?.trim() ?? '', to, formatContent(n));
      if (id !== null) answered.get(to)?.push(id);
    } catch {
      await sleep(10); // nobody serves, or it was killed before it answered
    }
    await sleep(2);
  }
  agent.destroy();
}

function post(agent: Agent, port: number, token: string, to: string, content: string): Promise<number | null> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, path: '/api/send', method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        // a token of the one before is refused
        resolve(answer.statusCode === 200 ? (JSON.parse(text) as { result: { id: number } }).result.id : null);
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ to, from: 'me', content }));
  });
}

/** What `hivebar send` does, also while nobody serves: straight into the database. */
async function sendByDatabase(
  home: TrayHome,
  answered: ReadonlyMap<string, number[]>,
  signal: AbortSignal,
): Promise<void> {
  using db = openDatabase(home.at('hivebar.sqlite'));
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: 0 });
  for (let n = 0; !signal.aborted; n += 1) {
    const to = PERSONAS[n % PERSONAS.length] ?? '';
    answered.get(to)?.push(hive.sendNow({ to, from: 'other', content: formatContent(n), urgent: false }).id);
    await sleep(15);
  }
}

function storedIds(home: TrayHome, persona: string): number[] {
  using db = openDatabase(home.at('hivebar.sqlite'));
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
  return hive
    .list(persona, Number.MAX_SAFE_INTEGER)
    .map(({ id }) => id)
    .reverse();
}
