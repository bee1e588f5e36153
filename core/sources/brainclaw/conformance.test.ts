import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { line } from '../../../test/kit/brainclaw-store.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type Cursor, createBrainclawSource } from './index.ts';

/** A project with a journal, and agents who have mail and no work. */
async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const place = scratch();
  const store = place.at('.brainclaw');
  const events = join(store, 'events');
  const inbox = join(store, 'coordination', 'inbox');
  const { files, deny } = createGuardedFiles();
  let saved: Cursor | null = null;
  let count = 0;
  const away = place.at('away');
  mkdirSync(events, { recursive: true });
  writeFileSync(join(store, 'config.yaml'), 'version: 1\nproject_id: prj_lab\nstorage_dir: .brainclaw\n');
  writeFileSync(join(events, 'seg-00000001.jsonl'), line(1, { item_type: 'journal', payload: { kind: 'genesis' } }));
  const addAgent = (name: string): void => void mkdirSync(join(inbox, name), { recursive: true });
  for (const name of ['ada', 'bo']) addAgent(name);

  const formatMessage = (id: string, to: string, text: string, status: string): string =>
    JSON.stringify({
      ...{ schema_version: 2, id, from: 'cy', to, type: 'info', text, requires_ack: false, status },
      created_at: '2026-06-20T10:00:00.000Z',
    });
  const put = (path: string, text: string): void => {
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  };
  const createMessage = (to: string, text: string): { readonly path: string; readonly json: string } => {
    count += 1;
    const id = `msg_${String(count).padStart(6, '0')}`;
    return { path: join(inbox, to, `${id}.json`), json: formatMessage(id, to, text, 'pending') };
  };
  const replaceByFile = (directory: string) => ({
    scope: 'source' as const,
    break() {
      renameSync(directory, away);
      writeFileSync(directory, 'no directory');
    },
    mend() {
      rmSync(directory);
      renameSync(away, directory);
    },
  });
  return {
    addresses: ['ada', 'bo'],
    open: () =>
      createBrainclawSource({
        project: { root: place.dir, store, id: 'lab' },
        ...{ disk: { ...createRealDisk(silentLog), files }, clock, log: silentLog },
        ...{ contentChars: 220, mail: true, seed: null },
        cursor: {
          load: () => saved,
          save: (cursor) => {
            saved = cursor;
          },
        },
      }),
    send(address, text) {
      const { path, json } = createMessage(address, text);
      put(path, json);
    },
    read(address) {
      for (const name of readdirSync(join(inbox, address))) {
        const path = join(inbox, address, name);
        const { id, text } = JSON.parse(readFileSync(path, 'utf8')) as Record<'id' | 'text', string>;
        put(path, formatMessage(id, address, text, 'read'));
      }
    },
    capture: () => captureTree(store),
    begin(address, text) {
      const { path, json } = createMessage(address, text);
      const bytes = Buffer.from(json);
      const write = (size: number): void => writeFileSync(path, bytes.subarray(0, size));
      return { size: bytes.length, write, finish: () => write(bytes.length) };
    },
    fill(members) {
      for (let n = 3; n < members; n += 1) addAgent(`agent-${n}`); // two are there, and so is the board
      for (let n = 25; n < members; n += 25) {
        const { path, json } = createMessage(`agent-${n}`, 'mail');
        writeFileSync(path, json);
      }
    },
    remove: () => rmSync(join(inbox, 'ada'), { recursive: true }),
    faults: {
      permission: { scope: 'source', break: () => deny(store), mend: () => deny() },
      'the inboxes cannot be listed': { scope: 'source', break: () => deny(inbox), mend: () => deny() },
      'the journal cannot be listed': { scope: 'source', break: () => deny(events), mend: () => deny() },
      'one inbox cannot be listed': { scope: 'source', break: () => deny(join(inbox, 'ada')), mend: () => deny() },
      'one message cannot be opened': {
        scope: 'persona',
        break: () => deny(join(inbox, 'ada', 'msg_000001.json')),
        mend: () => deny(),
      },
      'one message is broken': {
        scope: 'persona',
        break() {
          renameSync(join(inbox, 'ada', 'msg_000001.json'), away);
          writeFileSync(join(inbox, 'ada', 'msg_000001.json'), '{"id":');
        },
        mend: () => renameSync(away, join(inbox, 'ada', 'msg_000001.json')),
      },
      'the store is a file': replaceByFile(store),
      'the directory of all inboxes is a file': replaceByFile(inbox),
      'the store is gone': {
        scope: 'source',
        break: () => renameSync(store, away),
        mend: () => renameSync(away, store),
      },
    },
    [Symbol.asyncDispose]: async () => place[Symbol.dispose](),
  };
}

describeSource('brainclaw', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  cannot: { wait: 'it reads files' },
  faults: [
    'the inboxes cannot be listed',
    'the journal cannot be listed',
    'one inbox cannot be listed',
    'one message cannot be opened',
    'one message is broken',
    'the store is a file',
    'the directory of all inboxes is a file',
    'the store is gone',
  ],
});
