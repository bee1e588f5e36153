/*
 * What a watch must tell of a set, written as plainly as possible and for no other use: lists that are gone through again and
 * again, each event with what becomes true once it is taken. It knows nothing of core/watcher; a test runs the two side by side.
 */

export interface Thing {
  readonly key: string;
  readonly mark: string;
  /** The event of its appearance. */
  readonly as: string;
  readonly quiet: boolean;
  readonly changed: string | null;
  readonly vanished: string | null;
  readonly from: string | null;
  /** What comes back with another mark is new. */
  readonly isOccasion: boolean;
}

export interface SetRules {
  readonly alertAfter: number;
  readonly maxReplay: number;
  readonly me: string;
  readonly suppressed: string;
  /** Messages in one offer. */
  readonly atOnce: number;
}

/** A thing that was told, or passed over for a reason. `id` null: never a word of it. */
interface RememberedThing {
  readonly key: string;
  readonly id: number | null;
  mark: string;
  changes: number;
  vanished: string | null;
  /** The mark at which its further keys were taken down. */
  deliveredAs: string;
}

export interface SavedSet {
  readonly state: 'UP' | 'DOWN';
  readonly failures: number;
  readonly known: {
    readonly epoch: string;
    readonly next: number;
    readonly things: readonly RememberedThing[];
    readonly gone: readonly RememberedThing[];
  } | null;
  /** Nothing is known, because all of it is new. */
  readonly allNew: boolean;
  readonly born: boolean;
  readonly skipped: string | null;
}

export type Begin = 'baseline' | 'born' | 'all new' | 'resume';

interface Say {
  readonly words: string;
  /** It counts to what one offer carries. */
  readonly isMail: boolean;
  readonly onAck: () => void;
}

export class SetReference {
  readonly rules: SetRules;
  /** What the inbox holds, in the order of a look. */
  things: Thing[] = [];
  epoch = '1';
  disk: SavedSet | null = null;
  /** The highest id of an event that the sink ever took. */
  highest = 0;

  private begin: Begin = 'baseline';
  private decided = false;
  private memory: RememberedThing[] | null = null;
  /** Told, and not there any more. */
  private gone: RememberedThing[] = [];
  private ofEpoch = '1';
  /** The next id, as it would be saved; and as it is given away, above what was offered and refused. */
  private next = 1;
  private free = 1;
  private promised: { key: string; id: number; as: string }[] = [];
  private unsaid: { words: (cursor: number) => string; is: 'born' | 'skipped' | 'capped' | 'armed' }[] = [];
  private beforeCap: SavedSet['known'] = null;
  private thinks: 'UP' | 'DOWN' = 'UP';
  private failures = 0;

  constructor(rules: SetRules) {
    this.rules = rules;
  }

  /** A new process, which knows the disk and what the sink took. */
  start(begin: Begin): void {
    const disk = begin === 'resume' ? this.disk : null;
    this.begin = begin;
    this.decided = false;
    this.memory = disk?.known?.things.map((thing) => ({ ...thing })) ?? null;
    if (begin === 'born' || begin === 'all new' || disk?.allNew === true) this.memory = [];
    this.gone = disk?.known?.gone.map((thing) => ({ ...thing })) ?? [];
    this.ofEpoch = disk?.known?.epoch ?? this.epoch;
    this.next = disk?.known?.next ?? this.highest + 1;
    this.free = this.highest + 1;
    this.promised = [];
    this.beforeCap = null;
    this.thinks = this.disk?.state ?? 'UP';
    this.failures = this.disk?.failures ?? 0;
    this.unsaid = [];
    if (begin === 'born' || disk?.born === true) this.unsaid.push({ is: 'born', words: () => 'persona_added' });
    const skipped = disk?.skipped ?? null;
    if (skipped !== null) this.unsaid.push({ is: 'skipped', words: () => skipped });
  }

  toSaved(): SavedSet {
    const things = this.memory?.map((thing) => ({ ...thing })) ?? null;
    const is = (kind: string): string | null => this.unsaid.find((notice) => notice.is === kind)?.words(0) ?? null;
    return {
      state: this.thinks,
      failures: this.failures,
      known:
        is('capped') !== null
          ? this.beforeCap
          : things === null || !this.decided
            ? this.undecided()
            : { epoch: this.ofEpoch, next: this.next, things, gone: this.gone.map((thing) => ({ ...thing })) },
      allNew:
        is('capped') !== null
          ? this.beforeCap === null
          : !this.decided && this.memory !== null && this.undecided() === null,
      born: is('born') !== null,
      skipped: is('skipped'),
    };
  }

