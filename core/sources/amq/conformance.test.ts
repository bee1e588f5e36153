import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createAmqSource } from './source.ts';

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const place = scratch();
  const queue = place.at('queue');
  const away = place.at('away');
  const { files, deny } = createGuardedFiles();
  const inbox = (handle: string, ...parts: readonly string[]): string =>
    join(queue, 'agents', handle, 'inbox', ...parts);
  const addAgent = (handle: string): void => {
    for (const part of ['tmp', 'new', 'cur']) mkdirSync(inbox(handle, part), { recursive: true });
  };
  for (const handle of ['ada', 'bo']) addAgent(handle);
  let count = 0;
  const createMessage = (handle: string, text: string) => {
    count += 1;
    const id = `2026-08-22T10-00-00.000Z_pid100_${count.toString(16).padStart(8, '0')}`;
    const header = { schema: 1, id, from: 'cy', to: [handle], thread: 't', created: '2026-08-22T10:00:00Z' };
    const bytes = Buffer.from(`---json\n${JSON.stringify(header, null, 2)}\n---\n${text}\n`);
    return { bytes, tmp: inbox(handle, 'tmp', `${id}.md`), path: inbox(handle, 'new', `${id}.md`) };
  };
  const send = (handle: string, text: string): void => {
    const { bytes, tmp, path } = createMessage(handle, text);
    writeFileSync(tmp, bytes);
    renameSync(tmp, path);
  };
  return {
    addresses: ['ada', 'bo'],
    open: () => {
      const disk = { ...createRealDisk(silentLog), files };
      return createAmqSource({ id: 'amq', queue, suffix: '', disk, clock, log: silentLog, contentChars: 220 });
    },
    send,
    read(handle) {
      for (const name of readdirSync(inbox(handle, 'new')))
        renameSync(inbox(handle, 'new', name), inbox(handle, 'cur', name));
    },
    capture: () => captureTree(queue),
    begin(handle, text) {
      const { bytes, tmp, path } = createMessage(handle, text);
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
      // The mailbox of the person counts as there without a folder.
      for (let n = 3; n < members; n += 1)
        for (const part of ['new', 'cur']) mkdirSync(inbox(`agent-${n}`, part), { recursive: true });
      for (let n = 25; n < members; n += 25) {
        const { path, bytes } = createMessage(`agent-${n}`, 'mail');
        writeFileSync(path, bytes);
      }
    },
    remove: () => rmSync(join(queue, 'agents', 'ada'), { recursive: true }),
    faults: {
      permission: { scope: 'source', break: () => deny(queue), mend: () => deny() },
      'the agents cannot be listed': { scope: 'source', break: () => deny(join(queue, 'agents')), mend: () => deny() },
      'the queue is gone': {
        scope: 'source',
        break: () => renameSync(queue, away),
        mend: () => renameSync(away, queue),
      },
      'the folder of all agents is a file': {
        scope: 'source',
        break() {
          renameSync(join(queue, 'agents'), away);
          writeFileSync(join(queue, 'agents'), 'no folder');
        },
        mend() {
          rmSync(join(queue, 'agents'));
          renameSync(away, join(queue, 'agents'));
        },
      },
      'one inbox cannot be listed': {
        scope: 'persona',
        break: () => deny(inbox('ada', 'new')),
        mend: () => deny(),
      },
    },
    [Symbol.asyncDispose]: async () => place[Symbol.dispose](),
  };
}

describeSource('amq', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  cannot: { wait: 'it reads files' },
  faults: [
    'the agents cannot be listed',
    'the queue is gone',
    'the folder of all agents is a file',
    'one inbox cannot be listed',
  ],
});
