import { realClock, silentLog } from '../../core/ports/index.ts';
import type { ReadProcess } from '../../core/sources/claude/read/index.ts';
import { readProcess } from '../../core/sources/claude/read/index.ts';
import { createClaudeSource } from '../../core/sources/claude/source.ts';
import type { Source } from '../../core/sources/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { createDelivered, type SinkRecord, watchPersona } from '../conformance/watch-source.ts';

/** What was delivered, and when on the monotonic clock. */
export interface DeliveredEvent {
  readonly address: string;
  readonly event: string;
  readonly content: unknown;
  readonly at: number;
}

/** A process that watches a config directory of Claude Code as the tray process does: it polls when it is woken. */
export interface ClaudeWatcher extends AsyncDisposable {
  readonly events: readonly DeliveredEvent[];
  /** How long each poll took, in milliseconds. */
  readonly pollMs: readonly number[];
  readonly addresses: readonly string[];
}

export async function watchClaude(root: string, processes: ReadProcess = readProcess): Promise<ClaudeWatcher> {
  const source = createClaudeSource({
    ...{ directories: [root], disk: createRealDisk(silentLog), clock: realClock, log: silentLog },
    ...{ readProcess: processes, contentChars: 220 },
  });
  const never = new AbortController().signal;
  const events: DeliveredEvent[] = [];
  const pollMs: number[] = [];
  const watched = new Map<string, { poll(): Promise<void>; busy: Promise<void>; isDue: boolean }>();
  const timed: Source = {
    ...source,
    poll(...request) {
      const start = performance.now();
      const result = source.poll(...request);
      pollMs.push(performance.now() - start);
      return result;
    },
  };
  const watch = (address: string) => {
    const known = watched.get(address);
    if (known !== undefined) return known;
    const delivered: SinkRecord = createDelivered();
    const watcher = watchPersona(timed, source.named(address), realClock, delivered);
    let count = 0;
    const entry = {
      busy: Promise.resolve(),
      isDue: false,
      async poll() {
        entry.isDue = false;
        await watcher.poll();
        for (const event of delivered.events.slice(count))
          if ('id' in event)
            events.push({
              address,
              event: event.event,
              content: 'content' in event ? event.content : null,
              at: performance.now(),
            });
        count = delivered.events.length;
      },
    };
    watched.set(address, entry);
    return entry;
  };
  const wake = (address: string): void => {
    const entry = watch(address);
    if (entry.isDue) return;
    entry.isDue = true;
    entry.busy = entry.busy.then(entry.poll);
  };
  for (const { address } of await source.personas(never)) wake(address);
  const hints = source.hints?.(wake);
  return {
    events,
    pollMs,
    get addresses() {
      return [...watched.keys()];
    },
    async [Symbol.asyncDispose]() {
      hints?.[Symbol.dispose]();
      await Promise.all([...watched.values()].map(({ busy }) => busy));
      await source[Symbol.asyncDispose]();
    },
  };
}

if (import.meta.main) {
  const [root = ''] = process.argv.slice(2);
  const watcher = await watchClaude(root);
  console.log('ready');
  process.stdin.resume().once('end', async () => {
    console.log(JSON.stringify(watcher.events));
    await watcher[Symbol.asyncDispose]();
  });
}
