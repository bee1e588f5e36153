import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPressing, type OpenDecision, type Until } from '../../core/board/index.ts';
import { exactly, type Instant } from '../../core/model/index.ts';
import { createDecision, Scene } from '../../test/kit/notify-scene.ts';
import { type Notification, type NotificationKey, toDecisionKey, toOutageKey, toWaitKey } from './channels/index.ts';
import type { PolicyInput } from './policy.ts';
import { NOTIFY_RULES } from './state.ts';

type Is =
  | 'mail'
  | 'urgent'
  | 'ask'
  | 'answer'
  | 'stop'
  | 'go'
  | 'read'
  | 'down'
  | 'up'
  | 'wait'
  | 'pause'
  | 'quiet'
  | 'mute'
  | 'hide'
  | 'restart'
  | 'break'
  | 'mend'
  | 'close'
  | 'leave';

interface Move {
  readonly is: Is;
  readonly who: number;
  readonly n: number;
}

const PERSONAS = ['ada', 'bo', 'cy', 'di'];
const NEVER: Until = { is: 'never' };

function move(weight: number, n: number, ...is: [Is, ...Is[]]): { weight: number; arbitrary: fc.Arbitrary<Move> } {
  return {
    weight,
    arbitrary: fc.record({ is: fc.constantFrom(...is), who: fc.nat(PERSONAS.length - 1), n: fc.nat(n) }),
  };
}

/** What may happen to inboxes, and to who is to be told. */
const EVENTS = [
  move(4, 2, 'mail'),
  move(1, 2, 'urgent'),
  move(2, 3, 'read'),
  move(3, 5, 'ask'),
  move(2, 20, 'answer'),
  move(3, 3, 'stop'),
  move(2, 2, 'go'),
  move(3, 1, 'down'),
  move(3, 1, 'up'),
  move(1, 60, 'pause', 'quiet', 'mute'),
  move(1, 1, 'hide'),
] as const;

/** Plays a history, and looks at everything that the policy shows. */
class CheckedScene extends Scene {
  readonly unread = new Map<string, number>();
  readonly urgent = new Map<string, number>();
  /** Who is down, and for what cause. */
  readonly broken_ = new Map<string, string>();
  readonly muted = new Map<string, Until>();
  readonly hidden = new Set<string>();
  paused: Until = NEVER;
  quietUntil: Until = NEVER;
  /** The last word about each outage that a person has not heard the end of. */
  readonly #reported = new Map<NotificationKey, Notification['is']>();
  /** Those that are open, and what became of each that was ever asked. */
  open: OpenDecision[] = [];
  #lastDecision = 0;
  readonly #shownDecisions = new Set<number>();
  readonly #ownBanners: Instant[] = [];
  /** Since when each agent waits for a person, and those of which a person was told. */
  readonly waits = new Map<string, Instant>();
  readonly #shownWaits = new Set<string>();
  readonly #mailAt = new Map<NotificationKey, Instant>();
  /** Each first word of an outage and each recovery. */
  readonly edges: string[] = [];

  override input(input: { readonly [K in string]: unknown } & { is: PolicyInput['is'] }): void {
    if (input.is === 'shown') this.#check(input.notification as Notification);
    super.input(input);
  }

