import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { garden, handAt } from '../../../test/kit/garden-store.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { drain, enqueue, upsert } from './act/index.ts';
import { createGardenSource } from './index.ts';

const never = new AbortController().signal;

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const store = garden();
  const { places } = store;
  const { files, deny } = createGuardedFiles();
  const hand = (): ReturnType<typeof handAt> => handAt({ now: new Date(clock.now()).toISOString() });
  const addCitizen = (name: string) =>
    upsert(hand(), places, { backend: 'claude-code', nativeSessionId: name, cwd: `/fields/${name}` });
  const [ada, bo] = [addCitizen('ada'), addCitizen('bo')];
  mkdirSync(places.mailbox, { recursive: true });
  const away = store.at('away');
  return {
    addresses: [ada.record.gardenId, bo.record.gardenId],
    open: () =>
      createGardenSource({
        ...{ places, disk: { ...createRealDisk(silentLog), files }, clock, log: silentLog },
        probes: { readProcesses: async () => new Map(), probeListener: async () => 'absent' },
        ...{ contentChars: 220, backfill: false },
      }),
    send: (address, text) => void enqueue(hand(), places, address, text),
    async read(address) {
      await drain(hand(), places, address, never);
    },
    capture: () => captureTree(store.store),
    begin(address, text) {
      const { stem, messagePath, signalPath } = enqueueAside(address, text);
      const bytes = Buffer.from(text);
      return {
        size: bytes.length,
        write: (size) => writeFileSync(messagePath, bytes.subarray(0, size)),
        finish() {
          writeFileSync(messagePath, bytes);
          writeFileSync(signalPath, `${stem.slice(0, 10)}T${new Date(clock.now()).toISOString().slice(11)}\n`);
        },
      };
    },
    fill(count) {
      const template = readFileSync(ada.path, 'utf8');
      for (let n = 2; n < count; n += 1) {
        const id = `20260614T100000-${n.toString(16).padStart(6, '0')}`;
        const text = template.replaceAll(ada.record.gardenId, id).replaceAll('"ada"', `"session-${n}"`);
        writeFileSync(join(places.sessions, `${id}.meta.json`), text, { mode: 0o600 });
        if (n % 25 !== 0) continue;
        const box = join(places.mailbox, id);
        mkdirSync(box, { mode: 0o700 });
        writeFileSync(join(box, '2026-06-14T01-10-00-000Z-aaaaaa.msg'), 'mail', { mode: 0o600 });
        writeFileSync(join(box, 'inbox.signal'), '2026-06-14T01:10:00.000Z\n', { mode: 0o600 });
      }
    },
    remove: () => rmSync(ada.path),
    faults: {
      permission: {
        scope: 'source',
        break: () => deny(places.sessions, places.mailbox),
        mend: () => deny(),
      },
      'the boxes cannot be entered': {
        scope: 'source',
        break: () => deny(places.mailbox),
        mend: () => deny(),
      },
      'the directory of all boxes is a file': {
        scope: 'source',
        break() {
          renameSync(places.mailbox, away);
          writeFileSync(places.mailbox, 'no directory');
        },
        mend() {
          rmSync(places.mailbox);
          renameSync(away, places.mailbox);
        },
      },
      'one box cannot be entered': {
        scope: 'persona',
        break: () => deny(join(places.mailbox, ada.record.gardenId)),
        mend: () => deny(),
      },
      'one record is broken': {
        scope: 'persona',
        break() {
          renameSync(ada.path, away);
          writeFileSync(ada.path, readFileSync(away, 'utf8').slice(0, 40), { mode: 0o600 });
        },
        mend: () => renameSync(away, ada.path),
      },
    },
    [Symbol.asyncDispose]: async () => store[Symbol.dispose](),
  };

  /** What a sender writes first: the box and the names, and no body yet. */
  function enqueueAside(address: string, text: string) {
    const sent = enqueue(hand(), places, address, text);
    rmSync(sent.messagePath);
    rmSync(sent.signalPath);
    return sent;
  }
}

describeSource('garden', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  cannot: { wait: 'it reads files' },
  faults: [
    'the boxes cannot be entered',
    'the directory of all boxes is a file',
    'one box cannot be entered',
    'one record is broken',
  ],
});
