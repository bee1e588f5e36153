import assert from 'node:assert/strict';
import type { Notification, NotificationKey } from '../../app/notify/channels/index.ts';
import { decide, type PolicyInput, type PolicyOutcome } from '../../app/notify/policy.ts';
import type { SavedAnnouncements } from '../../app/notify/state.ts';
import { createPolicyState, NOTIFY_RULES } from '../../app/notify/state.ts';
import type { Fact, OpenDecision, Until } from '../../core/board/index.ts';
import type { MailEvent } from '../../core/events/index.ts';
import { type AgentState, type Count, exactly, Fault, type Instant } from '../../core/model/index.ts';

const AGENT_STATE = { is: 'unknown', why: 'not-reported' } as const;
/** A round start time, so that a transcript shows the seconds since then. */
const T0: Instant = 1_000_000_000;

/** Simulates a desktop that accepts every banner unless it is `broken`, and a clock that ticks when the policy requested it. */
export class Scene {
  at = T0;
  rules = NOTIFY_RULES;
  state = createPolicyState({ outages: {}, decisions: {}, waits: {} });
  readonly screen = new Map<NotificationKey, Notification>();
  readonly transcript: string[] = [];
  broken = false;
  #wakeAt: Instant | null = null;
  #id = 0;

  input(input: { readonly [K in string]: unknown } & { is: PolicyInput['is'] }): void {
    this.#apply(decide(this.state, { at: this.at, ...input } as PolicyInput, this.rules));
  }

  facts(...facts: Fact[]): void {
    this.input({ is: 'facts', facts });
  }

  /** Lets time pass, with a tick whenever the policy requested one. */
  wait(seconds: number): void {
    const end = this.at + seconds * 1000;
    while (this.#wakeAt !== null && this.#wakeAt <= end) {
      assert.ok(this.#wakeAt > this.at, 'the policy asks for a tick in the past');
      this.at = this.#wakeAt;
      this.#wakeAt = null;
      this.input({ is: 'tick' });
    }
    this.at = end;
  }

  /** Simulates `kill -9` and a new start: only the announcements and the screen remain. */
  restart(): void {
    const { announced: outages, announcedDecisions: decisions, announcedWaits: waits } = this.state;
    const saved: SavedAnnouncements = { outages, decisions, waits };
    this.state = createPolicyState(JSON.parse(JSON.stringify(saved)) as SavedAnnouncements);
    this.#wakeAt = null;
  }

  join(...personas: string[]): void {
    this.facts(...personas.map((p) => createJoinedFact(p, this.at)));
  }

  poll(persona: string, unread: Count = exactly(0)): void {
    this.facts(createPolledFact(persona, this.at, unread));
  }

  /** Reports mail as the tray process does: first the counts, then the events. */
  mail(persona: string, unread: number, ...news: (string | Partial<MailEvent>)[]): void {
    this.poll(persona, exactly(unread));
    this.deliver(persona, ...news);
  }

  deliver(persona: string, ...news: (string | Partial<MailEvent>)[]): void {
    this.facts(this.createDelivery(persona, ...news));
  }

  createDelivery(persona: string, ...news: (string | Partial<MailEvent>)[]): Fact {
    const events = news.map((n) => {
      this.#id += 1;
      const part = typeof n === 'string' ? { content: n } : n;
      return createNewEvent(persona, this.#id, part);
    });
    return { is: 'delivered', at: this.at, persona, events };
  }

  down(persona: string, key = 'kijito', scope: 'persona' | 'source' | 'machine' = 'source'): void {
    this.facts(createFailedFact(persona, this.at, key, scope));
  }

  mute(persona: string | null, until: Until): void {
    this.facts({ is: 'muted', at: this.at, persona, until });
  }

  hide(persona: string, hidden = true): void {
    this.facts({ is: 'hidden', at: this.at, persona, hidden });
  }

  /** Reports the list of all open decisions. */
  ask(...decisions: OpenDecision[]): void {
    this.facts({ is: 'decisions', at: this.at, decisions });
  }

  /** Reports what an agent does, as the board chose it. */
  agent(persona: string, state: AgentState): void {
    this.input({ is: 'facts', facts: [], agents: [{ persona, state }] });
  }

  quiet(until: Until): void {
    this.facts({ is: 'quiet', at: this.at, on: true, until });
  }

  /** Reports counts as the pending list does: `urgent` of the unread are urgent. */
  count(persona: string, unread: number, urgent: number): void {
    this.facts({ is: 'counted', at: this.at, counts: [{ persona, unread: exactly(unread), urgent: exactly(urgent) }] });
  }

  #apply(decision: PolicyOutcome): void {
    if (Object.keys(decision.state.personas).length < 10) {
      assert.deepEqual(JSON.parse(JSON.stringify(decision.state)), decision.state, 'the state survives JSON');
    }
    this.state = decision.state;
    this.#wakeAt = decision.wakeAt;
    for (const key of decision.withdraw) {
      this.#say(`withdraw ${key}`);
      this.screen.delete(key);
    }
    for (const banner of decision.show) {
      if (this.broken) {
        this.#say(`refused ${banner.key}`);
        this.input({ is: 'refused', notification: banner });
        continue;
      }
      const { key, urgency, title, body } = banner;
      this.#say(`${this.screen.has(key) ? 'replace' : 'show'} [${urgency}] ${title} | ${body}`);
      this.screen.set(key, banner);
      this.input({ is: 'shown', notification: banner });
    }
  }

  #say(line: string): void {
    this.transcript.push(`${((this.at - T0) / 1000).toFixed(0)}s ${line}`);
  }
}