  play({ is, who, n }: Move): void {
    const p = PERSONAS[who] as string;
    const unread = this.unread.get(p) ?? 0;
    const isDown = this.broken_.has(p);
    switch (is) {
      case 'mail':
        if (!isDown) this.#mail(p, unread, n + 1, 0);
        break;
      case 'urgent':
        if (!isDown) this.#mail(p, unread, n + 1, 1);
        break;
      case 'ask':
        this.#ask(p, n);
        break;
      case 'answer':
        this.open = this.open.filter((_, i) => i % (n + 1) !== 0);
        this.ask(...this.open);
        break;
      case 'stop':
        if (!this.waits.has(p)) this.waits.set(p, this.at);
        this.reportAgent(p);
        break;
      case 'go':
        this.#shownWaits.delete(`${p} ${this.waits.get(p)}`); // what begins in the same moment is another wait
        this.waits.delete(p);
        this.agent(p, n === 0 ? { is: 'gone', why: 'ended' } : { is: 'working', since: this.at });
        break;
      case 'read':
        if (isDown) break;
        this.unread.set(p, Math.max(0, unread - n));
        this.urgent.set(p, 0);
        this.forgetHealth(p);
        break;
      case 'down':
        this.broken_.set(p, n === 0 ? 'kijito' : p);
        this.forgetHealth(p);
        break;
      case 'up':
        this.broken_.delete(p);
        this.forgetHealth(p);
        break;
      case 'wait':
        this.wait(n);
        break;
      case 'pause':
        this.paused = this.#until(who, n);
        this.mute(null, this.paused);
        break;
      case 'quiet':
        this.quietUntil = this.#until(who, n);
        this.quiet(this.quietUntil);
        break;
      case 'mute':
        this.muted.set(p, this.#until(n % 3, n));
        this.mute(p, this.muted.get(p) ?? NEVER);
        break;
      case 'hide':
        if (n === 0) this.hidden.add(p);
        else this.hidden.delete(p);
        this.hide(p, n === 0);
        break;
      case 'restart':
        this.newRun();
        break;
      case 'break':
        this.broken = true;
        break;
      case 'mend':
        this.broken = false;
        this.input({ is: 'ready' });
        break;
      case 'close': {
        const key = [...this.screen.keys()][who];
        if (key === undefined) break;
        this.screen.delete(key);
        this.input({ is: 'closed', key, by: n === 0 ? 'person' : 'channel' });
        break;
      }
      case 'leave': {
        const cause = this.broken_.get(p);
        this.broken_.delete(p);
        this.facts({ is: 'left', at: this.at, persona: p });
        this.#mailAt.delete(`mail:${p}`); // who comes anew is somebody new
        this.#quietEnds();
        if (cause !== undefined) this.broken_.set(p, cause);
        this.join(p);
        this.forgetHealth(p);
        this.#shownWaits.delete(`${p} ${this.waits.get(p)}`);
        this.reportAgent(p);
      }
    }
    this.#quietEnds();
  }

  /** Says what the agent does, as the board does: at first that nothing is known. */
  reportAgent(p: string): void {
    const since = this.waits.get(p);
    if (since === undefined) this.agent(p, { is: 'idle' });
    else this.agent(p, { is: 'waiting', why: 'permission', since });
  }

  /** Everybody may be told of everything, and the desktop works. */
  endSilence(): void {
    this.paused = NEVER;
    this.quietUntil = NEVER;
    this.mute(null, NEVER);
    this.quiet(NEVER);
    for (const p of PERSONAS) {
      this.muted.delete(p);
      this.mute(p, NEVER);
    }
    this.broken = false;
    this.input({ is: 'ready' });
  }

  /** Causes for which somebody is down whom a person looks at. */
  causes(): Set<NotificationKey> {
    return new Set([...this.broken_].flatMap(([p, cause]) => (this.hidden.has(p) ? [] : [toOutageKey(cause)])));
  }

  /** `kill -9` and a new start: the board says the same again. */
  newRun(): void {
    this.restart();
    this.#ownBanners.length = 0;
    this.#mailAt.clear();
    this.screen.clear(); // a stop takes the banners down; after a kill the desktop lets them expire
    this.mute(null, this.paused);
    this.quiet(this.quietUntil);
    for (const [p, until] of this.muted) this.mute(p, until);
    for (const p of this.hidden) this.hide(p);
    this.join(...PERSONAS);
    this.ask(...this.open);
    for (const p of PERSONAS) {
      this.forgetHealth(p);
      this.agent(p, { is: 'unknown', why: 'not-reported' });
      this.reportAgent(p);
    }
  }

  desktopDrops(): void {
    for (const key of this.screen.keys()) this.input({ is: 'closed', key, by: 'channel' });
    this.screen.clear();
  }

  forgetHealth(p: string): void {
    const cause = this.broken_.get(p);
    if (cause !== undefined) {
      this.down(p, cause, cause === 'kijito' ? 'source' : 'persona');
      return;
    }
    this.poll(p, exactly(this.unread.get(p) ?? 0));
  }

  #mail(p: string, before: number, count: number, urgent: 0 | 1): void {
    this.unread.set(p, before + count);
    this.urgent.set(p, (this.urgent.get(p) ?? 0) + urgent);
    this.count(p, before + count, this.urgent.get(p) ?? 0);
    this.deliver(p, ...Array.from({ length: count }, () => 'text'));
  }

