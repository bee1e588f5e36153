import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly, Fault, UNKNOWN } from '../model/index.ts';
import { type Clock, realFiles, silentLog } from '../ports/index.ts';
import type { History, HistoryFact, PersonaHistory } from './history.ts';
import { openHistory } from './open-history.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-history-model-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

/** Everything happens on whole units of time. A slot of the overview of one hour is four of them. */
const UNIT = 10_000;
const SLOT = 4;
const HOUR = 360;
/** The longest jump that is still lived through is 150 s. */
const AWAY = 15;
const START = 43_750_000 * SLOT;
const PERSONAS = ['ada', 'bo'] as const;

type State = 'up' | 'failing' | 'down' | 'unknown';
interface Cell {
  readonly unread: number | null;
  readonly state: State;
}
const UNKNOWN_CELL: Cell = { unread: null, state: 'unknown' };

/**
 * The model, as dumb as can be: one cell a persona and unit of time, written while it is lived through, wiped where time
 * was jumped over. No points, no slots, no database, no borders.
 */
class Model {
  readonly cells = new Map<string, Map<number, Cell>>(PERSONAS.map((persona) => [persona, new Map()]));
  /** What the facts of this process say; null: not joined. */
  lastCells = new Map<string, Cell | null>(PERSONAS.map((persona) => [persona, null]));
  heard = new Set<string>();
  now = START;

  stamp(): void {
    for (const persona of PERSONAS) {
      const cell = this.heard.has(persona) ? this.lastCells.get(persona) : null;
      this.cells.get(persona)?.set(this.now, cell ?? UNKNOWN_CELL);
    }
  }

  live(units: number): void {
    for (let i = 0; i < units; i += 1) {
      this.now += 1;
      this.stamp();
    }
  }

  /** Time that is not lived through; backwards too. */
  jump(units: number): void {
    for (let at = this.now + 1; at < this.now + units; at += 1)
      for (const cells of this.cells.values()) cells.delete(at);
    this.now += units;
  }

  at(persona: string, unit: number): Cell {
    return this.cells.get(persona)?.get(unit) ?? UNKNOWN_CELL;
  }
}

type Command =
  | { readonly is: 'live' | 'sleep' | 'jump' | 'back'; readonly units: number }
  | { readonly is: 'restart' | 'crash'; readonly units: number }
  | { readonly is: 'join' | 'leave'; readonly persona: string }
  | { readonly is: 'look' | 'count'; readonly persona: string; readonly unread: number | null }
  | { readonly is: 'fail' | 'down'; readonly persona: string };

const persona = fc.constantFrom(...PERSONAS);
const units = (most: number) => fc.integer({ min: 1, max: most });
const commands = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ is: fc.constant('live' as const), units: units(40) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        is: fc.constantFrom('look' as const, 'count' as const),
        persona,
        unread: fc.option(fc.nat(3)),
      }),
    },
    { weight: 4, arbitrary: fc.record({ is: fc.constantFrom('fail' as const, 'down' as const), persona }) },
    {
      weight: 3,
      arbitrary: fc.record({ is: fc.constantFrom('join' as const, 'join' as const, 'leave' as const), persona }),
    },
    { weight: 1, arbitrary: fc.record({ is: fc.constant('jump' as const), units: units(AWAY) }) },
    {
      weight: 1,
      arbitrary: fc.record({ is: fc.constant('sleep' as const), units: fc.integer({ min: AWAY + 1, max: 200 }) }),
    },
    { weight: 1, arbitrary: fc.record({ is: fc.constant('back' as const), units: units(200) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        is: fc.constantFrom('restart' as const, 'crash' as const),
        units: fc.oneof(units(60), fc.integer({ min: -60, max: -1 })),
      }),
    },
  ),
  { minLength: 5, maxLength: 60 },
);

