import assert from 'node:assert/strict';
import {
  computeDueMono,
  createMachineState,
  type DaemonEffect,
  type DaemonOutput,
  type DaemonRules,
  dropIndex,
  type Happening,
  LIMITS,
  type MachineState,
  step,
} from '../../core/daemon/index.ts';
import type { TurnBoundary } from '../../core/link/index.ts';
import type { DaemonStep } from './daemon-step.ts';
import { type Pending, Witness } from './daemon-witness.ts';
import { freeze } from './pure-step.ts';

const T0 = 1_750_000_000_000;
const PING_MS = 15_000;
type Frame =
  | { readonly is: 'pending_changed'; readonly rev: number }
  | { readonly is: 'drained'; readonly rev: number; readonly remaining: number };

/**
 * A hive, a network, a surface and an agent of the least wit around one machine, and a witness of all that it is
 * told.
 */
export class World {
  state: MachineState;
  readonly drained: number[] = [];
  readonly witness: Witness;
  sent = 0;
  private readonly rules: DaemonRules;
  private at = T0;
  private mono = 1_000;
  private draws = 0;
  private asks = 0;

  // The hive.
  private readonly queue: number[] = [];
  private rev = 0;
  private frames: Frame[] = [];
  private pingMono = 0;
  private isSilent = false;
  private readonly past: Happening[] = [];

  // The network and the surface, as the effects made them.
  private conn: number | null = null;
  private isWelcome = false;
  private peek: (Pending & { readonly id: number }) | null = null;
  private ring: { readonly id: number; readonly ask: number | null; readonly mono: number } | null = null;
  private heartbeat: { readonly conn: number; readonly seq: number } | null = null;
  private readonly open = new Set<number>();
  hasBell = false;

  isStopped = false;

  constructor(wakeIdle: boolean) {
    this.rules = freeze({ tenant: 't', identity: 'ada', wakeIdle });
    this.witness = new Witness(wakeIdle, this.at);
    this.state = createMachineState({ at: this.at, mono: this.mono });
  }

  private get now(): { readonly at: number; readonly mono: number } {
    return { at: this.at, mono: this.mono };
  }

  do(daemonStep: DaemonStep): void {
    switch (daemonStep.is) {
      case 'pass':
        this.pass(daemonStep.ms);
        break;
      case 'sleep':
        this.at += daemonStep.ms;
        if (daemonStep.isFrozen) this.mono += Math.max(0, daemonStep.ms);
        this.tell({ is: 'tick' });
        if (daemonStep.ms > LIMITS.tickMs + LIMITS.lateMs)
          assert.equal(this.state.fsm, 'DISCONNECTED', 'what it knew it slept over');
        break;
      case 'signals':
        this.signals(daemonStep.count);
        break;
      case 'drain':
        this.hasBell = false;
        this.drain(daemonStep.max, daemonStep.isNotified);
        break;
      case 'frames':
        for (let n = 0; n < daemonStep.count; n += 1) this.deliver();
        break;
      case 'welcome':
        this.welcome(daemonStep.restarts);
        break;
      case 'close':
        if (this.conn !== null) {
          const { code, retryAfterMs } = daemonStep;
          this.gone();
          this.tell({ is: 'closed', conn: this.connBefore, code, retryAfterMs });
        }
        break;
      case 'half_open':
        this.isSilent = true;
        break;
      case 'garbled':
        if (this.conn !== null) this.tell({ is: 'garbled', conn: this.conn });
        break;
      case 'peek':
        this.answerPeek(daemonStep.how);
        break;
      case 'surface':
        this.answerRing(daemonStep.takes);
        break;
      case 'boundary':
        this.turnBoundary({ kind: daemonStep.kind, session: 's', turn: String(daemonStep.turn) });
        break;
      case 'operator':
        this.notify(null);
        break;
      case 'activity':
        this.witness.noted(this.at - daemonStep.agoMs, daemonStep.moment);
        this.tell({ is: 'activity', touched: this.at - daemonStep.agoMs, moment: daemonStep.moment });
        break;
      case 'heartbeat':
        this.answerHeartbeat(daemonStep.fails);
        break;
      case 'index_lost':
        this.state = dropIndex(this.state);
        this.witness.indexLost();
        break;
      case 'deaf':
        this.hasBell = false;
        break;
      case 'lifecycle':
        if (this.conn !== null) this.tell({ is: 'lifecycle', conn: this.conn, verb: 'wrap' });
        break;
      case 'shutdown':
        this.tell({ is: 'shutdown', reason: 'asked', deadlineMs: 60_000 });
        break;
      case 'ghost':
        if (this.past.length > 0) this.ghost(this.past[daemonStep.of % this.past.length]);
    }
  }