  /** Of every kind: low, normal and high, and who stands still until the answer. */
  #ask(persona: string, n: number): void {
    for (let i = 0; i <= n % 5; i += 1) {
      this.#lastDecision += 1;
      const urgency = (['low', 'normal', 'high'] as const)[this.#lastDecision % 3] ?? 'normal';
      this.open = [...this.open, createDecision(this.#lastDecision, { persona, urgency, blocking: n === 5 })];
    }
    this.ask(...this.open);
  }

  #checkDecision({ key, urgency, body }: Notification): void {
    const now = Object.values(this.state.asks).flatMap((ask) =>
      ask.kind === 'decision' && ask.announceState === 'handed' ? [ask] : [],
    );
    const about = now.filter(({ banner, id }) =>
      key === 'decisions' ? banner === 'crowd' : key === toDecisionKey(id),
    );
    assert.ok(about.length > 0, 'nothing is told again');
    for (const { id, persona } of about) {
      assert.ok(
        this.open.some((decision) => decision.id === id),
        'it is open',
      );
      assert.ok(!this.#isHushed(persona), 'nothing for muted or hidden personas');
      assert.ok(!this.#shownDecisions.has(id), 'it was not shown before');
      this.#shownDecisions.add(id);
      if (this.#lasts(this.quietUntil)) assert.equal(this.open.find((decision) => decision.id === id)?.urgency, 'high');
    }
    if (about.some(isPressing)) assert.equal(urgency, 'critical');
    if (key === 'decisions') {
      for (const p of PERSONAS) if (this.#isHushed(p)) assert.doesNotMatch(body, new RegExp(`\\b${p}\\b`));
      return;
    }
    const lately = this.#ownBanners.filter((at) => this.at - at < NOTIFY_RULES.crowdWithinMs);
    assert.ok(lately.length < NOTIFY_RULES.asksAbove, 'at most three in ten seconds');
    this.#ownBanners.push(this.at);
  }

  #checkWait({ key, body }: Notification): void {
    const about = Object.values(this.state.asks).filter(
      (ask) => ask.kind === 'wait' && ask.announceState === 'handed' && (key === 'waits') === (ask.banner === 'crowd'),
    );
    const named = key === 'waits' ? about : about.filter((ask) => ask.key === key);
    assert.ok(named.length > 0, 'nothing is told again');
    for (const { persona } of named) {
      assert.ok(this.waits.has(persona), 'it waits');
      assert.ok(!this.#isHushed(persona), 'nothing for muted or hidden personas');
      const wait = `${persona} ${this.waits.get(persona)}`;
      assert.ok(!this.#shownWaits.has(wait), 'it was not shown before');
      this.#shownWaits.add(wait);
    }
    if (key === 'waits') {
      for (const p of PERSONAS) if (this.#isHushed(p)) assert.doesNotMatch(body, new RegExp(`\\b${p}\\b`));
    }
  }

  #until(choice: number, seconds: number): Until {
    if (choice === 0) return { is: 'forever' };
    return choice === 1 ? NEVER : { is: 'at', at: this.at + seconds * 1000 };
  }

  #lasts(until: Until | undefined): boolean {
    return until?.is === 'forever' || (until?.is === 'at' && this.at < until.at);
  }

  #isHushed(p: string): boolean {
    return this.hidden.has(p) || this.#lasts(this.muted.get(p));
  }

  #check(banner: Notification): void {
    assert.ok(!this.#lasts(this.paused), 'nothing is shown while paused');
    if (this.#lasts(this.quietUntil)) {
      const may = banner.is === 'mail' || banner.is === 'decision' || banner.is === 'wait';
      assert.ok(may && this.rules.urgentBreaksQuiet, 'in quiet hours at most what is urgent');
      if (banner.is === 'mail') assert.match(banner.title, /urgent/);
    }
    if (banner.is === 'decision') this.#checkDecision(banner);
    else if (banner.is === 'wait') this.#checkWait(banner);
    else if (banner.is === 'mail') this.#checkMail(banner);
    else this.#checkEdge(banner);
  }

  #checkMail(banner: Notification): void {
    if (banner.opens.is === 'persona') {
      assert.notEqual(this.unread.get(banner.opens.persona) ?? 0, 0, 'nothing for read mail');
      assert.ok(!this.#isHushed(banner.opens.persona), 'nothing for muted or hidden personas');
    } else {
      for (const p of PERSONAS) if (this.#isHushed(p)) assert.doesNotMatch(banner.body, new RegExp(`\\b${p}\\b`));
    }
    const before = this.#mailAt.get(banner.key);
    assert.ok(before === undefined || this.at - before >= NOTIFY_RULES.bubbleEveryMs, 'at most one bubble in 30 s');
    this.#mailAt.set(banner.key, this.at);
    assert.notEqual(banner.urgency, 'critical');
  }

  #checkEdge(banner: Notification): void {
    const key = banner.key as `outage:${string}`;
    const isKnown = this.state.announced[key] !== undefined;
    const isAnnounced = this.#reported.get(key) === 'outage';
    assert.equal(isKnown, isAnnounced, 'what a person was told is what is remembered');
    const about = this.state.outages[key]?.handed ?? [];
    assert.ok(!about.some((p) => this.hidden.has(p)), 'nobody hidden is counted');
    assert.ok(about.length === 0 || !about.every((p) => this.#isHushed(p)), 'somebody may be heard');
    if (banner.is === 'recovery') {
      assert.ok(isAnnounced, 'a recovery follows an outage, once');
      assert.ok(!this.causes().has(key), 'nobody is down any more');
      this.#reported.delete(key);
    } else {
      assert.ok(this.causes().has(key), 'somebody is down');
      this.#reported.set(key, 'outage');
    }
    if (banner.is === 'recovery' || !isKnown) this.edges.push(`${this.at} ${banner.is} ${key}`);
  }

  /** An outage of which nobody is left, or nobody that is looked at, may end without a word: its banner is gone then. */
  #quietEnds(): void {
    for (const key of this.#reported.keys()) {
      if (key in this.state.announced) continue;
      assert.ok(!this.causes().has(key), `${key} is forgotten, and still down`);
      assert.ok(!this.screen.has(key), `${key} is forgotten, and its banner is there`);
      this.#reported.delete(key);
    }
  }
}

for (const urgentBreaksQuiet of [false, true]) {
  test(`over any history: edges alternate, nothing is shown to whom it may not be, nothing is lost (urgent mail ${urgentBreaksQuiet ? 'breaks' : 'keeps'} quiet hours)`, () => {
    const moves = fc.array(
      fc.oneof(...EVENTS, move(5, 50, 'wait'), move(1, 1, 'restart', 'break', 'mend'), move(1, 1, 'close', 'leave')),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(moves, (history) => {
        const scene = new CheckedScene();
        scene.rules = { ...NOTIFY_RULES, urgentBreaksQuiet };
        scene.join(...PERSONAS);
        for (const each of history) scene.play(each);
        if (scene.broken) scene.play({ is: 'mend', who: 0, n: 0 });
        scene.wait(70);
        for (const [key, banner] of scene.screen) {
          if (banner.is === 'outage') assert.ok(scene.causes().has(key), `${key} is not down any more, silence or not`);
        }
        scene.endSilence();
        scene.wait(200);
        assert.deepEqual(
          new Set(Object.keys(scene.state.announced)),
          scene.causes(),
          'in the end a person knows just what is down',
        );
        for (const p of PERSONAS) {
          if ((scene.unread.get(p) ?? 0) === 0 && !scene.broken_.has(p)) {
            assert.ok(!scene.screen.has(`mail:${p}`), 'what was read is gone');
          }
        }
        const open = scene.open.map(({ id }) => toDecisionKey(id));
        assert.deepEqual(
          new Set(Object.keys(scene.state.announcedDecisions)),
          new Set(open),
          'whoever may be told of a decision is, and what is closed is forgotten',
        );
        for (const [key, { is }] of scene.screen) {
          if (is === 'decision' && key !== 'decisions') assert.ok(open.includes(key as (typeof open)[number]), key);
        }
        if (open.length === 0) assert.ok(!scene.screen.has('decisions'), 'what was answered is gone');
        assert.deepEqual(
          new Set(Object.keys(scene.state.announcedWaits)),
          new Set([...scene.waits.keys()].map(toWaitKey)),
          'whoever may be told of a wait is, and what is over is forgotten',
        );
        for (const p of PERSONAS) if (!scene.waits.has(p)) assert.ok(!scene.screen.has(toWaitKey(p)), `${p} went on`);
        if (scene.waits.size === 0) assert.ok(!scene.screen.has('waits'), 'all went on');
        const before = scene.transcript.length;
        scene.wait(10_000);
        assert.equal(scene.transcript.length, before, 'and then there is silence');
      }),
      { numRuns: 400 },
    );
  });
}

test('S3: a restart at any point neither repeats nor loses an edge, whatever is muted, hidden, paused or quiet', () => {
  const steps = fc.array(fc.tuple(fc.oneof(...EVENTS), fc.boolean()), { maxLength: 30 });
  const playHistory = (history: readonly (readonly [Move, boolean])[], restarts: boolean): readonly string[] => {
    const scene = new CheckedScene();
    scene.join(...PERSONAS);
    for (const p of PERSONAS) scene.forgetHealth(p);
    for (const [step, isRestart] of history) {
      scene.play(step);
      scene.wait(40);
      // Either way the screen is empty afterwards, so that both go on from the same banners.
      if (isRestart && restarts) scene.newRun();
      else if (isRestart) scene.desktopDrops();
      scene.wait(40);
    }
    scene.endSilence();
    scene.wait(200);
    return scene.edges.sort(); // those of one moment are in no order
  };
  fc.assert(
    fc.property(steps, (history) => assert.deepEqual(playHistory(history, true), playHistory(history, false))),
    { numRuns: 200 },
  );
});
