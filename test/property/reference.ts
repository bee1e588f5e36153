/*
 * What a watch must do, written from the Kijito spec (6.1, 7.0, 7.1, 11) as plainly as possible and for no other use: lists
 * and sets, everything recomputed each time, each event with what becomes true once it is settled. It knows nothing of
 * core/watcher; tests run the two against each other.
 */

export interface Mail {
  readonly id: number;
  readonly from: string;
}

export interface ReferenceRules {
  readonly me: string;
  readonly suppressed: string;
  readonly pollSeconds: number;
  readonly alertAfter: number;
  readonly maxReplay: number;
  readonly heartbeatMs: number | null;
  readonly delivery: 'at-most-once' | 'at-least-once';
}

export interface ReferenceState {
  readonly cursor: number | null;
  readonly state: 'UP' | 'DOWN';
  readonly consecutive_failures: number;
  readonly persona_added?: true;
  readonly baseline_skipped?: SkippedRange;
  readonly seeded_ahead?: true;
  readonly log?: { readonly read_to: number; readonly untold?: readonly [number, number] };
}

interface SkippedRange {
  readonly armed_at: number;
  readonly skipped: number;
  readonly id_range: readonly [number, number];
  readonly unread_held: number | 'unknown';
  readonly reason: string;
}

interface Notice {
  readonly words: (cursor: number) => string;
  readonly from: number | null;
  readonly onEnd: () => void;
  /** What of it is on the disk until it is said. */
  readonly saved: Partial<ReferenceState>;
}

export type Begin = { readonly is: 'resume' | 'born' } | { readonly is: 'seed'; readonly id: number };

interface Output {
  readonly words: string;
  /** What becomes true once the event is settled: taken, or at most once also refused. */
  readonly onEnd: () => void;
}

/** How the sink answers: it takes so many events, and the process may be killed before it hears of it. */
export interface Sinking {
  readonly takes: number;
  readonly dies: boolean;
}

export class Reference {
  readonly rules: ReferenceRules;
  /** The server's. */
  readonly rows: Mail[] = [];
  /** The sink's: every id of mail it was ever given, as often as it was given. */
  readonly delivered: number[] = [];
  /** The disk's. */
  disk: ReferenceState | null = null;
  /** Mail that nobody has to be told of: there at a baseline, announced as capped, below a seed, refused at most once. */
  readonly excused = new Set<number>();
  /** Mail that may be told twice: the operator asked for it with a seed. */
  readonly repeatable = new Set<number>();

  /** The operator began above everything that is there. */
  ahead = false;
  /** How often ids began again, as far as the watch noticed. */
  private log = 0;
  private readTo = 0;
  private now = 0;
  /** Nothing at or below it is looked for; null before a baseline. */
  private floor: number | null = null;
  /** Above the floor and done with: told, dropped, or with the sink since before the start. */
  private done = new Set<number>();
  /** The rows as the last healthy poll saw them. */
  private seen: readonly Mail[] = [];
  private begin: Begin = { is: 'resume' };
  private decided = false;
  private unsaid: Notice[] = [];
  private agentThinks: 'UP' | 'DOWN' = 'UP';
  private failures = 0;
  private beatAt = 0;

  constructor(rules: ReferenceRules) {
    this.rules = rules;
  }

  /** A new process, which knows only the disk and the sink. */
  start(begin: Begin): void {
    this.begin = begin;
    this.decided = false;
    this.seen = [];
    this.agentThinks = this.disk?.state ?? 'UP';
    this.failures = this.disk?.consecutive_failures ?? 0;
    this.beatAt = this.now;
    this.floor = begin.is === 'seed' ? begin.id : begin.is === 'born' ? 0 : (this.disk?.cursor ?? null);
    this.done = new Set(begin.is === 'seed' ? [] : this.delivered.map((key) => this.toId(key)).filter((id) => id > 0));
    const { delivery } = this.rules;
    this.ahead = delivery === 'at-least-once' && (begin.is === 'seed' || this.disk?.seeded_ahead === true);
    this.readTo = begin.is === 'seed' ? 0 : (this.disk?.log?.read_to ?? 0);
    this.unsaid = [];
    const saved = begin.is === 'resume' ? this.disk : null;
    if (begin.is === 'born' || saved?.persona_added === true)
      this.say(() => 'persona_added', { saved: { persona_added: true } });
    if (saved?.baseline_skipped !== undefined) this.saySkipped(saved.baseline_skipped);
    if (saved?.log?.untold !== undefined) this.sayRestarted(...saved.log.untold);
    if (begin.is === 'seed') {
      for (const key of this.delivered) if (this.toId(key) > begin.id) this.repeatable.add(key);
      for (let id = 1; id <= begin.id; id++) this.excused.add(this.toKey(id));
    }
  }

