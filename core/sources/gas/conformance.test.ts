import { chmodSync, readFileSync } from 'node:fs';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld, StoreFault } from '../../../test/conformance/source-rig.ts';
import { type CityFault, fakeSupervisor, sendMail } from '../../../test/kit/fake-gas-city.ts';
import { fakeTown } from '../../../test/kit/fake-gas-town.ts';
import { AS_WRITTEN, createHttpClient } from '../../net/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { runProgram } from '../run-program.node.ts';
import { createCityClient } from './city-client.ts';
import { createCitySource } from './city-source.ts';
import { createTownSource } from './town-source.ts';

/** How the answers of a whole city go wrong. */
const ANSWERS: Readonly<Record<string, CityFault>> = {
  permission: { is: 'status', status: 403 },
  'the connection is reset': { is: 'reset' },
  'the server fails': { is: 'status', status: 500 },
  'the city is not there': { is: 'status', status: 404 },
  'a rig fails': { is: 'rig', rig: 'web' },
  'a part of the mail is left out': { is: 'partial', errors: ['web: store is gone'] },
  'the answer is a page for people': { is: 'body', body: '<html>Welcome</html>' },
  'the answer is empty': { is: 'body', body: '' },
  'the answer has no items': { is: 'body', body: '{}' },
  'the items are null': { is: 'body', body: '{"items":null,"total":0}' },
};

async function createCityWorld(clock: JumpingClock): Promise<SourceWorld> {
  const supervisor = await fakeSupervisor();
  const city = supervisor.addCity('mytown', '', ['hq', 'web']);
  for (const alias of ['ada', 'bo']) city.sessions.push({ alias, id: `s-${alias}`, state: 'active' });
  const answers = Object.entries(ANSWERS).map(([name, fault]): readonly [string, StoreFault] => [
    name,
    {
      scope: 'source',
      break() {
        city.fault = fault;
      },
      mend() {
        city.fault = null;
      },
    },
  ]);
  return {
    addresses: ['ada', 'bo'],
    open() {
      const scope = { is: 'source', key: 'gas:mytown' } as const;
      const http = createHttpClient({
        ...{ url: supervisor.url, policy: AS_WRITTEN, scope, userAgent: 'hivebar/0.0.0-test', credential: null },
        deadlineMs: 600_000,
      });
      const source = createCitySource({
        ...{ name: 'mytown', path: '', clock, log: silentLog, disk: createRealDisk(silentLog), contentChars: 220 },
        client: createCityClient(http, supervisor.url, 'mytown', scope),
        ...{ isRunning: () => true, reset: () => http.reset(), retentionMs: 0 },
      });
      return {
        ...source,
        async [Symbol.asyncDispose]() {
          await source[Symbol.asyncDispose]();
          await http[Symbol.asyncDispose]();
        },
      };
    },
    send: (address, text) => void sendMail(city, address, text),
    read(address) {
      for (const message of city.messages) if (message.to === address) message.read = true;
      city.touch();
    },
    capture: () => ({
      mail: structuredClone(city.messages),
      writes: supervisor.requests.filter((line) => !line.startsWith('GET ') || line.includes('/read')),
    }),
    /** What is half there is the answer in which the message is. */
    async begin(address, text) {
      sendMail(city, address, text);
      const answer = await fetch(`${supervisor.url}/v0/city/mytown/mail?status=unread&limit=1000`);
      const body = Buffer.from(await answer.arrayBuffer());
      return {
        size: body.length,
        write(size) {
          city.fault = { is: 'body', body: body.subarray(0, size) };
        },
        finish() {
          city.fault = null;
        },
      };
    },
    fill(count) {
      for (let n = 3; n < count; n += 1) {
        city.sessions.push({ alias: `agent-${n}`, id: `s-${n}`, state: 'active' });
        if (n % 25 === 0) sendMail(city, `agent-${n}`, 'mail');
      }
    },
    remove() {
      city.sessions.shift();
      for (const message of city.messages) if (message.to === 'ada') message.read = true;
      city.touch();
    },
    hang() {
      city.fault = { is: 'hang' };
    },
    faults: {
      ...Object.fromEntries(answers),
      'nobody listens': { scope: 'source', break: supervisor.refuse, mend: supervisor.heal },
    },
    [Symbol.asyncDispose]: () => supervisor[Symbol.asyncDispose](),
  };
}

describeSource('gas', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld: createCityWorld, cannot: {} },
  faults: [...Object.keys(ANSWERS).filter((name) => name !== 'permission'), 'nobody listens'],
});

async function createTownWorld(clock: JumpingClock): Promise<SourceWorld> {
  const town = fakeTown();
  const breakBd = (how: string): StoreFault => ({
    scope: 'source',
    break: () => town.fail(how),
    mend: () => town.fail(null),
  });
  for (const address of ['ada', 'bo']) town.send(address, 'from before', { isRead: true });
  return {
    addresses: ['ada', 'bo'],
    open: () =>
      createTownSource({
        ...{ town: town.dir, clock, log: silentLog, contentChars: 220, everyMs: 25, validMs: 0, retentionMs: 0 },
        runBd: (args, signal) =>
          runProgram({ file: town.bd, args, cwd: town.dir, env: town.env, timeoutMs: 600_000 }, signal),
      }),
    send: (address, text) => void town.send(address, text),
    read: (address) => town.readAll(address),
    capture: () => ({
      store: readFileSync(town.store, 'utf8'),
      writes: town.calls().filter((call) => !/^bd (?:list|sql) .*--json/.test(call)),
    }),
    fill(count) {
      for (let n = 3; n < count; n += 1) town.send(`agent-${n}`, 'mail', { isRead: n % 5 !== 0 });
    },
    remove: () => town.remove('ada'),
    hang: () => town.fail('hang'),
    faults: {
      permission: {
        scope: 'source',
        break: () => chmodSync(town.bd, 0o600),
        mend: () => chmodSync(town.bd, 0o700),
      },
      'bd ends with 1': breakBd('exit 1'),
      'bd writes a text': breakBd('text'),
      'bd is gone': {
        scope: 'source',
        break: () => town.hide(),
        mend: () => town.show(),
      },
    },
    [Symbol.asyncDispose]: async () => town[Symbol.dispose](),
  };
}

describeSource('gas town', {
  ...{ evidence: 'set', members: 60, wakes: 'hints', createWorld: createTownWorld },
  cannot: {
    growTo5000: 'each look is two processes that write the mail of the whole town',
    seeHalf: 'what bd wrote counts when it has ended',
  },
  faults: ['bd ends with 1', 'bd writes a text', 'bd is gone'],
});