  /** From now on everything is well: the daemon gets an hour of it, with a boundary every two minutes. */
  waitUntilQuiet(): void {
    const perfect = (): void => {
      this.isSilent = false;
      for (let n = 0; n < 6; n += 1) {
        if (this.conn !== null && !this.isWelcome) this.welcome(false);
        while (this.frames.length > 0) this.deliver();
        this.answerPeek('now');
        this.answerHeartbeat(false);
      }
    };
    const agent = (): void => {
      this.answerRing(true);
      if (this.hasBell) this.drain(100, true);
      this.hasBell = false;
    };
    this.pass(LIMITS.ringMs);
    for (let round = 0; round < 30 && !this.isStopped && (round < 4 || this.queue.length > 0); round += 1) {
      if (round === 1 || round === 2) this.signals(1);
      for (let n = 0; n < 24; n += 1) {
        this.pass(5_000);
        perfect();
        agent();
        perfect();
      }
      const { rings } = this.witness;
      const rung = rings.length;
      const mustRing = this.queue.length > 0 && this.ring === null && this.witness.mustRing(this.now);
      // The same name comes again after six minutes, when it names another boundary.
      this.turnBoundary({ kind: 'UserPromptSubmit', session: 'settled', turn: String(round % 3) });
      if (mustRing) assert.equal(rings.length, rung + 1, 'it waits, nothing is outstanding, and nothing rings');
      agent();
      perfect();
    }
    assert.equal(this.open.size, 0, 'somebody asked and was not answered');
    if (!this.isStopped) assert.deepEqual(this.queue, [], 'what waited was at last drained');
  }

  private pass(ms: number): void {
    const until = this.mono + ms;
    for (;;) {
      const pingDue = this.isWelcome && !this.isSilent ? this.pingMono + PING_MS : Number.POSITIVE_INFINITY;
      const due = Math.max(this.mono, Math.min(computeDueMono(this.state), pingDue));
      if (due > until) break;
      this.advance(due - this.mono);
      if (pingDue <= due && this.conn !== null) {
        this.pingMono = this.mono;
        this.tell({ is: 'heard', conn: this.conn });
      } else {
        this.tell({ is: 'tick' });
        assert.ok(computeDueMono(this.state) > this.mono, 'a tick that leaves everything due would be told for ever');
      }
    }
    this.advance(until - this.mono);
  }

  private advance(ms: number): void {
    this.at += ms;
    this.mono += ms;
  }

  private signals(count: number): void {
    for (let n = 0; n < count; n += 1) {
      this.sent += 1;
      this.queue.push(this.sent);
      this.rev += 1;
      if (this.isWelcome) this.frames.push({ is: 'pending_changed', rev: this.rev });
    }
  }

  private drain(max: number, isNotified: boolean): void {
    const accepted = this.queue.splice(0, max);
    this.drained.push(...accepted);
    if (accepted.length > 0) this.rev += 1;
    if (this.isWelcome && isNotified) this.frames.push({ is: 'drained', rev: this.rev, remaining: this.queue.length });
  }

  private deliver(): void {
    const frame = this.isSilent ? undefined : this.frames.shift();
    if (frame !== undefined && this.conn !== null) this.tell({ ...frame, conn: this.conn });
  }

  private connBefore = 0;

  private gone(): void {
    const conn = this.conn ?? this.connBefore;
    // What was under way is told late, when nobody should listen to it any more.
    this.past.push(...this.frames.map((frame) => ({ ...frame, conn })), { is: 'heard', conn });
    this.connBefore = conn;
    this.conn = null;
    this.isWelcome = false;
    this.isSilent = false;
    this.frames = [];
    this.heartbeat = null;
    this.witness.connectionLost();
  }

  private welcome(restarts: boolean): void {
    if (this.conn === null || this.isWelcome || this.isSilent) return;
    if (restarts) this.rev = 0; // a hive that began to count anew says so with a new registration
    this.isWelcome = true;
    this.pingMono = this.mono;
    this.tell({
      ...{ is: 'welcome', conn: this.conn, registration: `r${this.conn}`, heartbeatMs: 30_000, rev: this.rev },
      ...{ tenant: null, identity: null },
    });
  }

  /** A number rises with each signal, so it stands for the time at which that came. */
  private get pending(): Pending {
    return { rev: this.rev, count: this.queue.length, oldest: this.queue[0] ?? null };
  }

  private answerPeek(how: 'now' | 'old' | 'fails' | 'back'): void {
    const { peek } = this;
    if (peek === null) return;
    this.peek = null;
    if (how === 'fails') this.tell({ is: 'peek_failed', peek: peek.id });
    else if (how === 'back') this.tell({ is: 'peeked', peek: peek.id, rev: -1, count: 0, oldest: null });
    else {
      const { rev, count, oldest } = how === 'old' ? peek : this.pending;
      this.witness.peekAnswered({ rev, count, oldest }, this.now);
      this.tell({ is: 'peeked', peek: peek.id, rev, count, oldest });
    }
  }

  private answerRing(takes: boolean): void {
    const { ring } = this;
    if (ring === null) return;
    this.ring = null;
    if (takes) this.hasBell = true;
    else this.witness.refused();
    this.tell({ is: takes ? 'accepted' : 'rejected', ring: ring.id });
  }

