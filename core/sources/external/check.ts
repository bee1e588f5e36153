import type { Clock } from '../../ports/index.ts';
import type { ChildPort, ProgramCommand, SourceChild } from './child.node.ts';
import { LINE_LIMITS, type LineReading, parseLine, type SourceLine, TOO_LONG } from './lines.ts';
import { createOneShotTransport } from './one-shot.ts';
import { createLineSplitter } from './split.ts';
import { waitFor } from './wait.ts';

/** What a rule says of a program. */
export interface Verdict {
  readonly rule: number;
  readonly about: string;
  /** `skipped`: it does not apply, or nothing could be seen; `seen` says why. */
  readonly is: 'kept' | 'broken' | 'skipped';
  readonly seen: string;
}

export interface CheckOptions {
  readonly command: ProgramCommand;
  /** It is run for each poll, and asked nothing. */
  readonly isOneShot: boolean;
  /** An empty folder, which stands for a home in which nothing can be reached. */
  readonly emptyHome: string;
  readonly children: ChildPort;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The rules in the order of docs/contract/source-external.md. */
const RULES = [
  'it is ready within 5 s',
  'it answers a poll, and ends the answer',
  'every line is valid',
  'no line, and no result, is over the limit',
  'two polls are equal: polling consumes nothing',
  'a poll without a cursor is full',
  'after SIGKILL it goes on from its cursor',
  'it survives an op that it does not know',
  'it writes nothing unasked but hints',
  'it answers while hints are stormy',
  'when it cannot reach what it reads, it does not say 0',
  'it ends within 2 s when its stdin ends',
] as const;

const READY_MS = 5000;
const POLL_MS = 10_000;
const FIRST_POLL_MS = 60_000;
const END_MS = 2000;
const IDLE_MS = 1000;
const STORM_POLLS = 10;
const MOST_PAGES = 40;
const CONTENT_CHARS = 220;

type DataLines = readonly Extract<SourceLine, { op: 'persona' | 'item' | 'fault' }>[];

/** A whole poll result: every page of it. */
interface Result {
  readonly lines: DataLines;
  readonly cursor: string | null;
  readonly full: boolean;
}

/** A rule is broken, and what follows cannot be seen. */
class Broken extends Error {}

/** Runs the rules for sources against a program. It runs the program several times, and kills it once. */
export async function checkProgram(options: CheckOptions): Promise<readonly Verdict[]> {
  const found = new Map<number, Pick<Verdict, 'is' | 'seen'>>();
  const note = (rule: number, is: Verdict['is'], seen: string): void => {
    if (found.get(rule)?.is !== 'broken') found.set(rule, { is, seen });
  };
  try {
    await (options.isOneShot ? checkOneShot(options, note) : checkStaying(options, note));
  } catch (error) {
    if (!(error instanceof Broken)) throw error; // the rule is noted already
  }
  return RULES.map((about, index) => {
    const rule = index + 1;
    return { rule, about, ...(found.get(rule) ?? { is: 'skipped', seen: 'a rule before it is broken' }) };
  });
}

type Note = (rule: number, is: Verdict['is'], seen: string) => void;

async function checkStaying(options: CheckOptions, note: Note): Promise<void> {
  const first = await openSession(options, options.command, null, note);
  await using _first = first;
  const result = await first.readAll(null, FIRST_POLL_MS);
  note(2, 'kept', describe(result));
  note(3, 'kept', `${result.lines.length} lines`);
  note(4, 'kept', `${result.lines.length} lines, of at most ${LINE_LIMITS.resultLines} for each poll`);
  compare(5, result, await first.readAll(null, POLL_MS), note);
  if (result.full) note(6, 'kept', 'it says so');
  else note(6, 'broken', 'it says full: false although the cursor was null');

  first.send({ op: 'check-of-an-unknown-op', id: 0 });
  await first.readAll(null, POLL_MS).then(
    () => note(8, 'kept', 'it answered the poll that followed'),
    (error: unknown) => fail(note, 8, error),
  );
  const before = first.hints;
  const unasked = await first.listen(IDLE_MS);
  if (unasked === null) note(9, 'kept', `${first.hints - before} hints in ${IDLE_MS / 1000} s, and nothing else`);
  else fail(note, 9, new Broken(`it wrote ${unasked}`));
  for (let n = 0; n < STORM_POLLS; n += 1)
    await first.readAll(null, POLL_MS).catch((error: unknown) => fail(note, 10, error));
  note(10, 'kept', `${STORM_POLLS} polls in a row were answered, with ${first.hints} hints between them`);

  first.kill();
  const second = await openSession(options, options.command, result.cursor, note);
  await using _second = second;
  await second.readAll(result.cursor, FIRST_POLL_MS).catch((error: unknown) => fail(note, 7, error));
  compare(7, result, await second.readAll(null, POLL_MS), note);
  note(12, ...(await second.hangUp()));
  await checkWithoutHome(options, result, note, async (command) => {
    const third = await openSession(options, command, null, () => {});
    await using _third = third;
    return await third.readAll(null, FIRST_POLL_MS);
  });
}

async function checkOneShot(options: CheckOptions, note: Note): Promise<void> {
  const { children, clock, signal } = options;
  const notes: string[] = [];
  const listener = {
    hint() {},
    trouble() {},
    stderr() {},
    diagnose: (text: string) => void notes.push(text),
  };
  const poll = async (command: ProgramCommand, cursor: string | null): Promise<Result> => {
    const program = { name: 'check', command, contentChars: CONTENT_CHARS, children, clock, listener };
    await using transport = createOneShotTransport(program);
    const outcome = await transport.poll(cursor, FIRST_POLL_MS, signal);
    if (outcome.is === 'kept') throw new Broken('it ended with exit code 3: it does not know');
    return outcome;
  };
  for (const rule of [1, 8, 9, 10, 12]) note(rule, 'skipped', 'it runs once for each poll');
  const result = await poll(options.command, null).catch((error: unknown) => fail(note, 2, error));
  note(2, 'kept', describe(result));
  if (notes[0] === undefined) note(3, 'kept', `${result.lines.length} lines`);
  else note(3, 'broken', notes[0]);
  note(4, 'kept', `${result.lines.length} lines, of at most ${LINE_LIMITS.resultLines} for each poll`);
  compare(5, result, await poll(options.command, null), note);
  if (result.full) note(6, 'kept', 'it says so');
  else note(6, 'broken', 'it says full: false although it was given no cursor');
  await poll(options.command, result.cursor).then(
    () => note(7, 'kept', result.cursor === null ? 'it has no cursor' : 'it answered with its cursor'),
    (error: unknown) => fail(note, 7, error),
  );
  await checkWithoutHome(options, result, note, (command) => poll(command, null));
}

/** A home that is empty is what a source sees whose disk, login or network is away. */
async function checkWithoutHome(
  { command, emptyHome }: CheckOptions,
  result: Result,
  note: Note,
  poll: (command: ProgramCommand) => Promise<Result>,
): Promise<void> {
  const before = countUnread(result.lines);
  if (![...before.values()].some((count) => count !== null && count > 0)) {
    note(11, 'skipped', 'nothing is unread now, so nothing can be seen');
    return;
  }
  const passed = Object.entries(command.env).filter(([name]) => !name.startsWith('XDG_'));
  const env = { ...Object.fromEntries(passed), HOME: emptyHome };
  let after: Result;
  try {
    after = await poll({ ...command, env });
  } catch (error) {
    note(11, 'kept', `with an empty HOME it says: ${toText(error)}`);
    return;
  }
  const now = countUnread(after.lines);
  const lost = [...before].find(([persona, count]) => count !== null && count > 0 && isZero(now.get(persona), after));
  const isFailed = after.lines.some(({ op }) => op === 'fault');
  if (lost === undefined || isFailed) note(11, 'kept', 'with an empty HOME no number became 0');
  else
    note(
      11,
      'broken',
      `with an empty HOME it answers, and ${lost[0]} has 0 unread instead of ${lost[1]}: it should say fault`,
    );
}

const isZero = (count: number | null | undefined, { full }: Result): boolean =>
  count === 0 || (count === undefined && full);

function countUnread(lines: DataLines): ReadonlyMap<string, number | null> {
  const counts = new Map<string, number | null>();
  for (const line of lines) {
    if (line.op !== 'item') continue;
    counts.set(line.persona, (counts.get(line.persona) ?? 0) + (line.state === 'unread' ? 1 : 0));
  }
  for (const line of lines)
    if (line.op === 'persona' && line.unread !== undefined) counts.set(line.persona, line.unread);
  return counts;
}

function describe({ lines }: Result): string {
  const personas = new Set(lines.map(({ persona }) => persona));
  return `${personas.size} personas, ${lines.filter(({ op }) => op === 'item').length} items`;
}

function compare(rule: number, first: Result, second: Result, note: Note): void {
  const [linesBefore, linesAfter] = [first, second].map(({ lines }) =>
    lines.map((line) => JSON.stringify(line)).sort(),
  );
  const differing =
    linesAfter?.find((line) => linesBefore?.includes(line) !== true) ??
    linesBefore?.find((line) => linesAfter?.includes(line) !== true);
  if (differing === undefined) note(rule, 'kept', 'both polls found the same');
  else note(rule, 'broken', `the polls differ in ${differing.slice(0, 200)}`);
}

/** @throws Broken */
function fail(note: Note, rule: number, error: unknown): never {
  note(rule, 'broken', toText(error));
  throw new Broken(toText(error));
}

const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A running program, addressed line by line. */
interface CheckedSession extends AsyncDisposable {
  send(line: object): void;
  /** Looks until there is no more. @throws Broken */
  readAll(cursor: string | null, withinMs: number): Promise<Result>;
  /** Returns the first line that is no hint in this time; null for none. */
  listen(ms: number): Promise<string | null>;
  readonly hints: number;
  kill(): void;
  /** Closes its stdin, and says whether it ended. */
  hangUp(): Promise<readonly [Verdict['is'], string]>;
}

/** @throws Broken when it is not ready */
async function openSession(
  options: Pick<CheckOptions, 'children' | 'clock' | 'signal'>,
  command: ProgramCommand,
  cursor: string | null,
  note: Note,
): Promise<CheckedSession> {
  const { children, clock, signal } = options;
  const splitter = createLineSplitter();
  const waiting: LineReading[] = [];
  let bell = Promise.withResolvers<void>();
  let hints = 0;
  let pollId = 0;
  let end: string | null = null;
  const ring = (): void => {
    bell.resolve();
    bell = Promise.withResolvers();
  };
  const defect = children.findDefect(command.argv, command.cwd);
  if (defect !== null) fail(note, 1, new Broken(defect));
  const child: SourceChild = await children
    .start(command, {
      output(bytes) {
        const lines = splitter.push(bytes);
        if (lines === null) {
          note(4, 'broken', TOO_LONG);
          end ??= TOO_LONG;
        }
        for (const line of lines ?? []) hear(parseLine(line, CONTENT_CHARS));
        ring();
      },
      stderr() {},
    })
    .catch((error: unknown) => fail(note, 1, error));
  void child.ended.then(({ code, signal: by }) => {
    end ??= code === null ? `it was ended by ${by}` : `it ended with exit code ${code}`;
    ring();
  });

  function hear(reading: LineReading): void {
    if (reading.is === 'line' && reading.line.op === 'changed') hints += 1;
    else if (reading.is === 'broken' || reading.is === 'refused') note(3, 'broken', reading.why);
    else {
      if (reading.is === 'line' && reading.defects[0] !== undefined) note(3, 'broken', reading.defects[0]);
      waiting.push(reading);
    }
  }

  /** @throws Broken when it does not come in time */
  async function next(deadline: number, expected: string): Promise<SourceLine | null> {
    for (;;) {
      const reading = waiting.shift();
      if (reading !== undefined) return reading.is === 'line' ? reading.line : null;
      if (end !== null) throw new Broken(`${end} instead of ${expected}`);
      const ms = deadline - clock.monotonic();
      if (ms <= 0 || !(await waitFor(bell.promise, ms, clock, signal))) throw new Broken(`no ${expected} in time`);
    }
  }

  async function readPage(from: string | null, withinMs: number): Promise<Result & { readonly more: boolean }> {
    pollId += 1;
    const id = pollId;
    const lines: DataLines[number][] = [];
    child.send(JSON.stringify({ op: 'look', id, cursor: from }));
    const deadline = clock.monotonic() + withinMs;
    for (;;) {
      const line = await next(deadline, `done for the poll ${id}`);
      if (line?.op === 'fault' && line.persona === null)
        throw new Broken(`it says fault ${line.code}: ${line.message}`);
      if (line?.op === 'persona' || line?.op === 'item' || line?.op === 'fault') lines.push(line);
      if (lines.length > LINE_LIMITS.resultLines)
        fail(note, 4, new Broken(`more than ${LINE_LIMITS.resultLines} lines`));
      if (line?.op === 'done' && (line.id === null || line.id === id)) return { ...line, lines };
    }
  }

  const session: CheckedSession = {
    send: (line) => child.send(JSON.stringify(line)),
    async readAll(from, withinMs) {
      const lines: DataLines[number][] = [];
      let at = from;
      let isFull: boolean | null = null;
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const { lines: own, cursor: after, full, more } = await readPage(at, withinMs);
        lines.push(...own);
        isFull ??= full;
        at = after;
        if (!more) return { lines, cursor: after, full: isFull };
      }
      throw new Broken(`there is still more after ${MOST_PAGES} polls`);
    },
    async listen(ms) {
      await clock.sleep(ms, signal);
      const reading = waiting.find((each) => each.is === 'line');
      return reading?.is === 'line' ? `a line with the op ${reading.line.op}` : end;
    },
    get hints() {
      return hints;
    },
    kill() {
      end ??= 'it was killed';
      child.kill('SIGKILL');
    },
    async hangUp() {
      const began = clock.monotonic();
      child.hangUp();
      const hasEnded = await waitFor(child.ended, END_MS, clock, signal);
      const ms = Math.round(clock.monotonic() - began);
      return hasEnded ? ['kept', `it ended after ${ms} ms`] : ['broken', `it still ran after ${ms} ms`];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      child.deafen();
    },
  };
  try {
    child.send(
      JSON.stringify({ op: 'hello', protocol: 1, name: 'check', contentChars: CONTENT_CHARS, cursor, acts: false }),
    );
    const ready = await next(clock.monotonic() + READY_MS, 'ready');
    if (ready?.op !== 'ready') throw new Broken(`its first line is ${ready?.op ?? 'unknown'} instead of ready`);
    note(1, 'kept', `${ready.label}, source ${ready.source}`);
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    return fail(note, 1, error);
  }
}
