import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { watchDirectories } from '../directories.node.ts';
import { createEngine } from './engine.ts';
import { createFileTransport } from './file.ts';
import { openExternalSource } from './source.ts';

interface Mail {
  readonly key: string;
  readonly text: string;
  state: 'unread' | 'read';
}

/** A source of the settings that is a file. Programs run through the same engine; `test/e2e/external.test.ts` runs some. */
async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const place = scratch();
  const path = place.at('store', 'mail.json');
  const away = place.at('away.json');
  const { files, deny } = createGuardedFiles();
  const disk = { ...createRealDisk(silentLog), files };
  const boxes = new Map<string, Mail[]>([
    ['ada', []],
    ['bo', []],
  ]);
  let count = 0;
  mkdirSync(place.at('store'));

  function write(): void {
    const lines = [...boxes].flatMap(([persona, mails]) => [
      { op: 'persona', persona },
      ...mails.map(({ key, text, state }) => ({ op: 'item', persona, key, state, from: 'cy', content: text })),
    ]);
    writeFileSync(`${path}.tmp`, JSON.stringify(lines));
    renameSync(`${path}.tmp`, path);
  }

  const find = (address: string): Mail[] => boxes.get(address) ?? [];
  write();
  return {
    addresses: ['ada', 'bo'],
    open() {
      const directories = watchDirectories({ clock, statOnly: false });
      const engine = createEngine({
        ...{ name: 'ext', setKey: path, everyMs: 30_000, stalledAfterMs: null, clock, log: silentLog },
        isUrlAllowed: () => true,
        createTransport: (listener) =>
          createFileTransport({
            ...{ name: 'ext', path, staleMs: null, contentChars: 220 },
            disk,
            clock,
            directories,
            listener,
          }),
        readMemory: () => null,
        draw: () => 0.5,
        positions: { read: () => null, save: async () => {} },
        reportFault: () => {},
        renamed: () => {},
      });
      const source = openExternalSource('ext', engine, false, silentLog);
      return {
        ...source,
        get kind() {
          return source.kind;
        },
        async [Symbol.asyncDispose]() {
          await source[Symbol.asyncDispose]();
          directories[Symbol.dispose]();
        },
      };
    },
    send(address, text) {
      count += 1;
      find(address).push({ key: `k${count}`, text, state: 'unread' });
      write();
    },
    read(address) {
      for (const mail of find(address)) mail.state = 'read';
      write();
    },
    capture: () => captureTree(place.at('store')),
    fill(members) {
      for (let n = 2; n < members; n += 1)
        boxes.set(`member${n}`, n % 25 === 0 ? [{ key: 'k', text: 'x', state: 'unread' }] : []);
      write();
    },
    remove() {
      boxes.delete('ada');
      write();
    },
    faults: {
      permission: { scope: 'source', break: () => deny(path), mend: () => deny() },
      'the file is gone': {
        scope: 'source',
        break: () => renameSync(path, away),
        mend: () => renameSync(away, path),
      },
      'the file is half written': {
        scope: 'source',
        break: () => writeFileSync(path, '[{"op":"persona","per'),
        mend: write,
      },
    },
    async [Symbol.asyncDispose]() {
      rmSync(away, { force: true });
      place[Symbol.dispose]();
    },
  };
}

describeSource('external', {
  ...{ evidence: 'set', members: 1000, wakes: 'hints', createWorld },
  cannot: {
    growTo5000: 'a source of the settings has at most 1,000 personas',
    seeHalf: 'a file counts as a whole or not at all, which is a fault of this rig',
    wait: 'it reads a file',
  },
  faults: ['the file is gone', 'the file is half written'],
});
