import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { createExport } from '../../../test/kit/daemon-export.ts';
import { configIn, linkIn, notingHandlers, placesIn, STATUS } from '../../../test/kit/daemon-link.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { askDaemon, type ControlSocket } from '../../link/index.ts';
import { Fault } from '../../model/index.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { isAlive } from './own-places.node.ts';
import { createDaemonSource } from './source.ts';

type Name = 'ada' | 'bo';

/** Two daemons that run, each with a control socket of its own. */
async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const home = scratch();
  const daemons = home.at('daemons');
  const { files, deny } = createGuardedFiles();
  const counts: Record<Name, number> = { ada: 0, bo: 0 };
  const sockets = new Map<Name, ControlSocket>();
  let isHanging = false;
  const start = async (name: Name): Promise<void> => {
    const status = () => ({ ...STATUS, identity: name, pending: { count: counts[name], rev: 1, fresh: true } });
    sockets.set(name, await linkIn(home.dir, notingHandlers({ status }).handlers, name));
  };
  const toName = (address: string): Name => (address === 'acme-ada' ? 'ada' : 'bo');
  const setCount = (address: string, count: number): void => {
    const name = toName(address);
    counts[name] = count;
    writeFileSync(placesIn(home.dir, 'acme', name).metrics, createExport('acme', name, { depth: count }), {
      mode: 0o600,
    });
  };
  for (const name of ['ada', 'bo'] as const) {
    configIn(home.dir, { identity: name, address: name });
    await start(name);
  }
  const config = join(daemons, 'acme-ada', 'daemon.json');
  const away = home.at('away');
  return {
    addresses: ['acme-ada', 'acme-bo'],
    open: () =>
      createDaemonSource({
        ...{ daemons, machineId: 'machine', isAlive, onStatus: () => {}, clock, log: silentLog },
        disk: { ...createRealDisk(silentLog), files },
        findPlaces: ({ tenant, identity }) => placesIn(home.dir, tenant, identity),
        async ask(places, signal) {
          if (isHanging)
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
          if (places.name.startsWith('acme-agent')) return STATUS; // one of very many
          const reply = await askDaemon(places, { verb: 'status' }, { timeoutMs: 5000, signal });
          if (reply.is === 'answered') return reply.answer;
          throw new Fault('daemon-gone', `${places.name} is ${reply.is}`, { is: 'persona', key: places.name });
        },
      }),
    send: (address) => setCount(address, counts[toName(address)] + 1),
    read: (address) => setCount(address, 0),
    capture: () => captureTree(home.dir),
    /** What is half there is the configuration, which is written anew while a signal comes. */
    begin(address) {
      const bytes = readFileSync(config);
      return {
        size: bytes.length,
        write: (size) => writeFileSync(config, bytes.subarray(0, size)),
        finish() {
          writeFileSync(config, bytes);
          setCount(address, counts.ada + 1);
        },
      };
    },
    fill(count) {
      const text = readFileSync(config, 'utf8');
      for (let n = 2; n < count; n += 1) {
        const directory = join(daemons, `acme-agent-${n}`);
        mkdirSync(directory, { mode: 0o700 });
        writeFileSync(join(directory, 'daemon.json'), text.replaceAll('"ada"', `"agent-${n}"`), { mode: 0o600 });
      }
    },
    remove: () => rmSync(dirname(config), { recursive: true }),
    hang() {
      isHanging = true;
    },
    faults: {
      permission: { scope: 'source', break: () => deny(daemons), mend: () => deny() },
      'the directory of all daemons is a file': {
        scope: 'source',
        break() {
          renameSync(daemons, away);
          writeFileSync(daemons, 'no directory');
        },
        mend() {
          rmSync(daemons);
          renameSync(away, daemons);
        },
      },
      'one configuration cannot be opened': {
        scope: 'persona',
        break: () => deny(dirname(config)),
        mend: () => deny(),
      },
      'one configuration is broken': {
        scope: 'persona',
        break() {
          renameSync(config, away);
          writeFileSync(config, '{"tenant":"acme"}', { mode: 0o600 });
        },
        mend: () => renameSync(away, config),
      },
      'one process ended': {
        scope: 'persona',
        async break() {
          await sockets.get('ada')?.[Symbol.asyncDispose]();
        },
        mend: () => start('ada'),
      },
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.values()) await socket[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

describeSource('daemon', {
  ...{ evidence: 'level', members: 5000, wakes: 'hints', cannot: {}, createWorld },
  faults: [
    'the directory of all daemons is a file',
    'one configuration cannot be opened',
    'one configuration is broken',
    'one process ended',
  ],
});
