import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceRig, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createFlatLayout, createMailFolderSource, type MailLayout, maildirLayout } from './index.ts';

/** How the programs of a layout send and read. */
interface Store {
  readonly layout: MailLayout;
  /** The folders of a mailbox. */
  readonly parts: readonly string[];
  format(text: string): string;
  /** Where a message is written, and where it is then renamed to; the same for a file that is written in place. */
  toPaths(folder: string, n: number): readonly [string, string];
  read(folder: string): void;
}

const MAILDIR: Store = {
  layout: maildirLayout,
  parts: ['tmp', 'new', 'cur'],
  format: (text) => `From: Cy <cy@example.org>\nSubject: mail\n\n${text}\n`,
  toPaths(folder, n) {
    const name = `1750000000.M${String(n).padStart(6, '0')}P1.host`;
    return [join(folder, 'tmp', name), join(folder, 'new', name)];
  },
  read(folder) {
    for (const name of readdirSync(join(folder, 'new')))
      renameSync(join(folder, 'new', name), join(folder, 'cur', `${name}:2,S`));
  },
};

const FLAT: Store = {
  layout: createFlatLayout(() => null),
  parts: [],
  format: (text) => text,
  toPaths(folder, n) {
    const path = join(folder, `${String(n).padStart(6, '0')}.md`);
    return [path, path];
  },
  read(folder) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  },
};

async function createWorld(store: Store, clock: JumpingClock): Promise<SourceWorld> {
  const place = scratch();
  const root = place.at('mail');
  const away = place.at('away');
  const { files, deny } = createGuardedFiles();
  const addMember = (name: string): void => {
    for (const part of ['', ...store.parts]) mkdirSync(join(root, name, part), { recursive: true });
  };
  for (const name of ['ada', 'bo']) addMember(name);
  let count = 0;
  const start = (address: string, text: string) => {
    count += 1;
    const [first, last] = store.toPaths(join(root, address), count);
    const bytes = Buffer.from(store.format(text));
    const write = (size: number): void => writeFileSync(first, bytes.subarray(0, size));
    const finish = (): void => {
      write(bytes.length);
      if (first !== last) renameSync(first, last);
    };
    return { size: bytes.length, write, finish };
  };
  return {
    addresses: ['ada', 'bo'],
    open: () =>
      createMailFolderSource({
        ...{ id: 'mail', kind: 'mail', root, layout: store.layout, clock, log: silentLog, contentChars: 220 },
        disk: { ...createRealDisk(silentLog), files },
        toPersonaId: (address) => `mail-${address}`,
      }),
    send(address, text) {
      start(address, text).finish();
      if (!store.layout.isWhole) clock.jump(1000); // it stands still
    },
    read: (address) => store.read(join(root, address)),
    capture: () => captureTree(root),
    ...(store.layout.isWhole ? { begin: start } : {}),
    fill(members) {
      for (let n = 2; n < members; n += 1) addMember(`agent-${n}`);
      for (let n = 25; n < members; n += 25) start(`agent-${n}`, 'mail').finish();
    },
    remove: () => rmSync(join(root, 'ada'), { recursive: true }),
    faults: {
      permission: { scope: 'source', break: () => deny(root), mend: () => deny() },
      'the folder is gone': {
        scope: 'source',
        break: () => renameSync(root, away),
        mend: () => renameSync(away, root),
      },
      'the folder is a file': {
        scope: 'source',
        break() {
          renameSync(root, away);
          writeFileSync(root, 'no directory');
        },
        mend() {
          rmSync(root);
          renameSync(away, root);
        },
      },
      'one mailbox cannot be listed': {
        scope: 'persona',
        break: () => deny(join(root, 'ada', store.layout.arriving)),
        mend: () => deny(),
      },
    },
    [Symbol.asyncDispose]: async () => place[Symbol.dispose](),
  };
}

const toRig = (store: Store): SourceRig => ({
  ...{ evidence: 'set', members: 500, wakes: 'hints', createWorld: (clock) => createWorld(store, clock) },
  faults: ['the folder is gone', 'the folder is a file', 'one mailbox cannot be listed'],
  cannot: {
    wait: 'it reads files',
    growTo5000: 'the same reader is measured with queues of agents',
    ...(store.layout.isWhole
      ? {}
      : { seeHalf: 'a file that stands still counts as complete, which has tests of its own' }),
  },
});

describeSource('mail folders, as Maildirs', toRig(MAILDIR));
describeSource('mail folders, as plain files', toRig(FLAT));