  private answerHeartbeat(fails: boolean): void {
    const { heartbeat } = this;
    if (heartbeat === null) return;
    this.heartbeat = null;
    this.tell(fails ? { is: 'heartbeat_failed', conn: heartbeat.conn } : { is: 'heartbeat_sent', ...heartbeat });
  }

  private turnBoundary(turnBoundary: TurnBoundary): void {
    this.witness.atTurnBoundary(turnBoundary, this.now, () => this.notify(turnBoundary));
  }

  private notify(turnBoundary: TurnBoundary | null): void {
    this.asks += 1;
    this.open.add(this.asks);
    this.tell({ is: 'notify', ask: this.asks, turnBoundary });
  }

  /** Only what is over: the live ones have their own deeds. */
  private ghost(happening: Happening | undefined): void {
    if (happening === undefined) return;
    if ('conn' in happening && happening.conn === this.conn) return;
    if ('peek' in happening && happening.peek === this.peek?.id) return;
    if ('ring' in happening && happening.ring === this.ring?.id) return;
    const { index, ring, outstanding, fsm } = this.state;
    const { rings } = this.witness;
    const rung = rings.length;
    this.tell(happening);
    if (rings.length > rung) return; // an agent at rest was just due to be woken
    const after = this.state;
    assert.deepEqual(
      { index: after.index, ring: after.ring, outstanding: after.outstanding, fsm: after.fsm },
      { index, ring, outstanding, fsm },
      'a ghost was listened to',
    );
  }

  private tell(happening: Happening): void {
    if (!('conn' in happening) || happening.conn === this.conn) this.witness.hears(happening, this.now);
    this.draws += 1;
    const input = freeze({ ...this.now, draw: (this.draws * 0.37) % 1, ...happening });
    const before = freeze(this.state);
    const output: DaemonOutput = step(before, input, this.rules);
    if (happening.is !== 'tick' && happening.is !== 'heard') {
      if ('conn' in happening || 'peek' in happening || 'ring' in happening) this.past.push(happening);
      assert.deepEqual(step(before, input, this.rules), output, 'the same input gives the same output');
      assert.deepEqual(JSON.parse(JSON.stringify(output.state)), output.state, 'a state survives a JSON round trip');
    }
    this.state = output.state;
    for (const effect of output.effects) this.perform(effect, happening);
    assert.equal(this.state.fsm, this.witness.fsm, 'every change of the state was said');
    assert.ok(this.state.transitions.length <= 64);
  }

  private perform(effect: DaemonEffect, cause: Happening): void {
    if (this.isStopped) assert.ok(effect.is === 'answer' || effect.is === 'error', `${effect.is} after the end`);
    switch (effect.is) {
      case 'open':
        assert.equal(this.conn, null, 'a second connection beside the first');
        this.conn = effect.conn;
        this.isSilent = false;
        break;
      case 'terminate':
        assert.equal(effect.conn, this.conn ?? this.connBefore);
        this.gone();
        break;
      case 'peek':
        assert.equal(this.peek, null, 'a second peek beside the first');
        assert.ok(this.isWelcome, 'a peek before the welcome');
        this.peek = { id: effect.peek, ...this.pending };
        this.witness.peekAsked();
        break;
      case 'drop_peek':
        if (this.peek !== null)
          this.past.push({ is: 'peeked', peek: effect.peek, rev: this.rev + 1, count: 7, oldest: 7 });
        this.peek = null;
        break;
      case 'heartbeat':
        assert.equal(effect.conn, this.conn);
        assert.notEqual(this.state.fsm, 'RECONCILING', 'a heartbeat before it is reconciled');
        this.heartbeat = effect;
        break;
      case 'ring':
        assert.ok(this.isWelcome, 'rung without a connection');
        assert.equal(this.ring, null, 'two doorbells in flight');
        this.witness.rang(effect, this.now);
        if (effect.way === 'boundary') assert.equal(effect.ask, this.asks, 'rung for another than who asks');
        this.ring = { id: effect.ring, ask: effect.ask, mono: this.mono };
        break;
      case 'answer':
        assert.ok(this.open.delete(effect.ask), 'one answer to one asker');
        assert.equal(effect.answer.emitted, effect.answer.why === 'rung');
        if (effect.answer.emitted) assert.equal(cause.is, 'accepted', 'rung is what the surface took');
        break;
      case 'error':
        // This hive tells the truth: a peek may be ahead of the frames that are still on their way.
        assert.ok(cause.is !== 'pending_changed' && cause.is !== 'drained', effect.why);
        if (effect.error === 'surface_inject_failed' && cause.is !== 'rejected') {
          if (this.ring !== null) this.past.push({ is: 'accepted', ring: this.ring.id });
          this.ring = null;
          this.witness.refuse();
        }
        break;
      case 'moved':
        this.witness.moved(effect, cause, this.now);
        break;
      case 'stop':
        this.isStopped = true;
        this.gone();
        this.peek = null;
    }
  }
}
