import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { type AnnouncedAgent, createRegistrations, type Joiner, type PeerChange } from './index.ts';
import type { RegistrationsOptions } from './registrations.ts';
import { EXPIRE_MS } from './registrations.ts';

const ADA: Joiner = {
  kind: 'daemon',
  tenant: 'lab',
  identity: 'ada',
  address: 'ada',
  surface: 'claude-code',
  project: '/lab',
  machine: 'm1',
  version: '1',
};
const BO: Joiner = { ...ADA, identity: 'bo', address: 'bo' };
const SHIM: Joiner = { ...ADA, kind: 'agent', surface: 'codex' };

const session = (id: string, more: Partial<AnnouncedAgent> = {}): AnnouncedAgent => ({
  id,
  address: 'ada',
  surface: 'tmux',
  project: '/lab',
  since: 1,
  left: null,
  ...more,
});

function rig(expected: RegistrationsOptions['expected'] = []) {
  const clock = fakeClock();
  let ids = 0;
  const world: { sessions: readonly AnnouncedAgent[] } = { sessions: [] };
  const registrations = createRegistrations({
    clock,
    newId: () => `r${++ids}`,
    expected,
    sessions: (address) => world.sessions.filter((candidate) => address === null || candidate.address === address),
  });
  const reported = new Map<string, string[]>();
  const join = (joiner: Joiner): string | null => {
    const heard: string[] = [];
    const id = registrations.join(joiner, {
      tell: (change: PeerChange) =>
        heard.push(
          `${change.is} ${change.identity} ${change.surface}${change.is === 'peer_left' ? ` ${change.reason}` : ''}`,
        ),
      preempted: () => heard.push('preempted'),
    });
    if (id !== null) reported.set(id, heard);
    return id;
  };
  return {
    clock,
    world,
    registrations,
    join,
    joined: (joiner: Joiner): string => join(joiner) ?? assert.fail('it was sent away'),
    heardBy: (id: string) => reported.get(id)?.splice(0),
  };
}

describe('registrations', () => {
  test('one identity has one daemon; the second waits until the first is gone', () => {
    const { join, joined, registrations } = rig();
    const first = joined(ADA);
    assert.equal(join({ ...ADA, surface: 'codex' }), null);
    joined(BO);
    registrations.leave(first, 'lost');
    assert.notEqual(join(ADA), null);
    assert.deepEqual(
      registrations.connected().map(({ identity }) => identity),
      ['bo', 'ada'],
    );
  });

  test('an agent takes the place of the one before it on its surface, and of no other', () => {
    const { joined, registrations, heardBy } = rig();
    const first = joined(SHIM);
    joined({ ...SHIM, surface: 'claude-code' });
    joined(SHIM);
    assert.equal(heardBy(first)?.at(-1), 'preempted');
    assert.equal(registrations.connected().length, 2);
  });

  test('a heartbeat is kept while its registration is there', () => {
    const { joined, registrations } = rig();
    const id = joined(ADA);
    const heartbeat = { at: 5, seq: 1, fsm: 'CONNECTED', taxonomy: 'sleeping', pendingDepth: 0, drainAge: 3 };
    registrations.heard(id, heartbeat);
    registrations.heard('none', heartbeat);
    assert.deepEqual(registrations.connected()[0]?.heartbeat, heartbeat);
  });

  test('peers of a persona hear who joined it and who left, and why; others nothing', async () => {
    const { joined, registrations, heardBy, clock } = rig();
    const [ada, bo] = [joined(ADA), joined(BO)];
    const shim = joined(SHIM);
    assert.deepEqual(heardBy(ada), ['peer_joined ada codex']);
    registrations.leave(shim, 'wrap');
    assert.deepEqual(heardBy(ada), ['peer_left ada codex wrap']);
    const again = joined(SHIM);
    registrations.leave(again, 'lost');
    assert.deepEqual(heardBy(ada), ['peer_joined ada codex']);
    await clock.advance(EXPIRE_MS);
    assert.deepEqual(heardBy(ada), ['peer_left ada codex expire']);
    assert.deepEqual(heardBy(bo), []);
  });

  test('sessions that are announced, and end, in other processes are told at the next look', () => {
    const { joined, registrations, heardBy, world } = rig();
    world.sessions = [session('s1')];
    const ada = joined(ADA);
    registrations.refresh();
    assert.deepEqual(heardBy(ada), []);
    world.sessions = [session('s1'), session('s2', { since: 2 })];
    registrations.refresh();
    assert.deepEqual(heardBy(ada), ['peer_left ada tmux preempt', 'peer_joined ada tmux']);
    world.sessions = [session('s1'), session('s2', { since: 2 })].map((given) => ({
      ...given,
      left: { reason: 'wrap' as const, at: 3 },
    }));
    registrations.refresh();
    assert.deepEqual(heardBy(ada), ['peer_left ada tmux wrap']);
    assert.deepEqual(registrations.sessions(), []);
  });

  test('sessions are looked at with heartbeats too, but not with each of them', async () => {
    const { joined, registrations, heardBy, world, clock } = rig();
    const ada = joined(ADA);
    const beat = (): void =>
      registrations.heard(ada, { at: 5, seq: 1, fsm: 'CONNECTED', taxonomy: 'sleeping', pendingDepth: 0, drainAge: 3 });
    world.sessions = [session('s1')];
    beat();
    assert.deepEqual(heardBy(ada), []);
    await clock.advance(10_000);
    beat();
    assert.deepEqual(heardBy(ada), ['peer_joined ada tmux']);
  });

  test('ends with no timer left', async () => {
    const { joined, registrations, clock } = rig([ADA]);
    registrations.leave(joined(ADA), 'lost');
    registrations.leave(joined(BO), 'wrap');
    registrations[Symbol.dispose]();
    assert.equal(clock.waiting, 0);
  });
});

