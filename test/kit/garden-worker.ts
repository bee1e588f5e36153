import { existsSync } from 'node:fs';
import { type Files, O, realClock } from '../../core/ports/index.ts';
import { computeGardenPlaces, drain, enqueue, upsert, type WriteContext } from '../../core/sources/garden/index.ts';
import { doorbell, handAt } from './garden-store.ts';

/** What one process does to a store: `WHAT STORE ID ...`; each line on stdout is one thing it did. */
const [act = '', store = '', id = '', more = ''] = process.argv.slice(2);
const places = computeGardenPlaces({ store, env: {}, home: store, cwd: store });
const signal = new AbortController().signal;

/** Calls that change something are counted, and before the one numbered `last` the process kills itself. */
function killedAt(files: Files, last: number): Files {
  let count = 0;
  const step = (): void => {
    if (count === last) process.kill(process.pid, 'SIGKILL');
    count += 1;
  };
  const before = <A extends unknown[], R>(call: (...given: A) => R): ((...given: A) => R) => {
    return (...given) => {
      step();
      return call(...given);
    };
  };
  return {
    ...files,
    open: (path, flags, mode) => {
      if ((flags & (O.WRONLY | O.RDWR)) !== 0) step();
      return files.open(path, flags, mode);
    },
    write: before(files.write),
    ftruncate: before(files.ftruncate),
    fsync: before(files.fsync),
    rename: before(files.rename),
    link: before(files.link),
    unlink: before(files.unlink),
    mkdirAll: before(files.mkdirAll),
  };
}

const hand = handAt({ sleep: realClock.sleep });
const dying = (): WriteContext => ({ ...hand, disk: { ...hand.disk, files: killedAt(hand.disk.files, Number(more)) } });

switch (act) {
  case 'enqueue':
    enqueue(dying(), places, id, createBody());
    break;
  case 'drain-once':
    console.log(JSON.stringify(await drain(dying(), places, id, signal)));
    break;
  case 'upsert':
    upsert(dying(), places, { backend: 'claude-code', nativeSessionId: id, cwd: '/c' });
    break;
  case 'drain':
    for (let isLast = false; ; ) {
      const { messages, left } = await drain(hand, places, id, signal);
      for (const { stem, body } of messages) console.log(JSON.stringify([stem, body]));
      if (isLast && messages.length === 0 && left.length === 0) break;
      isLast = existsSync(more);
      await realClock.sleep(1, signal);
    }
    break;
  case 'doorbell':
    while (!existsSync(more)) {
      if (doorbell(places, id).exit === 2) console.log('rang');
      await realClock.sleep(1, signal);
    }
    break;
  default:
    throw new Error(`nobody does ${act}`);
}

function createBody(): string {
  return `whole ${'x'.repeat(5000)} body\n`;
}