  /** Before the first look only what the disk said is known. */
  private undecided(): SavedSet['known'] {
    return this.begin === 'resume' ? (this.disk?.known ?? null) : null;
  }

  /** What would be offered now. `more`: not all of it fits into one offer. */
  poll(): { readonly says: readonly Say[]; readonly more: boolean } {
    this.failures = 0;
    if (!this.decided) this.decide();
    else if (this.ofEpoch !== this.epoch) this.adopt(this.memory ?? []);
    const memory = this.memory ?? [];
    this.quietly(memory);
    const says: Say[] = [];
    const cursor = this.next - 1;
    if (this.thinks === 'DOWN') says.push({ words: `recovered ${cursor}`, isMail: false, onAck: () => this.up() });
    for (const notice of this.unsaid)
      says.push({ words: notice.words(cursor), isMail: false, onAck: () => this.dropNotice(notice) });
    const mail = [...this.appearances(memory), ...this.changes(memory), ...this.losses(memory)];
    const fits = mail.slice(0, this.rules.atOnce);
    const batch = fits.flatMap((say) => say.promise ?? []);
    this.promised = batch;
    this.free = Math.max(this.free, this.next, ...batch.map(({ id }) => id + 1));
    return { says: [...says, ...fits], more: mail.length > fits.length };
  }

  fail(): readonly Say[] {
    this.failures += 1;
    if (this.thinks === 'DOWN' || this.failures < this.rules.alertAfter) return [];
    return [{ words: `alert ${this.failures}`, isMail: false, onAck: () => this.down() }];
  }

  private up(): void {
    this.thinks = 'UP';
  }

  private down(): void {
    this.thinks = 'DOWN';
  }

  private dropNotice(notice: unknown): void {
    this.unsaid = this.unsaid.filter((other) => other !== notice);
  }

  private decide(): void {
    this.decided = true;
    const isFirst = this.memory === null;
    if (this.undecided() === null) this.ofEpoch = this.epoch;
    if (isFirst) {
      const first = this.free;
      this.adopt([]);
      const count = this.next - first;
      const unread = this.things.filter(({ mark }) => mark !== 'read').length;
      if (count > 0 && unread > 0)
        this.unsaid.push({ is: 'skipped', words: () => `baseline_skipped ${first}-${first + count - 1} ${unread}` });
    } else if (this.begin !== 'resume' || this.ofEpoch === this.epoch) {
      this.cap();
    } else this.adopt(this.memory ?? []);
    this.unsaid.push({ is: 'armed', words: (cursor) => `armed ${cursor}` });
  }

  private cap(): void {
    const memory = this.memory ?? [];
    const fresh = this.things.filter(
      (thing) =>
        !memory.some(({ key }) => key === thing.key) && this.returned(thing) === undefined && !this.isSilent(thing),
    );
    if (this.begin === 'born' || fresh.length <= this.rules.maxReplay) return;
    this.beforeCap =
      this.undecided() === null
        ? null
        : {
            epoch: this.ofEpoch,
            next: this.next,
            things: memory.map((thing) => ({ ...thing })),
            gone: this.gone.map((thing) => ({ ...thing })),
          };
    this.quietly(memory);
    for (const thing of fresh) this.comes(this.remember(thing, this.take()), memory);
    const upTo = this.next - 1;
    this.unsaid.push({ is: 'capped', words: () => `replay_capped ${upTo} ${fresh.length}` });
  }

  private take(): number {
    const id = Math.max(this.next, this.free);
    this.next = id + 1;
    return id;
  }

  private remember({ key, mark, vanished }: Thing, id: number | null): RememberedThing {
    return { key, id, mark, changes: 0, vanished: id === null ? null : vanished, deliveredAs: id === null ? '' : mark };
  }

  private isSilent({ key, quiet, from }: Thing): boolean {
    if (from?.toLowerCase() === this.rules.suppressed) return true;
    return quiet && !this.promised.some((promise) => promise.key === key);
  }

