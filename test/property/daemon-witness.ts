import assert from 'node:assert/strict';
import { type DaemonEffect, formatTurnBoundaryId, type Happening, LIMITS, PACE } from '../../core/daemon/index.ts';
import type { Fsm, TurnBoundary } from '../../core/link/index.ts';

const DOORBELL = ['kind', 'source', 'timestamp'];
/** The arrows of contract 3; every state may also fall to DISCONNECTED. */
const LEGAL: readonly string[] = [
  'DISCONNECTED>RECONCILING',
  'RECONCILING>CONNECTED',
  'CONNECTED>EMITTING',
  'EMITTING>CONNECTED',
];

interface Moment {
  readonly at: number;
  readonly mono: number;
}

/** What a hive says that waits. */
export interface Pending {
  readonly rev: number;
  readonly count: number;
  readonly oldest: number | null;
}

interface Rest {
  readonly at: number;
  readonly turnBoundary: string;
}

/** Who sees what a daemon is told, and knows in words of its own what may be seen of it then. */
export class Witness {
  readonly rings: ('boundary' | 'wake')[] = [];
  readonly moves = new Set<string>();
  fsm: Fsm = 'DISCONNECTED';
  isReconciled = false;
  private readonly wakeIdle: boolean;
  private isOvertaken = false;
  /** The newest that an answer has shown, and nothing was heard beyond it; null: there is no such answer. */
  private answeredRev: number | null = null;
  private heardMono = 0;
  private mayPend = false;
  /** When it was rung for what nobody drained since. */
  private rung: number | null = null;
  /** The oldest that was rung for, and the oldest that waits, as a peek told them last. */
  private rungOldest: number | null = null;
  private oldest: number | null = null;
  private readonly rungAt = new Map<string, number>();
  private asking: TurnBoundary | null = null;
  private reconciledMono = 0;
  private drained: Moment = { at: 0, mono: 0 };
  /** When the agent was last told to be where it is. */
  private turnAt: number;
  private isSentOn = false;
  private isWoken = false;
  private rest: Rest | null = null;
  private restIfNot: Rest | null = null;

  constructor(wakeIdle: boolean, at: number) {
    this.wakeIdle = wakeIdle;
    this.turnAt = at;
  }

  /** Something of this connection, or of none, before the machine says what it makes of it. */
  hears(happening: Happening, now: Moment): void {
    if (
      happening.is === 'heard' ||
      happening.is === 'welcome' ||
      happening.is === 'pending_changed' ||
      happening.is === 'drained'
    ) {
      // What comes after the silence was over is no sign of life.
      if (now.mono - this.heardMono < LIMITS.silenceMs || happening.is === 'welcome') this.heardMono = now.mono;
    }
    if (happening.is === 'pending_changed') this.mayPend = true;
    if (happening.is === 'drained') {
      this.mayPend = happening.remaining > 0;
      this.rung = null;
      this.oldest = null;
      this.drained = now;
    }
    const isOperator = happening.is === 'notify' && happening.turnBoundary === null;
    const isKnown =
      happening.is === 'pending_changed' && this.answeredRev !== null && happening.rev <= this.answeredRev;
    const isNews = (happening.is === 'pending_changed' && !isKnown) || happening.is === 'drained';
    if (isNews) this.answeredRev = null;
    if (isNews || isOperator) this.isOvertaken = true;
  }

  peekAsked(): void {
    this.isOvertaken = false;
  }

  peekAnswered({ rev, count, oldest }: Pending, now: Moment): void {
    this.isReconciled = true;
    if (count > 0) this.mayPend = true;
    if (this.isOvertaken) return;
    this.answeredRev = rev;
    this.oldest = oldest;
    if (count > 0) {
      const isLater = this.rungOldest !== null && oldest !== null && oldest > this.rungOldest;
      this.rungOldest ??= oldest;
      if (!isLater) return;
    } else this.mayPend = false;
    if (this.rung !== null) this.drained = now;
    this.rung = null;
  }

  connectionLost(): void {
    this.isReconciled = false;
    this.answeredRev = null;
    this.oldest = null;
  }

  /** A peek that is on its way is still to be answered, and its answer is as good as ever. */
  indexLost(): void {
    this.connectionLost();
    this.rung = null;
  }