class Real {
  history!: History;
  #fake!: ReturnType<typeof fakeClock>;
  #stepped = 0;
  #stops = 0;
  readonly #path: string;
  readonly #abandoned: History[] = [];
  readonly #end = new AbortController();

  constructor(path: string, now: number) {
    this.#path = path;
    this.start(now);
  }

  start(now: number): void {
    const fake = fakeClock(now * UNIT);
    this.#fake = fake;
    this.#stepped = 0;
    const clock: Clock = { ...fake, now: () => fake.now() + this.#stepped };
    this.history = openHistory({ path: this.#path, files: realFiles, clock, log: silentLog, keepDays: 30 });
    void this.history.service.run(this.#end.signal);
  }

  hear(name: string, now: number, fields: Record<string, unknown>): void {
    this.history.hear({ at: now * UNIT, persona: name, ...fields } as HistoryFact);
  }

  live(units: number): Promise<void> {
    return this.#fake.advance(units * UNIT);
  }

  step(units: number): void {
    this.history.alerts(1); // looks at the clock, and writes
    this.#stepped += units * UNIT;
    this.history.alerts(1);
  }

  stop(how: 'restart' | 'crash', now: number): void {
    // something that is to be written, so that what is known before a crash is known to the moment
    this.#stops += 1;
    const fault = new Fault('refused', 'refused', { is: 'source', key: `stop ${this.#stops}` });
    this.history.hear({ is: 'source', at: now * UNIT, source: 'other', fault });
    this.history.alerts(1);
    if (how === 'restart') this.history[Symbol.dispose]();
    else this.#abandoned.push(this.history);
  }

  end(): void {
    this.#end.abort();
    for (const history of [this.history, ...this.#abandoned]) history[Symbol.dispose]();
  }
}

const LEVELS = (unread: number | null) => ({
  unread: unread === null ? UNKNOWN : exactly(unread),
  urgent: exactly(0),
});
const FAULT = new Fault('refused', 'refused', { is: 'source', key: 'hive' });

async function obey(command: Command, model: Model, real: Real): Promise<void> {
  const set = (name: string, cell: Cell | null): void => {
    model.lastCells.set(name, cell);
    model.heard.add(name);
    model.stamp();
  };
  switch (command.is) {
    case 'live':
      await real.live(command.units);
      return model.live(command.units);
    case 'jump':
      real.step(command.units);
      return model.live(command.units);
    case 'sleep':
      real.step(command.units);
      model.jump(command.units);
      model.heard.clear();
      return model.stamp();
    case 'back':
      real.step(-command.units);
      model.jump(-command.units);
      return model.stamp();
    case 'restart':
    case 'crash':
      real.stop(command.is, model.now);
      model.jump(command.units);
      model.heard.clear();
      for (const name of PERSONAS) model.lastCells.set(name, null);
      model.stamp();
      return real.start(model.now);
    case 'join':
      real.hear(command.persona, model.now, { is: 'joined' });
      if (model.lastCells.get(command.persona) === null) model.lastCells.set(command.persona, UNKNOWN_CELL);
      return;
    case 'leave':
      real.hear(command.persona, model.now, { is: 'left' });
      model.lastCells.set(command.persona, null);
      model.heard.delete(command.persona);
      return model.stamp();
    default:
      break;
  }
  const before = model.lastCells.get(command.persona) ?? null;
  switch (command.is) {
    case 'look': {
      real.hear(command.persona, model.now, {
        is: 'polled',
        health: { is: 'up', since: 0 },
        ...LEVELS(command.unread),
      });
      if (before !== null) set(command.persona, { unread: command.unread, state: 'up' });
      return;
    }
    case 'count':
      real.hear(command.persona, model.now, {
        is: 'counted',
        counts: [{ persona: command.persona, ...LEVELS(command.unread) }],
      });
      if (before !== null) set(command.persona, { ...before, unread: command.unread });
      return;
    case 'fail':
      real.hear(command.persona, model.now, {
        is: 'failed',
        health: { is: 'failing', failures: 1, why: 'refused' },
        fault: FAULT,
      });
      if (before !== null) set(command.persona, { ...before, state: 'failing' });
      return;
    case 'down':
      real.hear(command.persona, model.now, {
        is: 'failed',
        health: { is: 'down', since: 0, failures: 3, why: 'refused' },
        fault: FAULT,
      });
      if (before !== null)
        set(command.persona, { unread: before.state === 'down' ? before.unread : null, state: 'down' });
      return;
  }
}

const ORDER: readonly State[] = ['unknown', 'up', 'failing', 'down'];

function compare(model: Model, { history }: Real): void {
  const { now } = model;
  const overview = history.overview(1);
  const firstSlot = Math.floor(now / SLOT) - 89;
  assert.equal(overview.from, firstSlot * SLOT * UNIT);
  for (const name of PERSONAS) {
    const unread: (number | null)[] = [];
    const states: State[] = [];
    for (let slot = firstSlot; slot < firstSlot + 90; slot += 1) {
      const cells = Array.from({ length: SLOT }, (_, i) => slot * SLOT + i)
        .filter((unit) => unit <= now)
        .map((unit) => model.at(name, unit));
      unread.push(cells.findLast((cell) => cell.unread !== null)?.unread ?? null);
      states.push(cells.map(({ state }) => state).reduce((a, b) => (ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b)));
    }
    const shown = overview.personas.get(name);
    assert.deepEqual(shown?.unread ?? unread.map(() => null), unread, name);
    assert.deepEqual(shown?.states ?? states.map(() => 'unknown'), states, name);

    const personaHistory = history.findPersona(name, 1);
    if (personaHistory === null) {
      assert.ok(unread.every((n) => n === null) && states.every((state) => state === 'unknown'));
      continue;
    }
    for (let unit = now - HOUR; unit <= now; unit += 1) {
      const cell = model.at(name, unit);
      const at = unit * UNIT;
      assert.equal(
        personaHistory.points.findLast(([from]) => from <= at)?.[1],
        cell.unread,
        `${name} at ${unit - now}`,
      );
      const span: PersonaHistory['states'][number] | undefined =
        unit === now
          ? personaHistory.states.at(-1)
          : personaHistory.states.find(({ from, to }) => from <= at && at < to);
      assert.equal(span?.state, cell.state, `${name} at ${unit - now}`);
    }
    assert.equal(personaHistory.states[0]?.from, personaHistory.from);
    assert.equal(personaHistory.states.at(-1)?.to, personaHistory.to);
    personaHistory.states.slice(1).forEach((span, i) => {
      assert.equal(span.from, personaHistory.states[i]?.to);
      assert.notEqual(span.state, personaHistory.states[i]?.state);
    });
  }
}

/** A point that a clock set back has left in the future, and nothing to write when that time comes. */
const LIVED_AGAIN: Command[] = [
  { is: 'join', persona: 'ada' },
  { is: 'fail', persona: 'ada' },
  { is: 'restart', units: -1 },
  { is: 'live', units: 1 },
  { is: 'live', units: 1 },
];

let made = 0;
test('whatever happens, overview and spans say what a dumb model remembers', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (all) => {
      made += 1;
      const directory = join(home, `run-${made}`);
      fs.mkdirSync(directory, { mode: 0o700 });
      const model = new Model();
      const real = new Real(join(directory, 'history.sqlite'), model.now);
      model.stamp();
      try {
        for (const [i, command] of all.entries()) {
          await obey(command, model, real);
          if (i % 5 === 0) compare(model, real); // so that remembered slots are extended, and not always read whole
        }
        compare(model, real);
      } finally {
        real.end();
        fs.rmSync(directory, { recursive: true, force: true });
      }
    }),
    { numRuns: Number(process.env.HIVEBAR_RUNS ?? 60), examples: [[LIVED_AGAIN]] },
  );
});
