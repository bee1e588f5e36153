import {
  createMachineState,
  type DaemonEffect,
  type DaemonRules,
  type Happening,
  type MachineState,
  step,
} from '../../core/daemon/index.ts';
import type { RingAnswer, TurnBoundaryKind } from '../../core/link/index.ts';

const T0 = Date.UTC(2026, 5, 20, 10);
/** In the middle, so that a ladder has its plain lengths. */
const NO_JITTER = 0.5;

/** A machine of a persona daemon by itself, told one thing after the other; what it wanted is kept. */
export class DrivenDaemon {
  state: MachineState;
  effects: readonly DaemonEffect[] = [];
  mono = 0;
  private asks = 0;
  private readonly rules: DaemonRules;

  constructor(rules: Partial<DaemonRules> = {}) {
    this.rules = { tenant: 't', identity: 'ada', wakeIdle: false, ...rules };
    this.state = createMachineState({ at: T0, mono: 0 });
  }

  /** @returns what the shell is to do */
  tell(happening: Happening, draw = NO_JITTER): readonly DaemonEffect[] {
    const { state, effects } = step(
      this.state,
      { at: T0 + this.mono, mono: this.mono, draw, ...happening },
      this.rules,
    );
    this.state = state;
    this.effects = effects;
    return effects;
  }

  /** Lets time pass as a shell does, with something heard each second where it is listened. */
  pass(ms: number): readonly DaemonEffect[] {
    const all: DaemonEffect[] = [];
    for (let rest = ms; rest > 0; rest -= 1_000) {
      this.mono += Math.min(1_000, rest);
      const { link } = this.state;
      all.push(...this.tell(link.is === 'up' ? { is: 'heard', conn: link.conn } : { is: 'tick' }));
    }
    this.effects = all;
    return all;
  }

  /** Lets time pass in silence. */
  silence(ms: number): readonly DaemonEffect[] {
    const all: DaemonEffect[] = [];
    for (let rest = ms; rest > 0; rest -= 1_000) {
      this.mono += Math.min(1_000, rest);
      all.push(...this.tell({ is: 'tick' }));
    }
    this.effects = all;
    return all;
  }

  /** What the wall clock says. */
  get at(): number {
    return T0 + this.mono;
  }

  get conn(): number {
    const { link } = this.state;
    return link.is === 'down' ? -1 : link.conn;
  }

  get peekId(): number {
    const { peek } = this.state;
    return peek.is === 'asked' ? peek.id : -1;
  }

  get moves(): readonly string[] {
    return this.state.transitions.map(({ from, to }) => `${from}>${to}`);
  }

  welcome(rev = 1): this {
    if (this.state.link.is === 'down') this.tell({ is: 'tick' });
    this.tell({
      ...{ is: 'welcome', conn: this.conn, registration: 'r', heartbeatMs: 30_000, rev },
      ...{ tenant: null, identity: null },
    });
    return this;
  }

  peeked(count: number, rev = 1, oldest: number | null = null): this {
    this.tell({ is: 'peeked', peek: this.peekId, rev, count, oldest });
    return this;
  }

  /** Connected and reconciled, with so many waiting at revision 1. */
  connected(count: number): this {
    return this.welcome().peeked(count);
  }

  changed(rev: number): readonly DaemonEffect[] {
    return this.tell({ is: 'pending_changed', conn: this.conn, rev });
  }

  drained(rev: number, remaining: number): readonly DaemonEffect[] {
    return this.tell({ is: 'drained', conn: this.conn, rev, remaining });
  }

  /** @returns how it was answered; null: not yet */
  turnBoundary(kind: TurnBoundaryKind, turn: string | null): RingAnswer | null {
    this.asks += 1;
    const turnBoundary = { kind, session: 's', turn };
    return this.answered(this.asks, this.tell({ is: 'notify', ask: this.asks, turnBoundary }));
  }

  operator(): RingAnswer | null {
    this.asks += 1;
    return this.answered(this.asks, this.tell({ is: 'notify', ask: this.asks, turnBoundary: null }));
  }

  accepted(): RingAnswer | null {
    const { ring } = this.state;
    return this.answered(ring?.ask ?? null, this.tell({ is: 'accepted', ring: ring?.id ?? -1 }));
  }

  rejected(): RingAnswer | null {
    const { ring } = this.state;
    return this.answered(ring?.ask ?? null, this.tell({ is: 'rejected', ring: ring?.id ?? -1 }));
  }

  count(is: DaemonEffect['is']): number {
    return this.effects.filter((effect) => effect.is === is).length;
  }

  private answered(ask: number | null, effects: readonly DaemonEffect[]): RingAnswer | null {
    const found = effects.find((effect) => effect.is === 'answer' && effect.ask === ask);
    return found?.is === 'answer' ? found.answer : null;
  }
}
