import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHello, openStream, type StreamClient } from './stream-client.ts';
import { until } from './until.ts';

/** One persona of an upstream, with the tokens of its daemon and of its surfaces. */
export interface SuitePersona {
  readonly tenant: string;
  readonly identity: string;
  /** As senders name it. */
  readonly address: string;
  readonly observe: string;
  readonly act: string;
}

/** Something that serves the five calls of the upstream contract. */
export interface UpstreamUnderTest extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly ada: SuitePersona;
  readonly bo: SuitePersona;
  /** So many signals come for a persona, from somebody who is not the test. */
  arrive(persona: SuitePersona, count: number): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * What every upstream of a persona daemon does (persona daemon, contract 2). It runs against the reference upstream of the tests
 * and against the real tray process, so that what holds with one holds with the other.
 */
export function upstreamSuite(name: string, start: () => Promise<UpstreamUnderTest>): void {
  describe(`the upstream contract: ${name}`, () => {
    let up: UpstreamUnderTest;
    before(async () => {
      up = await start();
    });
    after(() => up?.[Symbol.asyncDispose]());

    async function ask(token: string | null, method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
      const headers: Record<string, string> = { Connection: 'close' };
      if (token !== null) headers.Authorization = `Bearer ${token}`;
      if (body !== undefined) headers['Content-Type'] = 'application/json';
      const answer = await fetch(up.url + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Answer['body'] };
    }
    const peek = async (persona: SuitePersona): Promise<{ rev: number; count: number; oldest_at: string | null }> => {
      const { status, body } = await ask(persona.observe, 'GET', '/v1/signals/pending');
      assert.equal(status, 200);
      return body as { rev: number; count: number; oldest_at: string | null };
    };
    const drain = (token: string, max: number): Promise<Answer> =>
      ask(token, 'POST', '/v1/signals/pending/drain', { max });
    const idsIn = ({ body }: Answer): unknown[] => (body.items as { readonly id: unknown }[]).map(({ id }) => id);
    async function drainAll(persona: SuitePersona): Promise<unknown[]> {
      const ids: unknown[] = [];
      for (;;) {
        const answer = await drain(persona.act, 20);
        assert.equal(answer.status, 200);
        ids.push(...idsIn(answer));
        if (answer.body.remaining === 0) return ids;
      }
    }
    async function daemon(persona: SuitePersona): Promise<StreamClient> {
      const stream = openStream(up.url, { token: persona.observe });
      stream.send(createHello(persona));
      await stream.next('welcome');
      return stream;
    }
    /** Closed, and its registration over. */
    async function gone(stream: StreamClient): Promise<void> {
      const id = stream.listFrames('welcome')[0]?.registration_id;
      stream.socket.close();
      await stream.ended();
      for (;;) {
        const { body } = await ask(up.ada.observe, 'GET', '/v1/registrations');
        const rows = body.registrations as Readonly<Record<string, unknown>>[];
        if (!rows.some(({ registration_id }) => registration_id === id)) return;
      }
    }

    test('a peek says how much, since when and under which revision, and nothing else', async () => {
      await drainAll(up.ada);
      const before = await peek(up.ada);
      assert.deepEqual([before.count, before.oldest_at], [0, null]);
      await up.arrive(up.ada, 2);
      const now = await peek(up.ada);
      assert.deepEqual(Object.keys(now).toSorted(), ['count', 'oldest_at', 'rev']);
      assert.equal(now.count, 2);
      assert.ok(now.rev > before.rev, `${now.rev} after ${before.rev}`);
      assert.ok(Number.isFinite(Date.parse(now.oldest_at ?? '')));
      assert.deepEqual(await peek(up.ada), now, 'to peek changes nothing');
      assert.equal((await peek(up.bo)).count, 0, 'of another persona');
    });

    test('each call asks for a token, and for one that is known', async () => {
      for (const token of [null, 'f'.repeat(64)]) {
        assert.equal((await ask(token, 'GET', '/v1/signals/pending')).status, 401);
        assert.equal((await ask(token, 'GET', '/v1/registrations')).status, 401);
        assert.equal((await ask(token, 'POST', '/v1/signals/pending/drain', { max: 1 })).status, 401);
        const signal = { to: up.ada.address, from: up.bo.address, body: 'x' };
        assert.equal((await ask(token, 'POST', '/v1/signals', signal)).status, 401);
        using stream = openStream(up.url, { token });
        stream.send(createHello(up.ada));
        assert.equal(await stream.ended(), 4401);
      }
    });

    test('a welcome names the registration, how often to say that one lives, and the revision', async () => {
      using stream = openStream(up.url, { token: up.ada.observe });
      stream.send(createHello(up.ada));
      const welcome = await stream.next('welcome');
      assert.equal(stream.socket.protocol, 'signals.v1');
      assert.equal(typeof welcome.registration_id, 'string');
      assert.ok(Number(welcome.heartbeat_ms) > 0);
      assert.equal(welcome.rev, (await peek(up.ada)).rev);
      assert.deepEqual([welcome.tenant_id, welcome.identity], [up.ada.tenant, up.ada.identity]);
      await gone(stream);
    });

    test('what comes is told to its daemon, with a revision and nothing more, and to no other', async () => {
      using ada = await daemon(up.ada);
      using bo = await daemon(up.bo);
      const before = await peek(up.ada);
      await up.arrive(up.ada, 1);
      const reported = await ada.next('pending_changed');
      assert.deepEqual(Object.keys(reported).toSorted(), ['rev', 'type']);
      assert.ok(Number(reported.rev) > before.rev);
      assert.equal((await peek(up.ada)).rev, ada.listFrames('pending_changed').at(-1)?.rev);
      assert.deepEqual([bo.listFrames('pending_changed'), bo.listFrames('drained')], [[], []]);
      await gone(ada);
      await gone(bo);
    });

    test('a daemon may not drain: a doorbell is no acknowledgement', async () => {
      await up.arrive(up.ada, 1);
      const before = await peek(up.ada);
      assert.equal((await drain(up.ada.observe, 1)).status, 403);
      assert.deepEqual(await peek(up.ada), before);
    });

    test('a surface drains a part and then the rest; each is given once, and the daemon hears it', async () => {
      await drainAll(up.ada);
      using ada = await daemon(up.ada);
      await up.arrive(up.ada, 3);
      await until('all three', () => ada.listFrames('pending_changed').length > 0);
      const first = await drain(up.ada.act, 2);
      assert.deepEqual([idsIn(first).length, first.body.remaining], [2, 1]);
      const reported = await ada.next('drained');
      assert.deepEqual(Object.keys(reported).toSorted(), ['remaining', 'rev', 'type']);
      assert.equal(reported.remaining, 1);
      assert.ok(Number(reported.rev) >= Number(first.body.rev));
      const rest = await drain(up.ada.act, 20);
      assert.deepEqual([idsIn(rest).length, rest.body.remaining], [1, 0]);
      assert.equal((await ada.next('drained')).remaining, 0);
      assert.equal(new Set([...idsIn(first), ...idsIn(rest)]).size, 3);
      assert.equal((await peek(up.ada)).count, 0);
      assert.deepEqual(idsIn(await drain(up.ada.act, 20)), []);
      await gone(ada);
    });

    test('whoever acts may send; what was accepted is drained once, and a daemon may not speak', async () => {
      await drainAll(up.ada);
      const signal = { to: up.ada.address, from: up.bo.address, body: 'the build is green', urgent: true };
      assert.equal((await ask(up.bo.observe, 'POST', '/v1/signals', signal)).status, 403);
      const sent = await ask(up.bo.act, 'POST', '/v1/signals', signal);
      assert.equal(sent.status, 202);
      assert.notEqual(sent.body.id, undefined);
      const { body } = await drain(up.ada.act, 20);
      const [item] = body.items as { readonly id: unknown; readonly from: unknown; readonly body: unknown }[];
      assert.deepEqual([item?.id, item?.from, item?.body], [sent.body.id, up.bo.address, 'the build is green']);
    });

    test('daemons are registered as what they are, apart from agents, and never to be master', async () => {
      using _ada = await daemon(up.ada);
      using agent = openStream(up.url, { token: up.bo.act });
      agent.send(createHello(up.bo, { kind: 'agent' }));
      await agent.next('welcome');
      const { status, body } = await ask(up.ada.observe, 'GET', '/v1/registrations');
      assert.equal(status, 200);
      const rows = body.registrations as Readonly<Record<string, unknown>>[];
      const kinds = rows.map(({ identity, kind, master_eligible }) => [identity, kind, master_eligible]);
      assert.deepEqual(kinds.toSorted(), [
        [up.ada.identity, 'daemon', false],
        [up.bo.identity, 'agent', true],
      ]);
      assert.deepEqual(body.counts, { daemon: 1, agent: 1 });
      await gone(_ada);
      await gone(agent);
    });

    test('a token registers what it is for, and its own persona alone', async () => {
      for (const [token, hello] of [
        [up.ada.observe, createHello(up.ada, { kind: 'agent' })],
        [up.ada.act, createHello(up.ada)],
        [up.ada.observe, createHello(up.bo)],
      ] as const) {
        using stream = openStream(up.url, { token });
        stream.send(hello);
        assert.equal(await stream.ended(), 4403, JSON.stringify(hello));
        assert.deepEqual(stream.frames, []);
      }
    });

    test('a second daemon of one identity is sent away, and the first goes on', async () => {
      using first = await daemon(up.ada);
      using second = openStream(up.url, { token: up.ada.observe });
      second.send(createHello(up.ada));
      assert.equal(await second.ended(), 4409);
      await up.arrive(up.ada, 1);
      await first.next('pending_changed');
      await gone(first);
      using third = await daemon(up.ada);
      await gone(third);
    });

    test('heartbeats are kept; frames of a later version are passed over', async () => {
      using ada = await daemon(up.ada);
      ada.send({ type: 'of_tomorrow', rev: 7 });
      ada.send({ type: 'heartbeat', seq: 3, fsm: 'CONNECTED', taxonomy: 'sleeping', pending_depth: 2, drain_age_s: 5 });
      let row: Readonly<Record<string, unknown>> | undefined;
      for (let heard = null; heard === null; ) {
        const { body } = await ask(up.ada.observe, 'GET', '/v1/registrations');
        row = (body.registrations as Readonly<Record<string, unknown>>[])[0];
        heard = row?.heartbeat as null;
      }
      const { at, ...fields } = (row?.heartbeat ?? {}) as Readonly<Record<string, unknown>>;
      assert.ok(Number.isFinite(Date.parse(String(at))));
      assert.deepEqual(fields, { seq: 3, fsm: 'CONNECTED', taxonomy: 'sleeping', pending_depth: 2, drain_age_s: 5 });
      assert.equal(ada.socket.readyState, ada.socket.OPEN);
      await gone(ada);
    });

    test('a frame over 64 KiB closes the stream', async () => {
      using ada = await daemon(up.ada);
      ada.send(JSON.stringify({ type: 'heartbeat', of: 'x'.repeat(64 * 1024) }));
      assert.equal(await ada.ended(), 1009);
    });

    test('the revision never goes back, whatever comes and is drained', async () => {
      const revs = [(await peek(up.ada)).rev];
      for (let i = 0; i < 3; i += 1) {
        await up.arrive(up.ada, 2);
        revs.push((await peek(up.ada)).rev);
        await drainAll(up.ada);
        revs.push((await peek(up.ada)).rev);
      }
      assert.deepEqual(
        revs,
        revs.toSorted((a, b) => a - b),
      );
    });
  });
}