  /** A boundary is reported while `report` runs. */
  atTurnBoundary(turnBoundary: TurnBoundary, now: Moment, report: () => void): void {
    const id = formatTurnBoundaryId(turnBoundary);
    const rungMono = this.rungAt.get(id) ?? Number.NEGATIVE_INFINITY;
    const isTwin = now.mono - rungMono < PACE.turnBoundaryMs && rungMono >= this.drained.mono;
    const isEnd = turnBoundary.kind === 'Stop' || turnBoundary.kind === 'agent-turn-complete';
    if (!isEnd || !isTwin) {
      this.turnAt = now.at;
      this.goesOn(isEnd ? { at: now.at, turnBoundary: id } : null);
    }
    this.asking = turnBoundary;
    report();
    this.asking = null;
  }

  noted(touched: number, moment: string | null): void {
    const isTwin = (this.isSentOn || this.isWoken) && this.drained.at <= this.turnAt;
    if (touched <= this.turnAt || (moment === 'Stop' && isTwin)) return;
    this.turnAt = touched;
    if (moment === 'Continued' && this.isSentOn) return;
    this.goesOn(moment === 'Stop' ? { at: touched, turnBoundary: `noted ${touched}` } : null);
  }

  /** The surface did not take the doorbell: nothing rang, so that an agent that stopped did stop. */
  refused(): void {
    this.rung = null;
    if (this.restIfNot !== null) this.isSentOn = false;
    this.rest ??= this.restIfNot;
  }

  /** Nobody knows whether it rang, so it does not bring the agent back to rest. */
  refuse(): void {
    this.rung = null;
  }

  /** Something waits, of which the daemon was told: whether a boundary of a new name has to ring now. */
  mustRing(now: Moment): boolean {
    return this.isReconciled && (this.rung === null || now.mono - this.rung >= PACE.againMs);
  }

  moved({ transition }: Extract<DaemonEffect, { is: 'moved' }>, cause: Happening, now: Moment): void {
    const { from, to } = transition;
    assert.equal(from, this.fsm, 'a transition begins where the last one ended');
    assert.ok(to === 'DISCONNECTED' || LEGAL.includes(`${from}>${to}`), `${from} -> ${to}`);
    this.fsm = to;
    this.moves.add(`${from}>${to}`);
    if (to === 'DISCONNECTED') this.isReconciled = false;
    if (from !== 'RECONCILING' || to !== 'CONNECTED') return;
    assert.equal(cause.is, 'peeked', 'reconciled by an answer alone');
    this.reconciledMono = now.mono;
  }

  rang({ way, doorbell }: Extract<DaemonEffect, { is: 'ring' }>, now: Moment): void {
    this.rings.push(way);
    assert.deepEqual(Object.keys(doorbell).sort(), DOORBELL);
    assert.equal(this.fsm, 'EMITTING');
    assert.ok(this.isReconciled, 'rung before it was reconciled on this connection');
    assert.ok(now.mono - this.heardMono < LIMITS.silenceMs, 'rung on a stream that is silent');
    assert.ok(this.mayPend, 'rung for nothing');
    if (way === 'boundary') this.rangAt(this.asking, now);
    else this.woke(now);
    this.rest = null;
    this.rung = now.mono;
    this.rungOldest = this.oldest;
  }

  private rangAt(turnBoundary: TurnBoundary | null, now: Moment): void {
    assert.ok(turnBoundary !== null, 'rung without a boundary');
    assert.notEqual(turnBoundary.kind, 'agent-turn-complete');
    assert.ok(this.rung === null || now.mono - this.rung >= PACE.againMs, 'rung while one is outstanding');
    const id = formatTurnBoundaryId(turnBoundary);
    const rungMono = this.rungAt.get(id) ?? Number.NEGATIVE_INFINITY;
    assert.ok(now.mono - rungMono >= PACE.turnBoundaryMs, 'twice for one boundary');
    this.rungAt.set(id, now.mono);
    this.restIfNot = turnBoundary.kind === 'Stop' ? this.rest : null;
    this.isSentOn = turnBoundary.kind === 'Stop';
  }

  private woke(now: Moment): void {
    assert.ok(this.wakeIdle, 'woken unasked');
    assert.ok(this.rest !== null, 'woken in the middle of a turn, or twice at one rest');
    assert.equal(this.rung, null, 'woken while one is outstanding');
    assert.ok(now.mono - this.reconciledMono >= PACE.wakeAfterMs, 'woken right after a reconnect');
    this.rungAt.set(this.rest.turnBoundary, now.mono);
    this.restIfNot = null;
    this.isWoken = true;
  }

  private goesOn(rest: Rest | null): void {
    this.isSentOn = false;
    this.isWoken = false;
    this.restIfNot = null;
    this.rest = rest;
  }
}
