import type { Clock } from '../../core/ports/index.ts';
import type { Source } from '../../core/sources/index.ts';

/** What the suite has to know of a source. What a source cannot do is said here, so that nothing is left out in silence. */
export interface SourceRig {
  /** What its polls return. `level`: counts only, so no message is ever delivered. */
  readonly evidence: 'log' | 'set' | 'level';
  /** It tells what changed: by `hints`, or by a pending list that is held until something changes. */
  readonly wakes: 'hints' | 'held list';
  /** How many members its large store has: 5,000, unless `cannot.growTo5000` says why not. */
  readonly members: number;
  /** The names of the faults that each of its worlds has, beside `permission`. */
  readonly faults: readonly string[];
  /** Each with the reason. What is not named here, the source does and the suite checks. */
  readonly cannot: {
    readonly growTo5000?: string;
    /** A permission cannot be lost while it runs. Absent: each world has the fault `permission`. */
    readonly losePermission?: string;
    /** Nothing lies half-written where it can be seen. Absent: each world can `begin` a message. */
    readonly seeHalf?: string;
    /** It cannot tell that a member left. Absent: each world can `remove` its first member. */
    readonly loseMember?: string;
    /** It never waits for anybody. Absent: each world can `hang`. */
    readonly wait?: string;
  };
  /** A new store, and nothing that watches it. */
  createWorld(clock: JumpingClock): Promise<SourceWorld>;
}

/** A store, and those who use it: agents that read their mail, others that send it, and whatever breaks. */
export interface SourceWorld extends AsyncDisposable {
  /** Two members without mail, by their addresses. */
  readonly addresses: readonly [string, string];
  /** The source over this store, as a process has it that starts now. */
  open(): Source;
  send(address: string, text: string): void | Promise<void>;
  /** The agent reads all its mail, in the way of its own system. */
  read(address: string): void | Promise<void>;
  /** Everything that looking must not change: bytes, times, side files, requests that write. */
  capture(): unknown;
  /** `permission`, and those that the rig names. */
  readonly faults: Readonly<Record<string, StoreFault>>;
  /** Begins to write a message. See `seeHalf`. */
  begin?(address: string, text: string): HalfMessage | Promise<HalfMessage>;
  /** Makes the store one of so many members, by whatever is quick. Some of them have mail. */
  fill(count: number): void | Promise<void>;
  /** The first member leaves. See `loseMember`. */
  remove?(): void | Promise<void>;
  /** From now on nobody answers. See `wait`. */
  hang?(): void;
}

export interface StoreFault {
  /**
   * `persona`: only the first member is concerned, and the listing may leave it out. `source`: all of them, and nobody else.
   * `machine`: the store is that of the whole program.
   */
  readonly scope: 'persona' | 'source' | 'machine';
  break(): void | Promise<void>;
  mend(): void | Promise<void>;
}

/** A message that its sender is writing. */
export interface HalfMessage {
  /** How many bytes the whole record has. */
  readonly size: number;
  /** So many bytes of it are there. */
  write(size: number): void | Promise<void>;
  finish(): void | Promise<void>;
}

/** The real clock, which can jump ahead so that nobody has to wait, and counts what waits for it. */
export interface JumpingClock extends Clock {
  jump(ms: number): void;
  readonly waiting: number;
}

export function createJumpingClock(real: Clock): JumpingClock {
  let jumped = 0;
  let waiting = 0;
  return {
    now: () => real.now() + jumped,
    monotonic: () => real.monotonic() + jumped,
    async sleep(ms, signal) {
      waiting += 1;
      await real.sleep(ms, signal);
      waiting -= 1;
    },
    after(ms, run) {
      let isOver = false;
      const end = (): void => {
        if (!isOver) waiting -= 1;
        isOver = true;
      };
      waiting += 1;
      const timer = real.after(ms, () => {
        end();
        run();
      });
      return {
        [Symbol.dispose]() {
          timer[Symbol.dispose]();
          end();
        },
      };
    },
    jump(ms) {
      jumped += ms;
    },
    get waiting() {
      return waiting;
    },
  };
}