  /** Another set: no word of it. */
  private adopt(before: readonly RememberedThing[]): void {
    this.ofEpoch = this.epoch;
    this.next = Math.max(this.next, this.free);
    this.memory = this.things.map((thing) => {
      const old = [...before, ...this.gone].find(({ key }) => key === thing.key);
      if (old === undefined) return this.remember(thing, this.isSilent(thing) ? null : this.take());
      return { ...this.remember(thing, old.id), changes: old.changes };
    });
    const isThere = ({ key }: RememberedThing): boolean => this.things.some((thing) => thing.key === key);
    this.gone = this.gone.filter((thing) => !isThere(thing));
    for (const old of before) if (!isThere(old)) this.goes(old);
  }

  /** What was told and is there again; undefined: it was never told, or this is another occasion. */
  private returned({ key, mark, isOccasion }: Thing): RememberedThing | undefined {
    return this.gone.find((thing) => thing.key === key && (!isOccasion || thing.mark === mark));
  }

  private comes(thing: RememberedThing, memory: RememberedThing[]): void {
    memory.push(thing);
    this.gone = this.gone.filter(({ key }) => key !== thing.key);
  }

  private goes(thing: RememberedThing): void {
    if (thing.id !== null) this.gone.push({ ...thing, vanished: null, deliveredAs: '' });
  }

  /** What is done without an event. */
  private quietly(memory: RememberedThing[]): void {
    for (const thing of this.things) {
      const old = memory.find(({ key }) => key === thing.key);
      const back = old === undefined ? this.returned(thing) : undefined;
      if (back !== undefined) this.comes({ ...this.remember(thing, back.id), changes: back.changes }, memory);
      else if (old === undefined && this.isSilent(thing)) this.comes(this.remember(thing, null), memory);
      else if (old !== undefined && old.mark !== thing.mark && (old.id === null || thing.changed === null))
        Object.assign(old, this.remember(thing, old.id), { changes: old.changes });
    }
    const isThere = ({ key }: RememberedThing): boolean => this.things.some((thing) => thing.key === key);
    const stays = memory.filter((thing) => isThere(thing) || (thing.id !== null && thing.vanished !== null));
    for (const thing of memory) if (!stays.includes(thing)) this.goes(thing);
    memory.splice(0, memory.length, ...stays);
  }

  private appearances(memory: RememberedThing[]): (Say & { promise?: { key: string; id: number; as: string } })[] {
    const fresh = this.things.filter((thing) => !memory.some(({ key }) => key === thing.key));
    const old = [...this.promised].sort((a, b) => a.id - b.id);
    const first = old.flatMap(({ key }) => fresh.filter((thing) => thing.key === key));
    let next = Math.max(this.next, this.free);
    return [...first, ...fresh.filter((thing) => !first.includes(thing))].map((thing) => {
      const before = old.find(({ key }) => key === thing.key);
      const id = before?.id ?? next++;
      const as = before?.as ?? (thing.quiet ? 'new' : thing.as);
      const self = thing.from?.toLowerCase() === this.rules.me ? ' self' : '';
      return {
        words: `${as} ${id} ${thing.key} ${thing.mark}${self}`,
        isMail: true,
        promise: { key: thing.key, id, as },
        onAck: () => {
          this.comes(this.remember(thing, id), memory);
          this.next = Math.max(this.next, id + 1);
          this.highest = Math.max(this.highest, id);
          this.promised = this.promised.filter(({ key }) => key !== thing.key);
        },
      };
    });
  }

  private changes(memory: RememberedThing[]): (Say & { promise?: never })[] {
    return this.things.flatMap((thing) => {
      const old = memory.find(({ key }) => key === thing.key);
      if (old === undefined || old.mark === thing.mark) return [];
      return {
        words: `${thing.changed} ${old.id}-${old.changes + 1} ${thing.key} ${thing.mark}`,
        isMail: true,
        onAck: () => {
          this.highest = Math.max(this.highest, old.id ?? 0);
          Object.assign(old, this.remember(thing, old.id), { changes: old.changes + 1 });
        },
      };
    });
  }

  private losses(memory: RememberedThing[]): (Say & { promise?: never })[] {
    const lost = memory.filter(({ key }) => !this.things.some((thing) => thing.key === key));
    return lost.map((old) => ({
      words: `${old.vanished} ${old.id}-${old.changes + 1} ${old.key} ${old.deliveredAs}`,
      isMail: true,
      onAck: () => {
        this.highest = Math.max(this.highest, old.id ?? 0);
        memory.splice(memory.indexOf(old), 1);
        this.goes({ ...old, changes: old.changes + 1 });
      },
    }));
  }
}
