import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createSpoolSource } from './source.ts';

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const place = scratch();
  const folder = place.at('mail');
  const away = place.at('away');
  const { files, deny } = createGuardedFiles();
  const addMember = (name: string): void => {
    for (const part of ['tmp', 'new', 'cur']) mkdirSync(join(folder, name, part), { recursive: true });
  };
  for (const name of ['ada', 'bo']) addMember(name);
  let count = 0;
  const createMessage = (address: string, text: string) => {
    count += 1;
    const name = `1750000000.M${String(count).padStart(6, '0')}P1.host`;
    const bytes = Buffer.from(`From: Cy <cy@example.org>\nSubject: mail\n\n${text}\n`);
    return { bytes, tmp: join(folder, address, 'tmp', name), path: join(folder, address, 'new', name) };
  };
  const send = (address: string, text: string): void => {
    const { bytes, tmp, path } = createMessage(address, text);
    writeFileSync(tmp, bytes);
    renameSync(tmp, path);
  };
  return {
    addresses: ['ada', 'bo'],
    open: () => createSpoolSource({ folder, disk: { ...createRealDisk(silentLog), files }, clock, contentChars: 220 }),
    send,
    read(address) {
      for (const name of readdirSync(join(folder, address, 'new')))
        renameSync(join(folder, address, 'new', name), join(folder, address, 'cur', `${name}:2,S`));
    },
    capture: () => captureTree(folder),
    begin(address, text) {
      const { bytes, tmp, path } = createMessage(address, text);
      const write = (size: number): void => writeFileSync(tmp, bytes.subarray(0, size));
      return {
        ...{ size: bytes.length, write },
        finish() {
          write(bytes.length);
          renameSync(tmp, path);
        },
      };
    },
    fill(members) {
      for (let n = 2; n < members; n += 1)
        for (const part of ['new', 'cur']) mkdirSync(join(folder, `agent-${n}`, part), { recursive: true });
      for (let n = 25; n < members; n += 25)
        writeFileSync(createMessage(`agent-${n}`, 'mail').path, 'From: cy\n\nmail\n');
    },
    remove: () => rmSync(join(folder, 'ada'), { recursive: true }),
    faults: {
      permission: { scope: 'source', break: () => deny(folder), mend: () => deny() },
      'the folder is gone': {
        scope: 'source',
        break: () => renameSync(folder, away),
        mend: () => renameSync(away, folder),
      },
      'the folder is a file': {
        scope: 'source',
        break() {
          renameSync(folder, away);
          writeFileSync(folder, 'no directory');
        },
        mend() {
          rmSync(folder);
          renameSync(away, folder);
        },
      },
      'one Maildir cannot be listed': {
        scope: 'persona',
        break: () => deny(join(folder, 'ada', 'new')),
        mend: () => deny(),
      },
    },
    [Symbol.asyncDispose]: async () => place[Symbol.dispose](),
  };
}

describeSource('spool', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  faults: ['the folder is gone', 'the folder is a file', 'one Maildir cannot be listed'],
  cannot: { wait: 'it reads files' },
});
