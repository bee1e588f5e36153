import { mkdirSync } from 'node:fs';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld, StoreFault } from '../../../test/conformance/source-rig.ts';
import { captureTree } from '../../../test/conformance/source-store.ts';
import { fakeAgentMail, PROJECT } from '../../../test/kit/fake-agent-mail.ts';
import type { HiveFault } from '../../../test/kit/fake-hive-faults.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { realFiles, silentLog } from '../../ports/index.ts';
import { createMailServer } from './server.ts';
import { watchSignals } from './signals.ts';
import { createAmailSource, type SavedAmail } from './source.ts';

const TOKEN = 'first';

/** How the answers of a server go wrong. */
const ANSWERS: Readonly<Record<string, HiveFault>> = {
  'the connection is reset': { is: 'reset' },
  'the answer ends too early': { is: 'truncated' },
  'the answer is no HTTP': { is: 'garbage' },
  'the server fails': { is: 'status', status: 500 },
  'the server has nothing to say': { is: 'status', status: 204 },
  'the routes are not there': { is: 'status', status: 404 },
  'it is somewhere else': { is: 'redirect', to: 'http://127.0.0.1:9/' },
  'the answer is a page for people': { is: 'body', body: '<html>Welcome</html>' },
  'the answer is empty': { is: 'body', body: '' },
  'the answer is no object': { is: 'body', body: '[]' },
  'the answer has no messages': { is: 'body', body: '{}' },
  'the messages are null': { is: 'body', body: '{"messages":null}' },
  'no message has an id': { is: 'body', body: '{"messages":[{"subject":"plan"}]}' },
};

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const home = scratch();
  const signals = home.at('signals');
  mkdirSync(home.at('signals', 'projects', PROJECT, 'agents'), { recursive: true });
  const server = await fakeAgentMail({ token: TOKEN, signals });
  for (const name of ['ada', 'bo']) server.addAgent(name);
  let saved: SavedAmail | null = null;
  const toName = (address: string): string => address.split('/')[1] ?? '';
  const answers = Object.entries(ANSWERS).map(([name, fault]): readonly [string, StoreFault] => [
    name,
    { scope: 'source', break: () => server.fail(fault), mend: () => server.heal() },
  ]);
  return {
    addresses: [`${PROJECT}/ada`, `${PROJECT}/bo`],
    open: () =>
      createAmailSource({
        server: createMailServer({
          fetcher: createHttpClient({
            ...{ url: server.url, policy: AS_WRITTEN, scope: { is: 'source', key: 'amail' } },
            ...{ userAgent: 'hivebar/0.0.0-test', accepts: [503], deadlineMs: 600_000 },
            credential: { name: 'authorization', value: `Bearer ${TOKEN}` },
          }),
          ...{ base: server.url, clock, log: silentLog, contentChars: 220 },
        }),
        ...{ base: server.url, clock },
        memory: {
          load: () => saved,
          save: (next) => {
            saved = next;
          },
        },
        watchSignals: (heard) => watchSignals(signals, { clock, files: realFiles }, heard),
      }),
    send: (address, text) => void server.deliver({ to: [toName(address)], body: text }),
    read: (address) => server.markRead(toName(address)),
    capture: () => ({
      mail: structuredClone(server.mail),
      violations: [...server.violations],
      signals: captureTree(home.dir),
    }),
    /** What is half there is the answer in which the message is. */
    begin(address, text) {
      server.deliver({ to: [toName(address)], body: text });
      const body = server.format();
      return {
        size: body.length,
        write: (size) => server.fail({ is: 'body', body: body.subarray(0, size) }, 'inbox'),
        finish: () => server.heal(),
      };
    },
    fill(count) {
      for (let n = 2; n < count; n += 1) server.addAgent(`agent-${n}`);
      for (let n = 25; n < count; n += 25) server.deliver({ to: [`agent-${n}`] });
    },
    remove: () => server.removeAgent('ada'),
    hang: () => server.fail({ is: 'hang' }),
    faults: {
      ...Object.fromEntries(answers),
      permission: { scope: 'source', break: () => server.setToken('second'), mend: () => server.setToken(TOKEN) },
      'nobody listens': { scope: 'source', break: () => server.refuse(), mend: () => server.heal() },
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

describeSource('amail', {
  ...{ evidence: 'log', members: 5000, wakes: 'hints', cannot: {}, createWorld },
  faults: [...Object.keys(ANSWERS), 'nobody listens'],
});
