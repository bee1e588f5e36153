import assert from 'node:assert/strict';
import type { NewItem } from '../../core/inbox/item.ts';
import type { QueueMachine } from '../../core/inbox/queue/index.ts';
import { Fault } from '../../core/model/index.ts';
import { type Files, realRandom, silentLog } from '../../core/ports/index.ts';
import type { Disk, LockWay } from '../../core/state/index.ts';
import { type FakeFiles, fakeFiles, UID } from './fake-files.ts';

/** The clock of tests that wait for nothing. */
export const stillClock = {
  now: () => 1_700_000_000_000,
  monotonic: () => 0,
  sleep: async () => {},
  after: () => ({ [Symbol.dispose]: () => {} }),
};

export const always: LockWay = (fd) => ({ is: 'got', by: fd });

export interface FakeMachine extends QueueMachine {
  readonly files: FakeFiles;
  readonly warnings: string[];
}

/** A machine whose disk is in memory. */
export function fakeMachine(over: (files: FakeFiles) => Files = (files) => files): FakeMachine {
  const files = fakeFiles();
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
  const disk: Disk = { files: over(files), log, uid: UID };
  return { disk, files, warnings, clock: stillClock, random: realRandom, ways: [always] };
}

/** A store that has what the real one has: a key is taken once, and all of a call or nothing. */
export interface FakeStore {
  readonly contents: readonly string[];
  readonly items: readonly NewItem[];
  insert(items: readonly NewItem[]): void;
}

export function fakeStore(refuses: (item: NewItem) => boolean = () => false): FakeStore {
  const saved = new Map<string, NewItem>();
  return {
    get items() {
      return [...saved.values()];
    },
    get contents() {
      return [...saved.values()].map(({ content }) => content);
    },
    insert(items) {
      if (items.some(refuses)) throw new Fault('usage', 'refused by the store', { is: 'machine', key: 'usage' });
      for (const item of items) {
        assert.ok(item.dedupKey);
        if (!saved.has(item.dedupKey)) saved.set(item.dedupKey, item);
      }
    },
  };
}

export function lines(...contents: readonly string[]): string {
  return contents.map((content) => `${JSON.stringify({ type: 'event', content })}\n`).join('');
}
