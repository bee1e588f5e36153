import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld, StoreFault } from '../../../test/conformance/source-rig.ts';
import { fakeHive, type HiveFault } from '../../../test/kit/fake-hive.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createHttpHive, createKijitoSource, parseHiveUrl } from './index.ts';

const SCOPE = { is: 'source', key: 'kijito' } as const;
const TOKEN = 'first';

/** How the answers of a whole hive go wrong. */
const ANSWERS: Readonly<Record<string, HiveFault>> = {
  'the connection is reset': { is: 'reset' },
  'the answer ends too early': { is: 'truncated' },
  'the answer is no HTTP': { is: 'garbage' },
  'a chunk is none': { is: 'bad-chunk' },
  'the server fails': { is: 'status', status: 500 },
  'the server has nothing to say': { is: 'status', status: 204 },
  'it is somewhere else': { is: 'redirect', to: 'http://127.0.0.1:9/' },
  'the answer is a page for people': { is: 'body', body: '<html>Welcome</html>' },
  'the answer is empty': { is: 'body', body: '' },
  'the answer is no object': { is: 'body', body: '[]' },
  'the answer has no result': { is: 'body', body: '{}' },
  'the result is null': { is: 'body', body: '{"result":null}' },
};

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const hive = await fakeHive({ personas: ['ada', 'bo'], token: TOKEN, window: 2 });
  const inbox = { endpoint: 'inbox', persona: 'ada' } as const;
  const answers = Object.entries(ANSWERS).map(([name, fault]): readonly [string, StoreFault] => [
    name,
    { scope: 'source', break: () => hive.fail(fault), mend: () => hive.heal() },
  ]);
  return {
    addresses: ['ada', 'bo'],
    open() {
      const fetcher = createHttpClient({
        ...{ url: hive.url, policy: AS_WRITTEN, scope: SCOPE, userAgent: 'hivebar/0.0.0-test' },
        ...{ credential: { name: 'authorization', value: `Bearer ${TOKEN}` }, deadlineMs: 600_000 },
      });
      const client = createHttpHive({
        ...{ hive: parseHiveUrl(hive.url, SCOPE), fetcher, clock, contentChars: 220, longPoll: true },
        ...{ scope: SCOPE, log: silentLog },
      });
      return createKijitoSource({
        ...{ id: 'kijito', client, clock },
        members: { is: 'directory', prefix: '', reserved: [] },
      });
    },
    send: (address, text) => void hive.deliver(address, { content: text }),
    read: (address) => hive.markRead(address),
    capture: () => ({
      rows: structuredClone(['ada', 'bo'].map((persona) => hive.listRows(persona))),
      writes: hive.requests.filter(
        ({ method, endpoint, url }) => method !== 'GET' || (endpoint === 'inbox' && !url.includes('mark_read=false')),
      ),
    }),
    /** What is half there is the answer in which the message is. */
    async begin(address, text) {
      hive.deliver(address, { content: text });
      const url = `${hive.url}/api/inbox?persona=${address}&mark_read=false`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}`, connection: 'close' } });
      const body = Buffer.from(await answer.arrayBuffer());
      return {
        size: body.length,
        write: (size) => hive.fail({ is: 'body', body: body.subarray(0, size) }, inbox),
        finish: () => hive.heal(),
      };
    },
    fill(count) {
      for (let n = 2; n < count; n += 1) hive.addPersona(`agent-${n}`);
      hive.together(() => {
        for (let n = 25; n < count; n += 25) hive.deliver(`agent-${n}`);
      });
    },
    hang: () => hive.fail({ is: 'hang' }),
    faults: {
      ...Object.fromEntries(answers),
      permission: { scope: 'source', break: () => hive.setToken('second'), mend: () => hive.setToken(TOKEN) },
      'nobody listens': { scope: 'source', break: () => hive.refuse(), mend: () => hive.heal() },
      'one inbox is none': {
        scope: 'persona',
        break: () => hive.fail({ is: 'body', body: '{"result":7}' }, inbox),
        mend: () => hive.heal(),
      },
      'one inbox is not found': {
        scope: 'persona',
        break: () => hive.fail({ is: 'status', status: 404 }, inbox),
        mend: () => hive.heal(),
      },
    },
    [Symbol.asyncDispose]: () => hive[Symbol.asyncDispose](),
  };
}

describeSource('kijito', {
  ...{ evidence: 'log', members: 5000, wakes: 'held list', createWorld },
  cannot: { loseMember: 'a hive that leaves a persona out may only not list it' },
  faults: [...Object.keys(ANSWERS), 'nobody listens', 'one inbox is none', 'one inbox is not found'],
});