  /** Of a message, in whichever log: the same id in another one is another message. */
  toKey(id: number): number {
    return this.log * 1_000_000 + id;
  }

  /** Of a message of this log; 0 for one of another. */
  private toId(key: number): number {
    return Math.floor(key / 1_000_000) === this.log ? key % 1_000_000 : 0;
  }

  keyIn(log: number, id: number): number {
    return log * 1_000_000 + id;
  }

  /** Whether a single message with the id 1 would show that it is another log. */
  canBeginAgain(): boolean {
    const isKnown = this.decided || this.begin.is !== 'born';
    return this.rules.delivery === 'at-least-once' && !this.ahead && isKnown && (this.cursor() ?? 0) >= 2;
  }

  pass(ms: number): void {
    this.now += ms;
  }

  cursor(): number | null {
    const { floor } = this;
    if (floor === null) return null;
    const open = this.seen.filter(({ id }) => id > floor && !this.done.has(id));
    return open[0] === undefined ? Math.max(floor, ...this.seen.map(({ id }) => id)) : open[0].id - 1;
  }

  toSaved(): ReferenceState {
    const capped = this.unsaid.find(({ from }) => from !== null);
    return {
      cursor: capped?.from ?? this.cursor(),
      state: this.agentThinks,
      consecutive_failures: this.failures,
      ...(this.ahead ? { seeded_ahead: true } : {}),
      ...(this.log > 0 ? { log: { read_to: this.readTo } } : {}),
      ...Object.assign({}, ...this.unsaid.map(({ saved }) => saved)),
    };
  }

  private say(words: Notice['words'], more: Partial<Notice> = {}): void {
    this.unsaid.push({ words, from: null, onEnd: () => {}, saved: {}, ...more });
  }

  private saySkipped(skipped: SkippedRange): void {
    const { id_range: range, unread_held: unread } = skipped;
    this.say(() => `baseline_skipped ${range[0]}-${range[1]} ${unread}`, { saved: { baseline_skipped: skipped } });
  }

  private sayRestarted(cursor: number, max: number): void {
    this.say(() => `log-restarted ${cursor} ${max}`, {
      saved: { log: { read_to: this.readTo, untold: [cursor, max] } },
    });
  }

  /** Everything that is there has an id below the cursor, so it is another log. */
  private isAnotherLog(): boolean {
    if (this.rules.delivery === 'at-most-once' || this.ahead) return false;
    const isKnown = this.decided || this.begin.is !== 'born';
    return isKnown && this.rows.length > 0 && Math.max(...this.rows.map(({ id }) => id)) < (this.cursor() ?? 0);
  }

  poll(sinking: Sinking): string[] {
    const first = !this.decided;
    const isAnother = this.isAnotherLog();
    if (isAnother) {
      const cursor = this.cursor() ?? 0;
      this.log += 1;
      this.floor = 0;
      this.done = new Set();
      this.seen = [];
      this.readTo = Math.max(...this.rows.map(({ id }) => id));
      // A position of the log before means nothing in this one.
      this.unsaid = this.unsaid
        .filter(({ saved }) => saved.log === undefined)
        .map((notice) => (notice.from === null ? notice : { ...notice, from: 0 }));
      this.sayRestarted(cursor, this.readTo);
      if (first) this.say((at) => `armed ${at}`);
      this.decided = true;
      this.failures = 0;
      this.disk = this.toSaved();
    } else if (first) this.decide();
    if (this.ahead && Math.max(0, ...this.rows.map(({ id }) => id)) >= (this.floor ?? 0)) this.ahead = false;
    this.failures = 0;
    // A cursor that did not come from the disk is on it before anybody hears of it.
    if (
      first &&
      !isAnother &&
      this.begin.is !== 'seed' &&
      (this.begin.is === 'born' || (this.disk?.cursor ?? null) === null)
    ) {
      this.disk = this.toSaved();
    }
    const { floor } = this;
    if (floor === null) throw new Error('decided without a floor');
    const cursor = this.cursor() ?? 0;
    const says: Output[] = [];
    if (this.agentThinks === 'DOWN') {
      says.push({
        words: `recovered ${cursor}`,
        onEnd: () => {
          this.agentThinks = 'UP';
        },
      });
    }
    for (const notice of this.unsaid) {
      says.push({
        words: notice.words(cursor),
        onEnd: () => {
          this.unsaid = this.unsaid.filter((other) => other !== notice);
          notice.onEnd();
        },
      });
    }
    // A look from the cursor of the log of before tells nothing of this one.
    const rows = isAnother ? [] : this.rows;
    for (const { id, from } of rows) {
      if (id <= floor || this.done.has(id)) continue;
      if (from.toLowerCase() === this.rules.suppressed) this.done.add(id);
      else
        says.push({
          words: `new ${id}${from === this.rules.me ? ' self' : ''}`,
          onEnd: () => void this.done.add(id),
        });
    }
    const end = Math.max(cursor, ...rows.map(({ id }) => id));
    return this.sink([...says, ...this.heartbeat(end)], sinking, () => {
      this.seen = [...rows];
      this.disk = this.toSaved();
    });
  }

