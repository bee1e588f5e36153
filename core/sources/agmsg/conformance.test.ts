import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld, StoreFault } from '../../../test/conformance/source-rig.ts';
import { createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { createAgmsgHome } from '../../../test/kit/agmsg-store.ts';
import { describeTree } from '../../../test/kit/watched-tree.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createAgmsgSource } from './source.ts';

const TEAM = 'crew';

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const agmsg = createAgmsgHome();
  const { root, storePath } = agmsg;
  const { files, deny } = createGuardedFiles();
  let agents = ['ada', 'bo'];
  const away = agmsg.scratch.at('away.db');
  const writeTeam = (): void => agmsg.writeTeam(TEAM, agents);
  const toAgentName = (address: string): string => address.slice(TEAM.length + 1);
  writeTeam();

  /** Another file has the name of the store. */
  const replace = (bytes: () => Buffer): StoreFault => ({
    scope: 'source',
    break() {
      agmsg.close();
      const content = bytes();
      renameSync(storePath, away);
      writeFileSync(storePath, content);
    },
    mend() {
      rmSync(storePath);
      renameSync(away, storePath);
    },
  });

  return {
    addresses: [`${TEAM}/ada`, `${TEAM}/bo`],
    open: () =>
      createAgmsgSource({
        ...{ disk: { ...createRealDisk(silentLog), files }, clock, log: silentLog, env: {}, contentChars: 220 },
        ...{ findInstallations: () => [{ root, name: 'agmsg' }], askForStore: async () => null },
      }),
    send: (address, text) => void agmsg.send(TEAM, toAgentName(address), text),
    read: (address) => agmsg.readAll(TEAM, toAgentName(address)),
    // The scripts have the store open in this same process, in which all connections share the `-shm`.
    capture: () => describeTree(root, { ignoreShm: true }),
    fill(count) {
      agents = [...agents, ...Array.from({ length: count - 2 }, (_, n) => `agent-${n}`)];
      writeTeam();
      agmsg.run('BEGIN');
      for (const [n, agent] of agents.entries()) if (n % 25 === 0) agmsg.send(TEAM, agent, 'mail');
      agmsg.run('COMMIT');
    },
    remove() {
      agents = agents.filter((agent) => agent !== 'ada');
      writeTeam();
    },
    faults: {
      permission: { scope: 'source', break: () => deny(join(root, 'teams')), mend: () => deny() },
      'the store is damaged': replace(() => {
        const bytes = readFileSync(storePath);
        return Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xff)]);
      }),
      'the store is another database': replace(() => {
        const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
        const path = agmsg.scratch.at('other.db');
        rmSync(path, { force: true });
        const db = new DatabaseSync(path);
        db.exec('CREATE TABLE other (n INTEGER)');
        db.close();
        return readFileSync(path);
      }),
    },
    [Symbol.asyncDispose]: async () => agmsg[Symbol.dispose](),
  };
}

describeSource('agmsg', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  cannot: { wait: 'it reads files', seeHalf: 'a transaction is seen whole or not at all' },
  faults: ['the store is damaged', 'the store is another database'],
});