/** The banner of one new message to ada. */
export function createBanner(changes: Partial<Notification> = {}): Notification {
  const opens = { is: 'persona', persona: 'ada' } as const;
  return {
    key: 'mail:ada',
    is: 'mail',
    title: 'ada: 1 new',
    body: 'bob: hi',
    urgency: 'normal',
    opens,
    buttons: [],
    ...changes,
  };
}

export function createJoinedFact(persona: string, at: Instant, source = 'kijito'): Extract<Fact, { is: 'joined' }> {
  const stem = persona;
  return {
    is: 'joined',
    at,
    persona,
    source,
    address: persona,
    label: persona,
    stem,
    eventsFile: null,
    lastEventId: null,
    staleAfterMs: 1,
  };
}

export function createPolledFact(persona: string, at: Instant, unread: Count): Fact {
  const health = { is: 'up', since: at } as const;
  return { is: 'polled', at, persona, health, unread, urgent: exactly(0), agentState: AGENT_STATE, cursor: 0 };
}

export function createFailedFact(
  persona: string,
  at: Instant,
  key: string,
  scope: 'persona' | 'source' | 'machine',
): Fact {
  const fault = new Fault('refused', `http://127.0.0.1:7474 refused the connection`, { is: scope, key });
  return { is: 'failed', at, persona, health: { is: 'down', since: at, failures: 3, why: 'refused' }, fault };
}

/** Creates a question of ada with two options. */
export function createDecision(id: number, changes: Partial<OpenDecision> = {}): OpenDecision {
  return {
    id,
    persona: 'ada',
    prompt: `Question ${id}?`,
    context: null,
    options: [
      { id: 'yes', short: 'Merge', label: 'Merge it now' },
      { id: 'no', short: 'Wait', label: 'Wait for the build' },
    ],
    freeText: false,
    fallback: null,
    urgency: 'normal',
    blocking: false,
    created: T0 + id,
    expires: null,
    ...changes,
  };
}

export function createNewEvent(persona: string, id: number, part: Partial<MailEvent>): MailEvent {
  return {
    event: 'new',
    source: 'kijito-inbox',
    ts: '',
    persona,
    event_id: `${persona}:new:${id}`,
    wake_class: 'mail',
    id,
    from: 'bob',
    created: '',
    ...part,
  };
}

/** The text for a person when the hive of `down` refuses connections. */
export const REFUSED = 'http://127.0.0.1:7474 refused the connection: check that the server is running at that address';