  fail(sinking: Sinking): string[] {
    this.failures += 1;
    const { failures } = this;
    const crossed = this.agentThinks === 'UP' && failures >= this.rules.alertAfter;
    const words = `alert ${failures} ${failures * this.rules.pollSeconds}`;
    const alert: Output[] = crossed
      ? [
          {
            words,
            onEnd: () => {
              this.agentThinks = 'DOWN';
            },
          },
        ]
      : [];
    return this.sink([...alert, ...this.heartbeat(this.cursor())], sinking, () => {
      this.disk = this.toSaved();
    });
  }

  beat(sinking: Sinking): string[] {
    return this.sink(this.heartbeat(this.cursor()), sinking, () => {});
  }

  /** Mail that should be with the sink by now and is not. */
  missing(): number[] {
    const should = this.rows.filter(
      ({ id, from }) => from.toLowerCase() !== this.rules.suppressed && !this.excused.has(this.toKey(id)),
    );
    return should.map(({ id }) => id).filter((id) => !this.delivered.includes(this.toKey(id)));
  }

  private decide(): void {
    this.decided = true;
    const max = Math.max(0, ...this.rows.map(({ id }) => id));
    const excuse = (rows: readonly Mail[]): void => {
      for (const { id } of rows) this.excused.add(this.toKey(id));
    };
    const floor = this.floor;
    if (floor === null) {
      excuse(this.rows);
      this.floor = max;
      const oldest = this.rows[0]?.id;
      const unread = this.rows.length;
      if (this.rules.delivery === 'at-least-once' && oldest !== undefined)
        this.saySkipped({
          armed_at: max,
          skipped: unread,
          id_range: [oldest, max],
          unread_held: unread,
          reason: 'there was no saved position',
        });
    } else if (this.begin.is !== 'born') {
      const waiting = this.rows.filter(({ id }) => id > floor && !this.done.has(id));
      if (floor > max) {
        this.say(() => `seed_ahead ${floor} ${max}`);
        for (let id = max + 1; id <= floor; id++) this.excused.add(this.toKey(id));
      } else if (waiting.length > this.rules.maxReplay) {
        const keys = waiting.map(({ id }) => this.toKey(id)); // of this log, whatever log it is when it is said
        const onEnd = (): void => {
          for (const key of keys) this.excused.add(key);
        };
        this.say(() => `replay_capped ${max} ${waiting.length}`, { from: floor, onEnd });
        this.floor = max;
      }
    }
    this.say((cursor) => `armed ${cursor}`);
  }

  private heartbeat(cursor: number | null): Output[] {
    const { heartbeatMs } = this.rules;
    if (heartbeatMs === null || this.now - this.beatAt < heartbeatMs) return [];
    return [
      {
        words: `heartbeat ${cursor}`,
        onEnd: () => {
          this.beatAt = this.now;
        },
      },
    ];
  }

  private sink(says: readonly Output[], { takes, dies }: Sinking, heard: () => void): string[] {
    const took = says.slice(0, takes);
    for (const { words } of took) {
      const id = /^new (\d+)/.exec(words)?.[1];
      if (id !== undefined) this.delivered.push(this.toKey(Number(id)));
      if (words.startsWith('replay_capped')) this.unsaid.find(({ from }) => from !== null)?.onEnd();
    }
    if (dies && says.length > 0) return says.map(({ words }) => words);
    const atMostOnce = this.rules.delivery === 'at-most-once';
    for (const { words, onEnd } of atMostOnce ? says : took) {
      onEnd();
      const id = /^new (\d+)/.exec(words)?.[1];
      if (id !== undefined && !this.delivered.includes(this.toKey(Number(id))))
        this.excused.add(this.toKey(Number(id)));
    }
    heard();
    return says.map(({ words }) => words);
  }
}
