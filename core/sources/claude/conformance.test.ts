import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSource } from '../../../test/conformance/source.ts';
import type { JumpingClock, SourceWorld } from '../../../test/conformance/source-rig.ts';
import { captureTree, createGuardedFiles } from '../../../test/conformance/source-store.ts';
import { claudeStore } from '../../../test/kit/claude-store.ts';
import { silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { createClaudeSource } from './source.ts';

async function createWorld(clock: JumpingClock): Promise<SourceWorld> {
  const store = claudeStore();
  const { root } = store;
  const { files, deny } = createGuardedFiles();
  store.addSession('aaaaaaaa', { status: 'idle' });
  store.addTeam('aaaaaaaa', ['ada', 'bo']);
  const [ada, bo] = ['aaaaaaaa-ada', 'aaaaaaaa-bo'] as const;
  const inboxes = join(root, 'teams', 'session-aaaaaaaa', 'inboxes');
  const away = store.at('away');
  const toName = (address: string): string => address.slice('aaaaaaaa-'.length);
  let sent = 0;
  const message = (text: string): object => {
    sent += 1;
    const timestamp = new Date(clock.now()).toISOString();
    return {
      from: 'team-lead',
      text,
      timestamp,
      msgV: 1,
      msg_id: `00000000-0000-4000-8000-${String(sent).padStart(12, '0')}`,
      read: false,
    };
  };
  return {
    addresses: [ada, bo],
    open: () =>
      createClaudeSource({
        ...{ directories: [root], disk: { ...createRealDisk(silentLog), files }, clock, log: silentLog },
        ...{ readProcess: store.readProcess, contentChars: 220 },
      }),
    send: (address, text) => store.deliver('aaaaaaaa', toName(address), message(text)),
    read: (address) => store.take('aaaaaaaa', toName(address)),
    capture: () => captureTree(root),
    begin(address, text) {
      const path = join(inboxes, `${toName(address)}.json`);
      const before = JSON.parse(readFileSync(path, 'utf8')) as object[];
      const bytes = Buffer.from(JSON.stringify([...before, message(text)]));
      return {
        size: bytes.length,
        write: (size) => writeFileSync(path, bytes.subarray(0, size)),
        finish: () => writeFileSync(path, bytes),
      };
    },
    fill(count) {
      for (let n = 3; n < count; n += 1) {
        const id = n.toString(16).padStart(8, '0');
        store.addSession(id, { status: 'idle' });
        if (n % 25 !== 0) continue;
        store.addTeam(id, []);
        store.deliver(id, 'team-lead', message('mail'));
      }
    },
    remove() {
      store.setMembers('aaaaaaaa', ['bo']);
      rmSync(join(inboxes, 'ada.json'));
    },
    faults: {
      permission: {
        scope: 'source',
        break: () => deny(join(root, 'sessions'), join(root, 'teams')),
        mend: () => deny(),
      },
      'the directory of teams is a file': {
        scope: 'source',
        break() {
          renameSync(join(root, 'teams'), away);
          writeFileSync(join(root, 'teams'), 'no directory');
        },
        mend() {
          rmSync(join(root, 'teams'));
          renameSync(away, join(root, 'teams'));
        },
      },
      'one inbox cannot be read': {
        scope: 'persona',
        break: () => deny(join(inboxes, 'ada.json')),
        mend: () => deny(),
      },
      'one inbox is broken': {
        scope: 'persona',
        break() {
          renameSync(join(inboxes, 'ada.json'), away);
          writeFileSync(join(inboxes, 'ada.json'), readFileSync(away, 'utf8').slice(0, 40));
        },
        mend: () => renameSync(away, join(inboxes, 'ada.json')),
      },
    },
    [Symbol.asyncDispose]: async () => store[Symbol.dispose](),
  };
}

describeSource('claude', {
  ...{ evidence: 'set', members: 5000, wakes: 'hints', createWorld },
  cannot: { wait: 'it reads files' },
  faults: ['the directory of teams is a file', 'one inbox cannot be read', 'one inbox is broken'],
});
