import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld, StoreFault } from '../../../test/conformance/source-rig.ts';
import { createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { createCodexHome } from '../../../test/kit/codex-queue.ts';
import { describeTree } from '../../../test/kit/watched-tree.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { Source } from '../source.ts';
import { createCodexSource } from './source.ts';

const TABLES = ['queued_items', 'queued_thread_revisions'];

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const codex = createCodexHome();
  const { home, queuePath } = codex;
  const { files, deny } = createGuardedFiles();
  const addresses = [codex.addThread('ada'), codex.addThread('bo')] as const;
  const away = codex.scratch.at('away.sqlite');
  let isBroken = false;

  function createSource(): Source {
    return createCodexSource({
      ...{ home, disk: { ...createRealDisk(silentLog), files }, clock, log: silentLog, contentChars: 220 },
      ...{ put: () => {}, findSessionPersona: () => null, readLockTable: () => '' },
    });
  }

  /** A thread without a message is a persona only if it had one since the start, so each has one at first. */
  async function seeThreads(source: Source): Promise<void> {
    const [first, second] = addresses.map((address) => codex.enqueue(address, 'taken at once'));
    await source.personas(new AbortController().signal);
    for (const id of [first, second]) codex.run('DELETE FROM queued_items WHERE id = ?', id ?? '');
  }

  /** Codex ended, and another file has the name of its queue. */
  const replace = (bytes: () => Buffer): StoreFault => ({
    scope: 'source',
    break() {
      codex.close();
      const content = bytes();
      renameSync(queuePath, away);
      writeFileSync(queuePath, content);
      isBroken = true;
    },
    mend() {
      rmSync(queuePath);
      renameSync(away, queuePath);
      isBroken = false;
    },
  });

  return {
    addresses,
    open() {
      const source = createSource();
      let isFirst = !isBroken;
      return {
        ...source,
        async personas(signal) {
          if (isFirst) await seeThreads(source);
          isFirst = false;
          return await source.personas(signal);
        },
      };
    },
    send: (address, text) => void codex.enqueue(address, text),
    read: codex.takeAll,
    // Codex has its databases open in this same process, in which all connections share the `-shm`.
    capture: () => describeTree(home, { ignoreShm: true }),
    fill(count) {
      codex.run('BEGIN');
      for (const address of addresses) codex.enqueue(address, 'mail');
      for (let n = 2; n < count; n += 1) codex.enqueue(codex.addThread(`thread-${n}`), 'mail');
      codex.run('COMMIT');
    },
    remove: () => codex.removeThread(addresses[0]),
    faults: {
      permission: {
        scope: 'source',
        break() {
          isBroken = true;
          deny(home);
        },
        mend() {
          isBroken = false;
          deny();
        },
      },
      'the queue is damaged': replace(() => {
        const bytes = readFileSync(queuePath);
        return Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xff)]);
      }),
      'the queue has lost its tables': replace(() => {
        const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
        const path = join(codex.scratch.dir, 'empty.sqlite');
        rmSync(path, { force: true });
        const db = new DatabaseSync(path);
        db.exec('CREATE TABLE other (n INTEGER)');
        for (const table of TABLES) db.exec(`DROP TABLE IF EXISTS ${table}`);
        db.close();
        return readFileSync(path);
      }),
    },
    [Symbol.asyncDispose]: async () => codex[Symbol.dispose](),
  };
}

describeSource('codex', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  cannot: { wait: 'it reads files', seeHalf: 'a transaction is seen whole or not at all' },
  faults: ['the queue is damaged', 'the queue has lost its tables'],
});