describe('the way to an address', () => {
  test('is not stale where nobody was ever known, nor while a daemon or an agent is there', () => {
    const { joined, registrations, world } = rig();
    assert.equal(registrations.stale('ada'), null);
    joined(ADA);
    assert.equal(registrations.stale('ada'), null);
    world.sessions = [session('s1', { address: 'bo' })];
    assert.equal(registrations.stale('bo'), null);
  });

  test('is stale at once when its persona was wrapped, with the reason and since when', () => {
    const { joined, registrations, clock } = rig();
    registrations.leave(joined(ADA), 'wrap');
    assert.deepEqual(registrations.stale('ada'), {
      kind: 'daemon',
      identity: 'ada',
      surface: 'claude-code',
      reason: 'wrap',
      since: clock.now(),
    });
    assert.equal(registrations.stale('bo'), null);
  });

  test('is stale when a daemon that was cut off did not come again for so long, and good again when it does', async () => {
    const { joined, registrations, clock } = rig();
    registrations.leave(joined(ADA), 'lost');
    await clock.advance(EXPIRE_MS - 1);
    assert.equal(registrations.stale('ada'), null);
    await clock.advance(1);
    assert.equal(registrations.stale('ada')?.reason, 'expire');
    joined(ADA);
    assert.equal(registrations.stale('ada'), null);
    await clock.advance(2 * EXPIRE_MS);
    assert.equal(registrations.stale('ada'), null);
  });

  test('holds after a start for those that are installed, as long as for one that was cut off', async () => {
    const { registrations, clock, world } = rig([ADA]);
    world.sessions = [session('s1', { left: { reason: 'wrap', at: 1 } })];
    assert.equal(registrations.stale('ada'), null);
    await clock.advance(EXPIRE_MS);
    assert.equal(registrations.stale('ada')?.kind, 'daemon');
  });

  test('is not stale for a session that is over while another goes on', () => {
    const { registrations, world } = rig();
    world.sessions = [session('s1', { left: { reason: 'wrap', at: 7 } })];
    assert.deepEqual(registrations.stale('ada'), {
      kind: 'agent',
      identity: 'ada',
      surface: 'tmux',
      reason: 'wrap',
      since: 7,
    });
    world.sessions = [...world.sessions, session('s2')];
    assert.equal(registrations.stale('ada'), null);
  });

  test('a daemon that comes on another surface takes its own place', async () => {
    const { joined, registrations, clock } = rig();
    registrations.leave(joined(ADA), 'lost');
    const again = joined({ ...ADA, surface: 'codex' });
    await clock.advance(EXPIRE_MS);
    assert.equal(registrations.stale('ada'), null);
    registrations.leave(again, 'wrap');
    assert.equal(registrations.stale('ada')?.surface, 'codex');
  });

  test('surfaces without end are forgotten, the newest last', () => {
    const { joined, registrations } = rig();
    for (let i = 0; i < 100; i += 1) registrations.leave(joined({ ...SHIM, surface: `s${i}` }), 'wrap');
    assert.equal(registrations.stale('ada')?.reason, 'wrap');
  });
});
